import { formatBrasiliaDay } from '@vigia/contract/text'
import type { Certificate } from '@vigia/sefaz/certificate'
import { findChain } from '@vigia/sefaz/chain'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { lockSettings, recordChanges, recordCreation } from './audit-entries.ts'
import { readHolderAuthorities } from './authorities.ts'
import { replaceCertificate, type Uploader } from './certificates.ts'
import { type Company, createCompany } from './companies.ts'

/** Functions of the floors above that a new certificate starts. Each `ctx.db` is the transaction that stores it. */
export interface CapturesOfCertificates {
  /** Begins the captures of a new company. `proved`: the chain of its certificate shows that it is real. */
  subscribe(ctx: WithDatabase, workspaceId: number, company: Company, options: { proved: boolean }): Promise<void>
  /** Resumes captures and events that wait for a certificate of this base. */
  resume(ctx: WithDatabase, workspaceId: number, cnpj: string, options: { proved: boolean }): Promise<void>
}

/** A certificate, and whether only its holder can have the key. */
interface Opened {
  certificate: Certificate
  proved: boolean
}

/**
 * Whether only the holder can have the key. A demonstration that is open to anybody takes no other certificate: one of a real company has no
 * business there.
 */
export async function isProved({ config }: Pick<Context, 'config'>, certificate: Certificate): Promise<boolean> {
  const proved = findChain(certificate, await readHolderAuthorities(config)) !== null
  if (config.simulator?.open && !proved)
    throw new AppError(
      'invalid-input',
      'Esta é uma demonstração aberta a qualquer pessoa: ela só aceita os certificados de teste que se baixam aqui mesmo. Nada foi guardado. Se o certificado enviado é de uma empresa de verdade, não o envie a demonstrações.',
    )
  return proved
}

type RegistrationContext = Pick<Context, 'db' | 'signer' | 'config'>

/** Registers the company `cnpj` with a certificate, and begins its captures. `ctx.db` is the transaction. */
export async function register(
  ctx: RegistrationContext,
  captures: CapturesOfCertificates,
  uploader: Uploader,
  { certificate, proved }: Opened,
  cnpj: string = certificate.cnpj,
): Promise<Company> {
  const { db } = ctx
  const company = await createCompany(ctx, uploader, certificate, cnpj)
  await captures.subscribe({ db }, uploader.workspaceId, company, { proved })
  await recordCreation({ db }, uploader, await lockSettings({ db }, uploader.workspaceId, company.id), certificate)
  return company
}

/** Outcome of a certificate that was sent without naming its company. */
interface Taken {
  state: 'registered' | 'replaced' | 'unchanged'
  companyId: number
  message: string
}

/**
 * Gives a certificate to its company: replaces the current one, unless that is the same or newer,
 * and registers an unknown company. `ctx.db` is a transaction inside the workspace.
 */
export async function registerOrRenew(
  ctx: RegistrationContext,
  captures: CapturesOfCertificates,
  uploader: Uploader,
  { certificate, proved }: Opened,
): Promise<Taken> {
  const { workspaceId } = uploader
  const until = `válido até ${formatBrasiliaDay(certificate.validTo)}`
  const companyId = await findCompanyOf(ctx, workspaceId, certificate.cnpj)
  if (companyId === null) {
    const { id } = await register(ctx, captures, uploader, { certificate, proved })
    return { state: 'registered', companyId: id, message: `Empresa cadastrada, com o certificado ${until}.` }
  }
  const before = await lockSettings(ctx, workspaceId, companyId)
  const { rows } = await sql<{ pem: string; validTo: Date; refusedAt: Date | null }>`
    select certificate_pem as pem, valid_to as "validTo", refused_at as "refusedAt" from certificate
     where workspace_id = ${workspaceId} and company_id = ${companyId} and replaced_at is null`.execute(ctx.db)
  const current = rows[0]
  if (current?.pem === certificate.certificate)
    return { state: 'unchanged', companyId, message: `Já é o certificado cadastrado, ${until}. Nada foi alterado.` }
  // Folders of offices hold the files of last year too. One that the authority refuses is worth less than an older one.
  if (current && !current.refusedAt && current.validTo > certificate.validTo)
    return {
      state: 'unchanged',
      companyId,
      message: `A empresa já tem um certificado mais novo, válido até ${formatBrasiliaDay(current.validTo)}; o deste arquivo vale até ${formatBrasiliaDay(certificate.validTo)}. Nada foi alterado. Se é este que vale, envie-o na edição da empresa.`,
    }
  await replaceCertificate(ctx, uploader, companyId, before.cnpj, certificate)
  await captures.resume({ db: ctx.db }, workspaceId, before.cnpj, { proved })
  await recordChanges(ctx, uploader, { before, after: before, certificate })
  const paused = before.active ? '' : ' A empresa está arquivada: reative-a para a captura continuar.'
  return { state: 'replaced', companyId, message: `Certificado trocado: o novo é ${until}.${paused}` }
}

// A filial that was registered with the certificate of its matriz is renewed by that of the matriz, which is no company here.
async function findCompanyOf({ db }: WithDatabase, workspaceId: number, cnpj: string): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select id from company where workspace_id = ${workspaceId} and cnpj = ${cnpj}
     union all
    (select company_id from certificate where workspace_id = ${workspaceId} and holder_cnpj = ${cnpj} and replaced_at is null
      order by valid_to desc, id limit 1)
     limit 1`.execute(db)
  return rows[0]?.id ?? null
}
