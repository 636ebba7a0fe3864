import { createCompany, NewCompanyForm } from '@vigia/contract/companies'
import { clsx } from 'clsx'
import { FileKey2, LoaderCircle, LockKeyhole, Upload } from 'lucide-react'
import { type DragEvent, type FormEvent, useEffect, useId, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { useContact } from '../lib/contact.ts'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { productName } from '../lib/product.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { PasswordInput } from '../ui/password-input.tsx'

// Section 9: the wait is for the person, who sees that the file was taken before the next question comes.
const processingMs = 1500

export function NewCompanyPage() {
  const navigate = useNavigate()
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

  const choose = (chosen: File | undefined) => {
    if (!chosen) return
    const problem = NewCompanyForm.shape.Certificado.safeParse(chosen).error?.issues[0]?.message
    setFileError(problem)
    setPasswordError(undefined)
    setPassword('')
    setFile(problem ? undefined : chosen)
    setProcessing(!problem)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const form = NewCompanyForm.safeParse({ Certificado: file, Senha: password, Cnpj: branch })
    const problem = form.error?.issues[0]
    const ofBranch = problem?.path[0] === 'Cnpj'
    setBranchError(ofBranch ? problem.message : undefined)
    setPasswordError(ofBranch ? undefined : problem?.message)
    if (!form.success) return
    const onSuccess = () => {
      dismissNotifications()
      notifySuccess('Empresa cadastrada com sucesso!', { description: 'A primeira captura já começou.' })
      void navigate('/empresas')
    }
    action.mutate({ form: form.data }, { onSuccess })
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
        <form className="grid content-start gap-5" onSubmit={submit} noValidate>
          <CertificateFile file={file} error={fileError} disabled={action.isPending} onChoose={choose} />
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
                  disabled={action.isPending}
                  onChange={(event) => {
                    setPassword(event.target.value)
                    setPasswordError(undefined)
                  }}
                />
              )}
            </Field>
          )}
          {/* Together: without a button, Enter in the password sends a form of a single field only. */}
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
        <Facts />
      </div>
    </Page>
  )
}

// The certificate is fine; it is the plan that has no place for another company.
function isPlanLimit(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 402
}

function PlanLimit({ message }: { message: string }) {
  const contact = useContact()
  return (
    <Notice tone="warning" title="A empresa não foi cadastrada">
      {message}{' '}
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
      label="CNPJ da filial"
      help="Só quando o certificado é da matriz e você quer cadastrar uma filial."
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

interface CertificateFileProps {
  file: File | undefined
  error: string | undefined
  disabled: boolean
  onChoose: (file: File | undefined) => void
}

function CertificateFile({ file, error, disabled, onChoose }: CertificateFileProps) {
  const id = useId()
  const [over, setOver] = useState(false)
  const drag = (inside: boolean) => (event: DragEvent) => {
    event.preventDefault()
    setOver(inside)
  }
  return (
    <div className="grid gap-1.5">
      <label
        htmlFor={id}
        onDragOver={drag(true)}
        onDragLeave={drag(false)}
        onDrop={(event) => {
          drag(false)(event)
          if (!disabled) onChoose(event.dataTransfer.files[0])
        }}
        className={clsx(
          'flex items-center gap-4 rounded border border-dashed px-5 py-5 transition-colors duration-150 has-focus-visible:outline-2 has-focus-visible:outline-brand has-focus-visible:outline-offset-2',
          over
            ? 'border-brand bg-brand-soft'
            : error
              ? 'border-error bg-surface'
              : 'border-line-strong bg-surface hover:border-ink',
        )}
      >
        {file ? (
          <FileKey2 aria-hidden className="size-7 shrink-0 text-brand" strokeWidth={1.5} />
        ) : (
          <Upload aria-hidden className="size-7 shrink-0 text-muted" strokeWidth={1.5} />
        )}
        <span className="min-w-0 flex-1">
          <span className="block truncate font-semibold text-lg">{file ? file.name : 'Certificado digital'}</span>
          <span className="text-muted">
            {file ? 'Clique para trocar o arquivo' : 'Arraste o arquivo .pfx ou .p12 para cá ou clique para escolher'}
          </span>
        </span>
        <input
          id={id}
          type="file"
          accept=".pfx,.p12,application/x-pkcs12"
          disabled={disabled}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          className="sr-only"
          onChange={(event) => {
            onChoose(event.target.files?.[0])
            // The same file may be chosen again after a mistake.
            event.target.value = ''
          }}
        />
      </label>
      {error && (
        <p id={`${id}-error`} role="alert" className="text-error text-sm">
          {error}
        </p>
      )}
    </div>
  )
}

function Facts() {
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
