import { formatBrasiliaDay } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import type { Certificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import { contactOf, howToGetPlan, readPlan, reasonOf } from '../accounts/plans.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { countRows, enterWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { announce } from '../platform/outbox.ts'
import type { Service } from '../platform/service.ts'
import { likeLiteral, searchable, uuidOf } from '../platform/text.ts'
import type { Registered } from './announcements.ts'
import {
  replaceCertificate,
  requireSameBase,
  storeCertificate,
  type Uploader,
  usedCertificates,
} from './certificates.ts'
import { type RoleSwitch, readShown, setSwitches } from './switches.ts'

/** Message of captures that stopped because their company has no certificate at all. */
export const withoutCertificate =
  'Esta empresa está sem certificado digital, e sem ele nada é consultado na SEFAZ. Os documentos já guardados estão seguros; envie um certificado (arquivo .pfx ou .p12) na edição da empresa para a captura continuar.'

/** Message of the captures of an archived company. */
export function archivedSentence(archivedAt: Date): string {
  return `Esta empresa está arquivada desde ${formatBrasiliaDay(archivedAt)}: nada é consultado na SEFAZ em nome dela. Os documentos já guardados estão seguros e continuam disponíveis; reative-a para a captura continuar. A SEFAZ guarda cada documento por cerca de 90 dias e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos.`
}

/** Refuses a company that was archived. `ctx.db` is a transaction inside the workspace. */
export async function requireActive({ db }: WithDatabase, workspaceId: number, companyId: number): Promise<void> {
  const { rows } = await sql<{ archived_at: Date | null }>`
    select archived_at from company where workspace_id = ${workspaceId} and id = ${companyId}`.execute(db)
  if (rows[0]?.archived_at) throw new AppError('conflict', archivedSentence(rows[0].archived_at))
}

/**
 * Archives a company, without automatic Ciência from then on, or takes it back into use when the plan has room for it; returns whether that changed anything. `ctx.db` is a
 * transaction inside the workspace that has locked the company.
 */
export async function setArchived(
  ctx: WithConfig,
  workspaceId: number,
  companyId: number,
  archived: boolean,
): Promise<boolean> {
  // Archiving ends the automatic Ciência: reactivating requires a new decision.
  const change = archived
    ? sql`archived_at = now(), acknowledges_since = null, acknowledges_by = null`
    : sql`archived_at = null`
  const { numAffectedRows } = await sql`
    update company set ${change}
     where workspace_id = ${workspaceId} and id = ${companyId} and active = ${archived}`.execute(ctx.db)
  if (numAffectedRows === 0n) return false
  if (!archived) await requireRoomForCompany(ctx, workspaceId)
  return true
}

/**
 * Refuses the company that the transaction `ctx.db` has just added or taken back into use, when the plan of its workspace has no room for it. Two that are added at
 * once take turns here, and the second one counts the first.
 */
export async function requireRoomForCompany(ctx: WithConfig, workspaceId: number): Promise<void> {
  const plan = await readPlan(ctx, workspaceId, { lock: true })
  if (plan.situation === 'ended')
    throw new AppError(
      'plan-limit',
      `${reasonOf(plan)}, e por isso não é possível cadastrar nem reativar empresas agora. Nada foi alterado, e o que já foi guardado continua disponível. ${howToGetPlan(ctx.config)}`,
    )
  const { companiesMax } = plan
  if (companiesMax === null || (await countCompanies(ctx, workspaceId)) <= companiesMax) return
  const allowed = companiesMax === 1 ? '1 empresa' : `até ${companiesMax} empresas`
  throw new AppError(
    'plan-limit',
    `O plano ${plan.name} permite ${allowed}, e todas já estão cadastradas. Nada foi alterado, e as que estão cadastradas continuam como estão. Para cadastrar mais, arquive uma que não usa ou mude de plano: ${contactOf(ctx.config)}.`,
  )
}

/** Number of companies in a workspace, without archived ones. `ctx.db` is a transaction inside it. */
export async function countCompanies({ db }: WithDatabase, workspaceId: number): Promise<number> {
  return countRows(db, sql`from company where workspace_id = ${workspaceId} and active`)
}

const defaultUf = 35

export interface Company {
  id: number
  publicId: string
  cnpj: string
  uf: number
}

/**
 * Registers a company with its certificate: the one that it names, or `cnpj`, a filial with the same base. `ctx.db` is the transaction.
 * Refuses a CNPJ that the workspace already has, and one more than its plan has room for. The private key is stored encrypted and bound to this workspace.
 */
export async function createCompany(
  ctx: Pick<Context, 'db' | 'signer' | 'config'>,
  session: Uploader,
  certificate: Certificate,
  cnpj: string = certificate.cnpj,
): Promise<Company> {
  requireSameBase(certificate, cnpj)
  await enterWorkspace(ctx, session.workspaceId)
  const uf = ufBySigla(certificate.uf ?? '')?.code ?? defaultUf
  const { rows } = await sql<Company>`
    insert into company (workspace_id, cnpj, name, search, uf)
    values (${session.workspaceId}, ${cnpj}, ${certificate.name}, ${searchable(certificate.name)}, ${uf})
    on conflict (workspace_id, cnpj) do nothing returning id, public_id as "publicId", cnpj, uf`.execute(ctx.db)
  const row = rows[0]
  if (!row) {
    if (await isArchived(ctx, session.workspaceId, cnpj))
      throw new AppError(
        'conflict',
        `A empresa ${formatCnpj(cnpj)} está arquivada. Nada foi alterado. Reative-a na lista de empresas; o certificado novo se envia na edição dela.`,
      )
    throw new AppError(
      'conflict',
      `A empresa ${formatCnpj(cnpj)} já está cadastrada. Nada foi alterado. Para trocar o certificado, abra a edição dessa empresa; para cadastrar uma filial dela, informe também o CNPJ da filial.`,
    )
  }
  await requireRoomForCompany(ctx, session.workspaceId)
  await storeCertificate(ctx, session, row.id, certificate)
  const payload: Registered = { cnpj, by: session.accountName }
  await announce(ctx, session.workspaceId, {
    what: 'empresa-cadastrada',
    companyId: row.id,
    payload,
    sessionId: session.publicId,
  })
  return row
}

async function isArchived({ db }: WithDatabase, workspaceId: number, cnpj: string): Promise<boolean> {
  const { rows } = await sql<{ active: boolean }>`
    select active from company where workspace_id = ${workspaceId} and cnpj = ${cnpj}`.execute(db)
  return rows[0]?.active === false
}

/** Changes to a company; undefined keeps the value. */
export interface CompanyChange {
  name: string
  /** Null: none. */
  email?: string | null
  uf?: number
  automatic?: boolean
  /** Roles in which documents are shown. */
  shown: Partial<Record<Service, readonly RoleSwitch[]>>
  acknowledges?: boolean
}

/** Changes a company and, when there is one, replaces its certificate by `certificate`. `ctx.db` is the transaction. */
export async function updateCompany(
  ctx: Pick<Context, 'db' | 'config' | 'signer'>,
  session: Session,
  companyId: number,
  change: CompanyChange,
  certificate?: Certificate,
): Promise<Company> {
  const { workspaceId, accountId } = session
  await enterWorkspace(ctx, workspaceId)
  const { rows } = await sql<{ cnpj: string }>`
    select cnpj from company where workspace_id = ${workspaceId} and id = ${companyId}
    for no key update`.execute(ctx.db)
  if (certificate) await replaceCertificate(ctx, session, companyId, rows[0]!.cnpj, certificate)
  await setSwitches(ctx, workspaceId, companyId, change.shown)
  return ctx.db
    .updateTable('company')
    .set({
      name: change.name,
      search: searchable(change.name),
      email: change.email,
      uf: change.uf,
      automatic: change.automatic,
      // The person who turned it on first stays on record.
      ...(change.acknowledges === true && {
        acknowledges_since: sql<Date>`least(acknowledges_since, now())`,
        acknowledges_by: sql<number>`case when acknowledges_since is null then ${accountId}::int else acknowledges_by end`,
      }),
      ...(change.acknowledges === false && { acknowledges_since: null, acknowledges_by: null }),
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', companyId)
    .returning(['id', 'public_id as publicId', 'cnpj', 'uf'])
    .executeTakeFirstOrThrow()
}

/** The internal number of a company of this workspace; refuses any other id. */
export async function getCompanyId({ db }: WithDatabase, workspaceId: number, publicId: string): Promise<number> {
  const { rows } = await readWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ id: number }>`
      select id from company where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid`.execute(db),
  )
  if (!rows[0]) throw new AppError('not-found', 'Empresa não encontrada.')
  return rows[0].id
}

/** Companies of the workspace by name; `text` searches name and CNPJ. */
export async function listCompanies({ db }: WithDatabase, workspaceId: number, text: string | undefined) {
  return readWorkspace({ db }, workspaceId, async ({ db }) => {
    let query = selectCompanies(db, workspaceId).orderBy('c.search').orderBy('c.id')
    if (text) {
      const bare = text.toUpperCase().replace(/[^0-9A-Z]/g, '')
      query = query.where((where) =>
        where.or([
          where('c.search', 'like', `%${likeLiteral(searchable(text))}%`),
          ...(bare && /\d/.test(bare) ? [where('c.cnpj', 'like', `%${bare}%`)] : []),
        ]),
      )
    }
    return query.execute()
  })
}

/** A company with its settings; refuses an id that is not of this workspace. */
export async function getCompany({ db }: WithDatabase, workspaceId: number, publicId: string) {
  const id = await getCompanyId({ db }, workspaceId, publicId)
  return readWorkspace({ db }, workspaceId, async ({ db }) => ({
    ...(await selectCompanies(db, workspaceId)
      .select(['c.email', 'c.uf', 'c.acknowledges_since'])
      .select(nameOfAuthor(workspaceId, 'c.acknowledges_by').as('acknowledges_by'))
      .select(hasLogo(workspaceId))
      .where('c.id', '=', id)
      .executeTakeFirstOrThrow()),
    shown: await readShown({ db }, workspaceId, id),
  }))
}

// The workspace is said again: on a cluster a row of another table is no reason to look on one server only.
const hasLogo = (workspaceId: number) =>
  sql<boolean>`exists (select from company_logo l where l.workspace_id = ${workspaceId} and l.company_id = c.id)`.as(
    'has_logo',
  )

function selectCompanies(db: Context['db'], workspaceId: number) {
  return db
    .selectFrom('company as c')
    .leftJoin(sql<{ base: string; valid_to: Date }>`${usedCertificates(workspaceId)}`.as('k'), (join) =>
      join.on('k.base', '=', sql`left(c.cnpj, 8)`),
    )
    .select(['c.id', 'c.public_id', 'c.name', 'c.cnpj', 'c.active', 'c.archived_at', 'c.automatic', 'k.valid_to'])
    .where('c.workspace_id', '=', workspaceId)
}
