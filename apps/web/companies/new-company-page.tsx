import { createCompany } from '@vigia/contract/companies'
import { NewCompanyForm } from '@vigia/contract/forms'
import { LoaderCircle, LockKeyhole } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { useContact } from '../lib/contact.ts'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { useGone } from '../ui/hooks/gone.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { sortFiles } from './batch-files.ts'
import { BatchResult, RecentBatches } from './batch-result.tsx'
import { CertificateFile } from './certificate-file.tsx'
import { type Chosen, SeveralCertificates } from './several-certificates.tsx'
import { TestCertificate } from './test-certificate.tsx'

// Section 9: the delay shows that the file was accepted before the next question appears.
const processingMs = 1500

export function NewCompanyPage() {
  const [params, setParams] = useSearchParams()
  const { state } = useLocation()
  const [chosen, setChosen] = useState<Chosen | undefined>(() => droppedFiles(state))
  const batchId = params.get('lote')
  const again = (names: ReadonlySet<string>) => {
    setParams({})
    setChosen((before) => before && { ...before, files: before.files.filter(({ name }) => names.has(name)) })
  }
  const backToOne = () => {
    setParams({})
    setChosen(undefined)
  }
  return (
    <Page
      title="Nova Empresa"
      site={productName}
      subtitle="O nome e o CNPJ vêm do certificado digital A1 (e-CNPJ); não há mais nada a preencher."
      action={
        <Link to="/empresas" className={buttonClass({ variant: 'outline' })}>
          Voltar
        </Link>
      }
    >
      <div className="ledger grid gap-x-14 gap-y-8 pt-6 lg:grid-cols-[minmax(0,34rem)_minmax(0,24rem)]">
        {batchId !== null ? (
          <BatchResult key={batchId} id={batchId} onAgain={chosen && again} onClose={backToOne} />
        ) : chosen ? (
          <SeveralCertificates
            chosen={chosen}
            onSent={(id, list) => {
              setChosen({ files: sortFiles(chosen.files).certificates, list })
              setParams({ lote: id })
            }}
            onCancel={backToOne}
          />
        ) : (
          <OneCertificate onSeveral={(files) => setChosen({ files })} />
        )}
        <div className="grid content-start gap-5">
          <CompanyFacts />
          {batchId === null && <RecentBatches />}
        </div>
      </div>
    </Page>
  )
}

// Files that were dropped on the list of companies.
function droppedFiles(state: unknown): Chosen | undefined {
  const files = (state as { files?: unknown } | null)?.files
  return Array.isArray(files) ? { files } : undefined
}

function OneCertificate({ onSeveral }: { onSeveral: (files: File[]) => void }) {
  const navigate = useNavigate()
  const isGone = useGone()
  const [file, setFile] = useState<File>()
  const [fileError, setFileError] = useState<string>()
  const [processing, setProcessing] = useState(false)
  const [password, setPassword] = useState('')
  const [passwordError, setPasswordError] = useState<string>()
  const [branch, setBranch] = useState('')
  const [branchError, setBranchError] = useState<string>()
  const action = useAction(createCompany, {
    errorToast: (error) => !isPlanLimit(error),
    onError: (error) => setPasswordError(isPlanLimit(error) ? undefined : actionMessage(error)),
  })

  useEffect(() => {
    if (!file) return
    const timer = setTimeout(() => setProcessing(false), processingMs)
    return () => clearTimeout(timer)
  }, [file])

  const choose = (files: File[], knownPassword = '') => {
    if (files.length > 1) return onSeveral(files)
    const problem = NewCompanyForm.shape.Certificado.safeParse(files[0]).error?.issues[0]?.message
    action.reset()
    setFileError(problem)
    setPasswordError(undefined)
    setPassword(knownPassword)
    setFile(problem ? undefined : files[0])
    setProcessing(!problem)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const form = NewCompanyForm.safeParse({ Certificado: file, Senha: password, Cnpj: branch.trim() || undefined })
    const problem = form.error?.issues[0]
    const ofBranch = problem?.path[0] === 'Cnpj'
    setBranchError(ofBranch ? problem.message : undefined)
    setPasswordError(ofBranch ? undefined : problem?.message)
    if (!form.success) return
    const onSuccess = ({ data }: { data: { idEmpresa?: string } | null }) => {
      if (!isGone()) dismissNotifications()
      notifySuccess('Empresa cadastrada com sucesso!')
      if (isGone()) return
      void navigate(data?.idEmpresa ? `/empresas/editar/${data.idEmpresa}` : '/empresas', { state: { created: true } })
    }
    action.mutate({ form: form.data }, { onSuccess })
  }
  return (
    <div className="grid content-start gap-6">
      <form className="grid content-start gap-5" onSubmit={submit} noValidate>
        <CertificateFile
          title="Certificado digital"
          multiple
          file={file}
          error={fileError}
          disabled={action.isPending}
          onChoose={choose}
        />
        {file && processing && (
          <p role="status" className="flex items-center gap-2 text-muted">
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
            Processando certificado digital...
          </p>
        )}
        {file && !processing && (
          <Field
            label="Senha do certificado"
            help="A senha usada quando o arquivo foi exportado."
            error={passwordError}
          >
            {(control) => (
              <PasswordInput
                {...control}
                value={password}
                autoComplete="off"
                autoFocus
                readOnly={action.isPending}
                onChange={(event) => {
                  setPassword(event.target.value)
                  setPasswordError(undefined)
                }}
              />
            )}
          </Field>
        )}
        {/* Both appear together: without a submit button, Enter submits a form only when it has a single field. */}
        {file && !processing && password && (
          <>
            <BranchField
              value={branch}
              error={branchError}
              disabled={action.isPending}
              onChange={(text) => {
                setBranch(text)
                setBranchError(undefined)
              }}
            />
            {isPlanLimit(action.error) && <PlanLimit message={actionMessage(action.error)} />}
            <Button type="submit" size="lg" busy={action.isPending} className="justify-self-start">
              {action.isPending ? 'Salvando...' : 'Salvar Empresa'}
            </Button>
          </>
        )}
      </form>
      <TestCertificate disabled={action.isPending} onUse={(chosen, known) => choose([chosen], known)} />
    </div>
  )
}

