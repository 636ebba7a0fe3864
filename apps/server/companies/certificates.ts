import { formatBrasiliaDay, formatInteger } from '@vigia/contract/text'
import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import { type Certificate, CertificateError, readCertificate } from '@vigia/sefaz/certificate'
import { type RawBuilder, sql } from 'kysely'
import { readPlan } from '../accounts/plans.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { countRows, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { InstallationError } from '../platform/installation.ts'
import { createLimiter } from '../platform/limiter.ts'
import { SignerDown } from '../platform/signer/client.ts'
import type { CertificateUse, OpenedCertificate } from '../platform/signer/signer.ts'

/** The message of a capture line when the authority accepts no certificate of the CNPJ, of any workspace. */
export const noneAccepted =
  'A SEFAZ não aceitou nenhum dos certificados digitais cadastrados para este CNPJ. Os documentos já guardados estão seguros; um certificado novo é usado assim que for enviado.'

// Opening a file costs a processor for as long as five seconds, if it was made to.
const takeReader = createLimiter({
  each: 2,
  waiting: 100,
  full: 'Há muitos certificados sendo lidos agora. Nada foi guardado; tente de novo em um minuto.',
})

/** Reads an A1 file; each problem is a refusal with a text for the person. `cnpj`: the company that it is for, where known. */
export async function openCertificate(file: File, password: string, cnpj?: string): Promise<Certificate> {
  return openWithOneOf(new Uint8Array(await file.arrayBuffer()), [password], { cnpj })
}

/** Like `openCertificate`, with the first of `passwords` that opens the file. */
export async function openWithOneOf(
  file: Uint8Array,
  passwords: readonly string[],
  options: { cnpj?: string | undefined; signal?: AbortSignal },
): Promise<Certificate> {
  using _ = await takeReader('all workspaces')
  try {
    return await readCertificate(file, passwords, options)
  } catch (cause) {
    if (!(cause instanceof CertificateError)) throw cause
    const ofList = cause.problem === 'wrong-password' && passwords.length !== 1
    throw new AppError('invalid-input', ofList ? noneOpens(cause.tried ?? 0, passwords.length) : cause.message, {
      cause,
    })
  }
}

function noneOpens(tried: number, all: number): string {
  const nothing = 'Nada foi guardado nem alterado.'
  if (all === 0)
    return `A lista não traz senha para este arquivo. ${nothing} Acrescente a linha dele, CNPJ;senha, e envie-o de novo.`
  if (tried < all)
    return `Este arquivo demora demais para abrir: só deu tempo de tentar ${tried} das ${all} senhas da lista. ${nothing} Ponha o CNPJ da empresa no nome do arquivo e envie-o de novo: a senha dela é tentada primeiro.`
  return `Nenhuma das ${all} senhas da lista abre este certificado. ${nothing} Confira a linha dele na lista, com atenção a maiúsculas, números e acentos, e envie-o de novo.`
}

/** In whose name a certificate is taken. */
export type Uploader = Pick<Session, 'workspaceId' | 'accountId' | 'accountName' | 'publicId' | 'address'>

/** Refuses a certificate that cannot speak for `cnpj`. */
export function requireSameBase(certificate: Certificate, cnpj: string): void {
  if (cnpjBase(certificate.cnpj) === cnpjBase(cnpj)) return
  throw new AppError(
    'invalid-input',
    `Este certificado é de outro CNPJ (${formatCnpj(certificate.cnpj)}) e não serve para ${formatCnpj(cnpj)}: a raiz, os oito primeiros caracteres, é diferente. Nada foi guardado nem alterado. Envie o e-CNPJ da própria empresa ou o da matriz dela.`,
  )
}

/** Certificates of a workspace without an active plan, counting replaced ones, which stay on record. */
export const unpaidCertificatesMax = 1_000

async function requireRoom({ db, config }: WithConfig, workspaceId: number): Promise<void> {
  const n = await countRows(db, sql`from certificate where workspace_id = ${workspaceId}`)
  if (n < unpaidCertificatesMax || (await readPlan({ db, config }, workspaceId)).situation === 'active') return
  throw new AppError(
    'conflict',
    `Sem um plano ativo cabem ${formatInteger(unpaidCertificatesMax)} certificados, contando os que foram substituídos, e já há tantos. Nada foi guardado nem alterado, e os que estão aqui continuam em uso. Para enviar outros, peça um plano em “Minha conta”.`,
  )
}

