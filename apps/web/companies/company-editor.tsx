import { type CompanyDetail, getCompany, updateCompany } from '@vigia/contract/companies'
import { EditCompanyForm } from '@vigia/contract/forms'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { ufs } from '@vigia/dfe/uf'
import { clsx } from 'clsx'
import { type ReactNode, useId, useState } from 'react'
import { type Control, useController, useForm } from 'react-hook-form'
import { Link } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { actionMessage, read, useAction } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Select } from '../ui/form/select.tsx'
import { Switch } from '../ui/form/switch.tsx'
import { useNamedSection } from '../ui/hooks/named-section.ts'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { AutomaticCiencia } from './automatic-ciencia.tsx'
import { CertificateCard } from './certificate-card.tsx'
import { CertificateFile } from './certificate-file.tsx'
import {
  type CompanyFields,
  changedNames,
  companyResolver,
  cteRoles,
  nfeRoles,
  takeAsSaved,
  toFields,
  toUpdate,
} from './company-form.ts'
import { decided, useUnsaved } from './unsaved.ts'
import { certificateSection, validityOf } from './work-list.ts'

interface CompanyEditorProps {
  companyId: string
  company: CompanyDetail
  /** Target of 'Cancelar'. */
  back: string
  now: Date
}

export function CompanyEditor({ companyId, company, back, now }: CompanyEditorProps) {
  const form = useForm<CompanyFields>({
    resolver: companyResolver,
    values: toFields(company),
    // Shows changes by other people, except in fields that are being edited.
    resetOptions: { keepDirtyValues: true, keepErrors: true },
  })
  const { control, register, formState, setError } = form
  const { errors, isDirty, dirtyFields } = formState
  // Also shown when the person left the page before the response came.
  const action = useAction(updateCompany, {
    onScreen: true,
    onSuccess: () => notifySuccess('Empresa atualizada com sucesso!'),
  })
  const mayManage = useMay('administrador')
  const mayChange = useMay('fiscal')
  const unsaved = useUnsaved(isDirty, action.isPending)
  useNamedSection(true)
  const submit = form.handleSubmit((fields) => {
    // Read before the first await, because later typing does not belong to this save.
    const changed = changedNames(fields, dirtyFields)
    dismissNotifications()
    action.mutate(
      async () => {
        const fresh = await read(getCompany, { query: { id: companyId } })
        return { form: toUpdate(fields, changed, fresh, companyId) }
      },
      {
        onSuccess: () => takeAsSaved(form, fields, changed),
        onError: (error) => {
          // Only a refusal can be about the certificate, not a failure of the network.
          const refused = error instanceof ApiError && [400, 409].includes(error.status)
          if (fields.CertificadoDigital.Certificado && refused)
            setError('CertificadoDigital.Senha', { message: actionMessage(error) }, { shouldFocus: true })
        },
      },
    )
  })
  return (
    <form noValidate onSubmit={submit} className="grid gap-8 [&_:is(a,button,input,select)]:scroll-mb-24">
      <div className="grid gap-x-12 gap-y-8 @min-[860px]:grid-cols-[minmax(0,1fr)_21rem]">
        <EditorSection title="Informações Básicas">
          <div className="grid gap-4 @min-[560px]:grid-cols-2">
            <Field label="Razão Social" required error={errors.RazaoSocial?.message}>
              {(field) => <Input {...field} {...register('RazaoSocial')} autoComplete="off" maxLength={200} />}
            </Field>
            <Field label="CNPJ" help="Vem do certificado e não muda.">
              {(field) => (
                <Input {...field} readOnly value={formatCnpj(company.cnpj)} className="bg-sunken! tabular-nums" />
              )}
            </Field>
            <Field label="Email" error={errors.Email?.message}>
              {(field) => <Input {...field} {...register('Email')} type="email" autoComplete="off" maxLength={254} />}
            </Field>
            <Field label="UF" error={errors.Uf?.message}>
              {(field) => (
                <Select {...field} {...register('Uf')}>
                  {states.map(({ code, uf, name }) => (
                    <option key={code} value={code}>{`${uf} · ${name}`}</option>
                  ))}
                </Select>
              )}
            </Field>
          </div>
          <SwitchField
            control={control}
            name="SincronizacaoAutomatica"
            label="Sincronização Automática"
            help="Ligada, a SEFAZ é consultada a cada hora. Desligada, só quando você pedir: ela guarda cada documento por três meses apenas e, depois de 60 dias sem consulta, os novos deixam de chegar."
          />
        </EditorSection>
        <EditorSection name={certificateSection} title="Certificado Digital" className="@min-[860px]:row-span-3">
          <CertificateCard companyId={companyId} company={company} now={now} />
          {mayManage ? (
            <NewCertificate control={control} replaces={validityOf(company) !== null} busy={action.isPending} />
          ) : (
            <p className="text-muted text-sm">Certificados são enviados por quem administra o workspace.</p>
          )}
        </EditorSection>
        <EditorSection title="Configurações NFe">
          <AutomaticCiencia control={control} companyId={companyId} company={company} />
          <Roles control={control} group="ConfiguracoesNfe" roles={nfeRoles} what="as NF-e" />
          <LastQuery nsu={company.configuracaoNFe.ultimoNsu} message={company.configuracaoNFe.mensagemSincronizacao} />
        </EditorSection>
        <EditorSection title="Configurações CTe">
          <Roles control={control} group="ConfiguracoesCte" roles={cteRoles} what="os CT-e" />
          <LastQuery nsu={company.configuracaoCTe.ultimoNsu} message={company.configuracaoCTe.mensagemSincronizacao} />
        </EditorSection>
      </div>
      <div
        className={clsx('-mx-1 grid gap-3 border-line border-t bg-paper px-1 py-3', isDirty && 'sticky bottom-0 z-10')}
      >
        {action.error && (
          <Notice tone="error" title="Nada foi alterado">
            {actionMessage(action.error)}
          </Notice>
        )}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <p aria-live="polite" className="mr-auto text-muted max-sm:not-empty:basis-full">
            {mayChange
              ? isDirty && 'Há alterações que não foram salvas.'
              : 'O seu acesso é só de leitura: quem muda a empresa tem o papel de fiscal ou administra.'}
          </p>
          <Link to={back} {...decided} className={buttonClass({ variant: 'outline' })}>
            Cancelar
          </Link>
          {mayChange && (
            <Button type="submit" busy={action.isPending}>
              {action.isPending ? 'Salvando...' : 'Salvar Alterações'}
            </Button>
          )}
        </div>
      </div>
      <ConfirmDialog
        open={unsaved.wanted !== null}
        title="Sair sem salvar?"
        confirm="Sair sem salvar"
        cancel="Continuar editando"
        danger
        onConfirm={unsaved.leave}
        onCancel={unsaved.stay}
      >
        <p>As alterações desta página ainda não foram salvas e se perdem se você sair.</p>
      </ConfirmDialog>
    </form>
  )
}