// The certificate is fine; the plan does not allow another company.
function isPlanLimit(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 402
}

function PlanLimit({ message }: { message: string }) {
  const contact = useContact()
  return (
    <Notice tone="warning" title="A empresa não foi cadastrada">
      {message}{' '}
      <Link to="/conta#plano" className="rounded-control font-semibold text-brand underline underline-offset-3">
        Mudar de plano
      </Link>{' '}
      ou{' '}
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={contact.show}
        className="rounded-control font-semibold text-brand underline underline-offset-3"
      >
        Fale com a Gente
      </button>
    </Notice>
  )
}

interface BranchFieldProps {
  value: string
  error: string | undefined
  disabled: boolean
  onChange: (text: string) => void
}

function BranchField({ value, error, disabled, onChange }: BranchFieldProps) {
  return (
    <Field
      label="CNPJ da empresa"
      help="Só quando o certificado é da matriz e você quer cadastrar uma filial, ou o arquivo traz mais de uma empresa."
      error={error}
    >
      {(control) => (
        <Input
          {...control}
          value={value}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={20}
          disabled={disabled}
          className="max-w-64"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

function CompanyFacts() {
  const facts = [
    [
      'O que acontece depois',
      'A SEFAZ começa a ser consultada na hora. A primeira captura pode trazer até cerca de três meses de documentos, ou nada, se o CNPJ ainda não usava o serviço. Você pode fechar esta página.',
    ],
    [
      'O que a SEFAZ não entrega',
      'As NF-e que a própria empresa emitiu e as NFC-e. O que passou de três meses também já saiu de lá.',
    ],
    ['Um certificado, todas as filiais', 'O e-CNPJ da matriz serve para qualquer filial com a mesma raiz de CNPJ.'],
    [
      'Outras contas com o mesmo CNPJ',
      'Se outra empresa (o contador, por exemplo) também usa o Vigia com este CNPJ e enviou um certificado, uma consulta atende às duas, com o certificado de uma delas. Uma não vê a outra. Para não participar, remova o certificado: ele deixa de ser usado na hora.',
    ],
    [
      'Muitas empresas',
      'Escolha todos os arquivos de uma vez, com uma planilha CSV das senhas se quiser: o certificado de uma empresa já cadastrada é renovado; os demais cadastram a empresa. O servidor faz o resto sozinho.',
    ],
  ]
  return (
    <div className="grid content-start gap-5">
      {facts.map(([title, text]) => (
        <div key={title}>
          <h2 className="text-base">{title}</h2>
          <p className="mt-0.5 text-muted">{text}</p>
        </div>
      ))}
      <p className="flex gap-2.5 border-line border-t pt-4 text-muted">
        <LockKeyhole aria-hidden className="mt-0.5 size-4 shrink-0" />O certificado é guardado cifrado, serve só para
        falar com a SEFAZ e nunca é oferecido para download. A senha não é mostrada de novo.
      </p>
    </div>
  )
}
