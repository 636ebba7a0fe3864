import { toNestErrors } from '@hookform/resolvers'
import type { CompanyDetail } from '@vigia/contract/companies'
import { EditCompanyForm } from '@vigia/contract/forms'
import { type FieldPath, type FormState, get, type Resolver, type UseFormReturn } from 'react-hook-form'

/** The fields of a company that can be edited, named as in the call, whose dots mean nesting. */
export interface CompanyFields {
  RazaoSocial: string
  Email: string
  Uf: string
  SincronizacaoAutomatica: boolean
  ConfiguracoesNfe: Record<(typeof nfeRoles)[number][0] | 'ManifestarCienciaAutomaticamente', boolean>
  ConfiguracoesCte: Record<(typeof cteRoles)[number][0], boolean>
  CertificadoDigital: { Certificado: File | undefined; Senha: string }
}

/** Roles in an NF-e that can be shown or hidden, with explanations. */
export const nfeRoles = [
  ['Emitente', 'Notas que a empresa emitiu. A SEFAZ não as entrega a quem emite; podem chegar eventos delas.'],
  ['Destinatario', 'Notas emitidas contra o CNPJ da empresa: as compras dela.'],
  ['Transportador', 'Notas das mercadorias que a empresa transporta.'],
  ['Terceiro', 'Notas cujo XML alguém autorizou a empresa a baixar, ou que a citam em outro papel.'],
] as const

/** The same for CT-e. */
export const cteRoles = [
  ['Emitente', 'Fretes que a empresa faz, como transportadora.'],
  ['Remetente', 'Fretes das mercadorias que a empresa envia.'],
  ['Destinatario', 'Fretes das mercadorias que a empresa recebe.'],
  ['Expedidor', 'Fretes em que a empresa entrega a carga no lugar do remetente.'],
  ['Recebedor', 'Fretes em que a empresa recebe a carga no lugar do destinatário.'],
  ['Tomador', 'Fretes que a empresa paga.'],
  ['Terceiro', 'Fretes cujo XML alguém autorizou a empresa a baixar, ou que a citam em outro papel.'],
] as const

export function toFields(company: CompanyDetail): CompanyFields {
  const { configuracaoNFe: nfe, configuracaoCTe: cte } = company
  return {
    RazaoSocial: company.razaoSocial,
    Email: company.email,
    Uf: String(company.empresaUf.codUf),
    SincronizacaoAutomatica: company.sincronizacaoAutomatica,
    ConfiguracoesNfe: {
      Emitente: nfe.emitenteNFe,
      Destinatario: nfe.destinatarioNFe,
      Transportador: nfe.transportadorNFe,
      Terceiro: nfe.terceiroNFe,
      ManifestarCienciaAutomaticamente: nfe.manifestarCienciaAutomaticamente,
    },
    ConfiguracoesCte: {
      Emitente: cte.emitenteCTe,
      Remetente: cte.remetenteCTe,
      Destinatario: cte.destinatarioCTe,
      Expedidor: cte.expedidorCTe,
      Recebedor: cte.recebedorCTe,
      Tomador: cte.tomadorCTe,
      Terceiro: cte.terceiroCTe,
    },
    CertificadoDigital: { Certificado: undefined, Senha: '' },
  }
}

/** Form of the call; the password is only sent with a new certificate. */
export function toForm(fields: CompanyFields, companyId: string) {
  const { ConfiguracoesNfe: nfe, ConfiguracoesCte: cte, CertificadoDigital: certificate, ...basic } = fields
  return {
    IdEmpresa: companyId,
    ...basic,
    ...prefixed('ConfiguracoesNfe', nfe),
    ...prefixed('ConfiguracoesCte', cte),
    ...(certificate.Certificado && prefixed('CertificadoDigital', certificate)),
  }
}

/**
 * Builds the PUT body with every field (section 7): `changed` ones from the form, others from
 * `fresh`, because saving must not undo other people's changes. The automatic Ciência is turned on
 * only if one of the two says so.
 */
export function toUpdate(
  fields: CompanyFields,
  changed: readonly FieldPath<CompanyFields>[],
  fresh: CompanyDetail,
  companyId: string,
) {
  const { CertificadoDigital } = fields
  const current = toForm({ ...toFields(fresh), CertificadoDigital }, companyId)
  const names: readonly string[] = changed
  const mine = Object.entries(toForm(fields, companyId)).filter(([name]) => names.includes(name))
  return { ...current, ...(Object.fromEntries(mine) as Partial<typeof current>) }
}

/** Marks sent fields as saved. Text typed during the request stays unsaved. */
export function takeAsSaved(
  form: Pick<UseFormReturn<CompanyFields>, 'getValues' | 'resetField' | 'setValue'>,
  sent: CompanyFields,
  names: readonly FieldPath<CompanyFields>[],
) {
  for (const name of names) {
    const typed = form.getValues(name)
    form.resetField(name, { defaultValue: get(sent, name) })
    if (typed !== get(sent, name)) form.setValue(name, typed, { shouldDirty: true })
  }
  const { Certificado } = sent.CertificadoDigital
  if (!Certificado || form.getValues('CertificadoDigital.Certificado') !== Certificado) return
  form.resetField('CertificadoDigital.Certificado')
  form.resetField('CertificadoDigital.Senha')
}

/** The fields that were changed, apart from the certificate. */
export function changedNames(fields: CompanyFields, dirty: FormState<CompanyFields>['dirtyFields']) {
  const names = Object.keys(toForm(fields, '')) as FieldPath<CompanyFields>[]
  return names.filter((name) => !name.startsWith('CertificadoDigital.') && get(dirty, name) === true)
}

function prefixed<P extends string, T extends object>(prefix: P, values: T) {
  const entries = Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value])
  return Object.fromEntries(entries) as { [K in keyof T & string as `${P}.${K}`]: T[K] }
}

/** Validates the fields with the schema of the contract: browser and server show equal messages. */
export const companyResolver: Resolver<CompanyFields> = (fields, _, options) => {
  const { error } = EditCompanyForm.safeParse(toForm(fields, 'a que está aberta'))
  if (!error) return { values: fields, errors: {} }
  const errors = Object.fromEntries(
    error.issues.map(({ path, code, message }) => [path.join('.'), { type: code, message }]),
  )
  return { values: {}, errors: toNestErrors(errors, options) }
}