/** Keeps a certificate as the current one of a company, its key sealed by the signer; `ctx.db` is a transaction inside the workspace. */
export async function storeCertificate(
  { db, config, signer }: Pick<Context, 'db' | 'config' | 'signer'>,
  session: Uploader,
  companyId: number,
  certificate: Certificate,
): Promise<void> {
  const { workspaceId } = session
  await requireRoom({ db, config }, workspaceId)
  const { sealed, keyId } = await signer.seal(workspaceId, companyId, certificate.key).catch((cause: unknown) => {
    if (!(cause instanceof SignerDown || cause instanceof InstallationError)) throw cause
    throw new AppError(
      'unavailable',
      'As chaves dos certificados não podem ser usadas agora, por um problema do sistema. Nada foi guardado nem alterado: envie o certificado de novo em alguns minutos e, se esta mensagem se repetir, avise quem cuida do sistema.',
      { cause },
    )
  })
  await sql`
    insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number,
      valid_from, valid_to, certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by)
    values (${workspaceId}, ${companyId}, ${certificate.cnpj}, ${certificate.name}, ${certificate.issuer},
      ${certificate.serialNumber}, ${certificate.validFrom}, ${certificate.validTo},
      ${certificate.certificate}, ${certificate.chain}, ${sealed}, ${keyId}, ${session.accountId})`.execute(db)
  // After the insert, which a rotation of the master key holds back until it has ended.
  const { rows } = await sql<{ key_id: string }>`
    select key_id from workspace_key where workspace_id = ${workspaceId}`.execute(db)
  if (rows[0]?.key_id !== keyId)
    throw new AppError(
      'unavailable',
      'A chave com que o certificado foi selado acaba de ser trocada. Nada foi guardado; envie o certificado de novo. Se a mensagem se repetir, peça a quem cuida do servidor para reiniciar o programa.',
    )
}

/** Replaces the current certificate, which stays on record. `ctx.db`: transaction in the workspace. */
export async function replaceCertificate(
  ctx: Pick<Context, 'db' | 'config' | 'signer'>,
  session: Uploader,
  companyId: number,
  cnpj: string,
  certificate: Certificate,
): Promise<void> {
  requireSameBase(certificate, cnpj)
  const { rows } = await sql<{ same: boolean }>`
    update certificate set replaced_at = now()
     where workspace_id = ${session.workspaceId} and company_id = ${companyId} and replaced_at is null
    returning certificate_pem = ${certificate.certificate} as same`.execute(ctx.db)
  if (rows[0]?.same)
    throw new AppError(
      'conflict',
      `Este certificado já é o que está cadastrado nesta empresa, válido até ${formatBrasiliaDay(certificate.validTo)}. Nada foi alterado. Se ele foi renovado, escolha o arquivo novo; se não, salve sem escolher um certificado.`,
    )
  await storeCertificate(ctx, session, companyId, certificate)
}

/** A certificate that was taken away. */
export interface RemovedCertificate {
  name: string
  cnpj: string
  validTo: Date
}

/**
 * Removes the certificate of a company, destroying its private key and all earlier ones; it stays
 * on record. Refuses when none was uploaded. `ctx.db` is a transaction inside the workspace.
 */
export async function removeCertificate(
  ctx: WithDatabase,
  workspaceId: number,
  company: { id: number; cnpj: string },
): Promise<RemovedCertificate> {
  // Without the id of a key the rotation of the master key skips the row.
  const { rows } = await sql<RemovedCertificate & { current: boolean }>`
    update certificate set replaced_at = least(replaced_at, now()), key_encrypted = '', key_id = ''
     where workspace_id = ${workspaceId} and company_id = ${company.id}
    returning old.replaced_at is null as current, holder_name as name, holder_cnpj as cnpj, valid_to as "validTo"`.execute(
    ctx.db,
  )
  const removed = rows.find(({ current }) => current)
  if (removed) return removed
  const owner = await findCertificateOwner(ctx, workspaceId, company.cnpj)
  throw new AppError(
    'conflict',
    owner
      ? `Esta empresa não tem um certificado próprio: usa o de ${owner.name} (${formatCnpj(owner.cnpj)}), que tem a mesma raiz de CNPJ. Nada foi alterado. Para removê-lo, abra a edição daquela empresa.`
      : 'Esta empresa não tem um certificado digital para remover. Nada foi alterado. Para a captura funcionar, envie um certificado na edição da empresa.',
  )
}