const states = ufs.toSorted((one, other) => one.uf.localeCompare(other.uf))

interface EditorSectionProps {
  /** In the address. */
  name?: string
  title: string
  className?: string
  children: ReactNode
}

function EditorSection({ name, title, className, children }: EditorSectionProps) {
  const id = useId()
  return (
    <section
      id={name}
      aria-labelledby={id}
      className={`ledger grid scroll-mt-14 content-start gap-4 pt-4 ${className ?? ''}`}
    >
      <h2 id={id} tabIndex={-1} className="text-lg outline-none">
        {title}
      </h2>
      {children}
    </section>
  )
}

type SwitchName =
  | 'SincronizacaoAutomatica'
  | `ConfiguracoesNfe.${(typeof nfeRoles)[number][0]}`
  | `ConfiguracoesCte.${(typeof cteRoles)[number][0]}`

interface SwitchFieldProps {
  control: Control<CompanyFields>
  name: SwitchName
  label: string
  help: string
}

function SwitchField({ control, name, label, help }: SwitchFieldProps) {
  const { field } = useController({ control, name })
  return <Switch ref={field.ref} label={label} help={help} checked={field.value} onChange={field.onChange} />
}

const roleLabels: Partial<Record<string, string>> = { Destinatario: 'Destinatário' }

