import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import { type Certificate, CertificateError, readCertificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http.ts'
import { InstallationError } from '../platform/installation.ts'
import { likeLiteral, searchable } from '../platform/text.ts'

const defaultUf = 35

export interface Company {
  id: number
  publicId: string
  cnpj: string
  uf: number
}

// Opening a file costs a processor for as long as five seconds, if it was made to.
const openAtOnce = 2
const waitingMax = 20
let opening = 0
const waiting: (() => void)[] = []

/** Reads an A1 file for a person: each problem is a refusal in words. */
export async function openCertificate(file: File, password: string): Promise<Certificate> {
  if (waiting.length >= waitingMax)
    throw new AppError(
      'unavailable',
      'Há muitos certificados sendo lidos agora. Nada foi guardado; tente de novo em um minuto.',
    )
  if (opening >= openAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  opening++
  try {
    return await readCertificate(new Uint8Array(await file.arrayBuffer()), password)
  } catch (cause) {
    if (cause instanceof CertificateError) throw new AppError('invalid-input', cause.message, { cause })
    throw cause
  } finally {
    opening--
    waiting.shift()?.()
  }
}

/**
 * Registers the company that the certificate names; `ctx.db` is the transaction. Refuses a CNPJ that the workspace already has.
 * The private key is stored encrypted and bound to this workspace.
 */
export async function createCompany(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  session: Session,
  certificate: Certificate,
): Promise<Company> {
  await enterWorkspace({ db }, session.workspaceId)
  const row = await db
    .insertInto('company')
    .values({
      workspace_id: session.workspaceId,
      cnpj: certificate.cnpj,
      name: certificate.name,
      search: searchable(certificate.name),
      uf: ufBySigla(certificate.uf ?? '')?.code ?? defaultUf,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'cnpj']).doNothing())
    .returning(['id', 'public_id as publicId', 'cnpj', 'uf'])
    .executeTakeFirst()
  if (!row)
    throw new AppError('conflict', `A empresa ${formatCnpj(certificate.cnpj)} já está cadastrada. Nada foi alterado.`)
  await db
    .insertInto('certificate')
    .values({
      workspace_id: session.workspaceId,
      company_id: row.id,
      holder_cnpj: certificate.cnpj,
      holder_name: certificate.name,
      issuer: certificate.issuer,
      serial_number: certificate.serialNumber,
      valid_from: certificate.validFrom,
      valid_to: certificate.validTo,
      certificate_pem: certificate.certificate,
      chain_pem: certificate.chain,
      key_encrypted: vault.encrypt(certificate.key, keyPurpose(session.workspaceId, row.id)),
      key_id: vault.keyId,
      uploaded_by: session.accountId,
    })
    .execute()
  return row
}

/** Binds an encrypted key to the company that it was uploaded for. */
export function keyPurpose(workspaceId: number, companyId: number): string {
  return `certificate key of company ${workspaceId}/${companyId}`
}

/** A company's key, out of the vault and ready to be shown. */
export interface OpenedCertificate {
  id: number
  certificate: { key: string; certificate: string; chain: string[] }
  validTo: Date
}

/**
 * The certificate with which the workspace speaks for a CNPJ: of those whose holder has the same base (a matriz serves its filiais), the
 * one that is valid longest; null when none is valid any more. Each time is noted with the web service and the purpose. `ctx.db` is a
 * transaction inside the workspace.
 */
export async function takeCertificate(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  workspaceId: number,
  cnpj: string,
  use: { service: string; purpose: string },
): Promise<OpenedCertificate | null> {
  const row = await db
    .selectFrom('certificate')
    .select(['id', 'company_id', 'certificate_pem', 'chain_pem', 'key_encrypted', 'valid_to'])
    .where('workspace_id', '=', workspaceId)
    .where(sql`left(holder_cnpj, 8)`, '=', cnpjBase(cnpj))
    .where('replaced_at', 'is', null)
    .where('valid_from', '<=', sql<Date>`now()`)
    .where('valid_to', '>', sql<Date>`now()`)
    .orderBy('valid_to', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  await db
    .insertInto('certificate_use')
    .values({ workspace_id: workspaceId, certificate_id: row.id, ...use })
    .execute()
  const key = vault.decrypt(row.key_encrypted, keyPurpose(workspaceId, row.company_id))
  return {
    id: row.id,
    certificate: { key, certificate: row.certificate_pem, chain: row.chain_pem },
    validTo: row.valid_to,
  }
}

/** Refuses to begin with a master key that does not open the certificates kept here. */
export async function requireMasterKey({ db, vault }: Pick<Context, 'db' | 'vault'>): Promise<void> {
  const { rows } = await sql<{
    otherwise: boolean
  }>`select certificates_sealed_otherwise(${vault.keyId}) as otherwise`.execute(db)
  if (rows[0]!.otherwise) {
    throw new InstallationError(
      'Os certificados digitais deste banco foram selados com outra chave mestra. Nada foi alterado: restaure a chave antiga (MASTER_KEY, ou o arquivo master.key de DATA_DIR) e inicie de novo.',
    )
  }
}

/** The internal number of a company of this workspace; refuses any other id. */
export async function getCompanyId(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  publicId: string,
): Promise<number> {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(publicId)
  const row = isUuid
    ? await readWorkspace({ db }, workspaceId, ({ db }) =>
        db
          .selectFrom('company')
          .select('id')
          .where('workspace_id', '=', workspaceId)
          .where('public_id', '=', publicId)
          .executeTakeFirst(),
      )
    : undefined
  if (!row) throw new AppError('not-found', 'Empresa não encontrada.')
  return row.id
}

/** Companies of the workspace by name, with the state of their captures; `text` searches name and CNPJ. */
export async function listCompanies({ db }: Pick<Context, 'db'>, workspaceId: number, text: string | undefined) {
  return readWorkspace({ db }, workspaceId, async ({ db }) => {
    let query = db
      .selectFrom('company as c')
      .leftJoin('certificate as k', (join) =>
        join
          .onRef('k.workspace_id', '=', 'c.workspace_id')
          .onRef('k.company_id', '=', 'c.id')
          .on('k.replaced_at', 'is', null),
      )
      .select(['c.id', 'c.public_id', 'c.name', 'c.cnpj', 'c.active', 'k.valid_to'])
      .where('c.workspace_id', '=', workspaceId)
      .orderBy('c.search')
      .orderBy('c.id')
    if (text) {
      const bare = text.toUpperCase().replace(/[^0-9A-Z]/g, '')
      query = query.where((where) =>
        where.or([
          where('c.search', 'like', `%${likeLiteral(searchable(text))}%`),
          ...(bare && /\d/.test(bare) ? [where('c.cnpj', 'like', `%${bare}%`)] : []),
        ]),
      )
    }
    const companies = await query.execute()
    const lines = await db
      .selectFrom('capture_subscription as s')
      .innerJoin('capture_line as l', 'l.id', 's.line_id')
      .select([
        's.company_id',
        'l.service',
        'l.state',
        'l.message',
        'l.next_at',
        'l.last_success_at',
        's.refused',
        'l.last_nsu',
        'l.max_nsu',
      ])
      .select([
        sql<number>`(select coalesce(sum(to_nsu - from_nsu + 1), 0)::int from capture_gap g where g.line_id = l.id and not g.lost)`.as(
          'missing',
        ),
        sql<number>`(select count(*)::int from receipt r where r.workspace_id = s.workspace_id and r.company_id = s.company_id and r.service = l.service and r.unread)`.as(
          'unread',
        ),
        sql<boolean>`l.lease_until > now()`.as('leased'),
        sql<boolean>`s.proved_at is not null`.as('proved'),
      ])
      .where('s.workspace_id', '=', workspaceId)
      .orderBy('l.service')
      .execute()
    return companies.map((company) => ({ ...company, lines: lines.filter((line) => line.company_id === company.id) }))
  })
}