/**
 * Destroys the private keys of all certificates of a workspace, which stay on record, and the key that they are sealed with; returns how many
 * there were. `ctx.db` is a transaction inside it.
 */
export async function destroyKeys({ db }: WithDatabase, workspaceId: number): Promise<number> {
  const { rows } = await sql`
    update certificate set replaced_at = least(replaced_at, now()), key_encrypted = '', key_id = ''
     where workspace_id = ${workspaceId} and key_id <> '' returning id`.execute(db)
  await db.deleteFrom('workspace_key').where('workspace_id', '=', workspaceId).execute()
  // With their files, which hold keys too.
  await sql`delete from certificate_batch where workspace_id = ${workspaceId} and ended_at is null`.execute(db)
  return rows.length
}

/** The company whose certificate is used for a CNPJ of the workspace, and whether that is still valid. `ctx.db` is a transaction inside the workspace. */
export async function findCertificateOwner(
  { db }: WithDatabase,
  workspaceId: number,
  cnpj: string,
): Promise<{ name: string; cnpj: string; valid: boolean } | null> {
  const { rows } = await sql<{ name: string; cnpj: string; valid: boolean }>`
    select o.name, o.cnpj, k.valid_to > now() as valid
      from ${usedCertificates(workspaceId)} k join company o on o.workspace_id = ${workspaceId} and o.id = k.company_id
     where k.base = ${cnpjBase(cnpj)}`.execute(db)
  return rows[0] ?? null
}

/** A certificate with which a CNPJ may be spoken for now. */
interface UsableCertificate {
  id: number
  validTo: Date
  /** The authority refused it within a day. */
  refusedLately: boolean
}

/**
 * The certificates that the workspace may use for a CNPJ, best first: of those whose holder has the same base (a matriz serves its
 * filiais) the ones that the authority did not refuse within a day, the one that is valid longest before the others. `ctx.db` is a
 * transaction inside the workspace.
 */
export async function listCertificates(
  { db }: WithDatabase,
  workspaceId: number,
  cnpj: string,
): Promise<UsableCertificate[]> {
  const { rows } = await sql<UsableCertificate>`
    select id, valid_to as "validTo", coalesce(refused_at > now() - interval '1 day', false) as "refusedLately"
      from certificate
     where workspace_id = ${workspaceId} and left(holder_cnpj, 8) = ${cnpjBase(cnpj)} and replaced_at is null
       and valid_from <= now() and valid_to > now()
     order by "refusedLately", valid_to desc, id`.execute(db)
  return rows
}

/**
 * For each base of a workspace the certificate that is used for its companies, to stand in a `from`: the one that `takeCertificate` takes or,
 * when none is valid any more, the last that was. All at once, because row-level security keeps the base out of the index.
 */
export function usedCertificates(workspaceId: number): RawBuilder<unknown> {
  return sql`(select distinct on (left(holder_cnpj, 8)) left(holder_cnpj, 8) as base, id, company_id, holder_cnpj, holder_name, issuer, valid_from, valid_to,
                     uploaded_by, uploaded_at
                from certificate where workspace_id = ${workspaceId} and replaced_at is null
               order by left(holder_cnpj, 8), valid_to > now() desc, coalesce(refused_at > now() - interval '1 day', false), valid_to desc, id)`
}

/**
 * Has the signer open the best certificate for a CNPJ; null when none is valid any more. Each time is noted with the web service and the
 * purpose. `ctx.db` is a transaction inside the workspace.
 */
export async function takeCertificate(
  ctx: Pick<Context, 'db' | 'signer'>,
  workspaceId: number,
  cnpj: string,
  use: CertificateUse,
): Promise<OpenedCertificate | null> {
  for (const { id } of await listCertificates(ctx, workspaceId, cnpj)) {
    const opened = await ctx.signer.open(workspaceId, id, use)
    if (opened) return opened
  }
  return null
}

/** Notes the authority's verdict: for a day, others of the base are preferred to a refused certificate. */
export async function noteCertificateAnswer(
  ctx: WithDatabase,
  workspaceId: number,
  certificateId: number,
  answer: 'accepted' | 'refused',
): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      update certificate set refused_at = ${answer === 'refused' ? sql`now()` : null}
       where workspace_id = ${workspaceId} and id = ${certificateId}`.execute(db),
  )
}