interface RolesProps<Group extends 'ConfiguracoesNfe' | 'ConfiguracoesCte'> {
  control: Control<CompanyFields>
  group: Group
  roles: Group extends 'ConfiguracoesNfe' ? typeof nfeRoles : typeof cteRoles
  what: string
}

function Roles<Group extends 'ConfiguracoesNfe' | 'ConfiguracoesCte'>({
  control,
  group,
  roles,
  what,
}: RolesProps<Group>) {
  return (
    <fieldset>
      {/* A floating legend has normal layout; otherwise Chromium misplaces the next line. */}
      <legend className="float-left w-full font-semibold">Mostrar {what} em que a empresa é</legend>
      <p className="clear-left mb-3 text-muted">
        Desligar esconde das listas, dos totais e do painel. Nada é apagado: a captura continua, e tudo volta quando
        você ligar de novo.
      </p>
      <div className="grid gap-x-8 gap-y-3 @min-[560px]:grid-cols-2">
        {roles.map(([role, help]) => (
          <SwitchField
            key={role}
            control={control}
            name={`${group}.${role}` as SwitchName}
            label={roleLabels[role] ?? role}
            help={help}
          />
        ))}
      </div>
    </fieldset>
  )
}

function LastQuery({ nsu, message }: { nsu: string; message: string }) {
  return (
    <dl className="grid gap-2 border-line border-t pt-3 [&_dt]:text-muted [&_dt]:text-sm">
      <div>
        <dt>Último NSU (até que posição da fila da SEFAZ já recebemos)</dt>
        <dd className="tabular-nums">{nsu}</dd>
      </div>
      <div>
        <dt>Mensagem da sincronização</dt>
        <dd className="break-words">{message || 'Nenhuma por enquanto.'}</dd>
      </div>
    </dl>
  )
}

interface NewCertificateProps {
  control: Control<CompanyFields>
  /** There is one already. */
  replaces: boolean
  busy: boolean
}

function NewCertificate({ control, replaces, busy }: NewCertificateProps) {
  const file = useController({ control, name: 'CertificadoDigital.Certificado' })
  const password = useController({ control, name: 'CertificadoDigital.Senha' })
  const [refused, setRefused] = useState<string>()
  const choose = ([chosen]: File[]) => {
    const problem = EditCompanyForm.shape['CertificadoDigital.Certificado'].safeParse(chosen).error?.issues[0]?.message
    setRefused(problem)
    // The specification asks for the browser's own message here.
    if (problem) window.alert(problem)
    else file.field.onChange(chosen)
  }
  return (
    <div className="grid gap-3 border-line border-t pt-4">
      <p className="text-muted text-sm">
        Uma consulta com o seu certificado serve também a outras contas que provaram ser deste CNPJ, e a delas a você: a
        SEFAZ entrega cada documento uma vez por CNPJ. Ninguém vê o certificado. Para não participar, remova-o.
      </p>
      <CertificateFile
        title={replaces ? 'Novo certificado' : 'Certificado digital'}
        file={file.field.value}
        error={refused ?? file.fieldState.error?.message}
        disabled={busy}
        onChoose={choose}
      />
      {file.field.value && (
        <>
          <Field
            label="Senha do certificado"
            help="A senha usada quando o arquivo foi exportado."
            error={password.fieldState.error?.message}
          >
            {(field) => <PasswordInput {...field} {...password.field} autoComplete="off" />}
          </Field>
          <Button
            variant="ghost"
            size="sm"
            className="justify-self-start"
            onClick={() => {
              file.field.onChange(undefined)
              password.field.onChange('')
            }}
          >
            Não trocar o certificado
          </Button>
        </>
      )}
    </div>
  )
}
