import { askedMax } from '@vigia/contract/manifestation'
import { formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import { readHiding, shownConditions } from '../companies/companies.ts'
import type { Session } from '../http/http.ts'
import { countHeldMails, dropHeldMails } from '../mail/mail.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asOperator, inCapture, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { findFirstHold, findRestore, releaseFirstHold, releaseRestore, restoresOf } from '../platform/restore.ts'
import type { Service, ServiceCode } from '../platform/service.ts'
import { countHeldDeliveries, dropHeldDeliveries } from '../webhooks/webhooks.ts'
import { readAnswerRules, sends } from './answer-rules.ts'
import { type Author, noteReadBack, readJournal, wasReadBack } from './journal.ts'
import { deliverEvents } from './settlement.ts'

/** A company of which events wait for the release of a restore, or would be given by themselves after it. */
export interface HeldCompany {
  workspaceId: number
  companyId: number
  name: string
  cnpj: string
  /** Ciência is given by itself since then; null: it is not. */
  acknowledgesSince: Date | null
  /** Waiting Ciências that a switch wanted. */
  automatic: number
  /** Waiting events that a person wanted. */
  requested: number
}

/** What is known of what happened after the copy: CNPJs, each of one company or of that of several workspaces. */
export interface ReadBack {
  /** Whether the events that were registered since, as they are written down beside the database, are stored; of this data folder. */
  events: boolean
  /** Asked for at the authority up to the end since the restore was found, those still to be asked, and those that are not asked at all now. */
  read: number
  unread: string[]
  unasked: string[]
}

const nothingMissing: ReadBack = { events: true, read: 0, unread: [], unasked: [] }

// After a restore the authority may move our cursor to its own: what lies between is fetched one by one, for hours. Such a gap lies above the first position that was asked
// for since; those below are older than the copy, unless the authority told of the restore: then some companies were asked for before.
const isOfUnknownAge = sql`exists (select from restore where released_at is null and copy_of is null)`

async function findReadBack(ctx: Pick<Context, 'db' | 'config'>, foundAt: Date): Promise<ReadBack> {
  const { rows } = await inCapture(ctx, ({ db }) =>
    sql<{ cnpj: string; state: 'read' | 'unread' | 'unasked' }>`
      select cnpj, case when bool_or(is_asked and not is_read) then 'unread' when bool_or(is_asked) then 'read' else 'unasked' end as state
        from (select l.cnpj, (l.automatic or l.wanted) and not l.paused and l.next_at is not null as is_asked,
                     asked.succeeded and l.last_nsu >= l.max_nsu
                       and not exists (select from capture_gap g where g.line_id = l.id and not g.lost and not g.passed and g.to_nsu > asked.from_nsu) as is_read
                from capture_line l
                left join lateral (select case when ${isOfUnknownAge} then 0 else min(e.nsu_before) end as from_nsu, coalesce(bool_or(e.c_stat in (137, 138)), false) as succeeded
                                     from capture_call e
                                    where e.line_id = l.id and e.query = 'distNSU'
                                      and e.id > (select max(r.before) from ${restoresOf(sql.ref('l.id'))} where r.released_at is null)) asked on true
               where exists (select from capture_subscription s where s.line_id = l.id)) lines
       group by cnpj order by cnpj`.execute(db),
  )
  const of = (wanted: (typeof rows)[number]['state']) =>
    rows.flatMap(({ cnpj, state }) => (state === wanted ? cnpj : []))
  return {
    events: await wasReadBack(ctx, foundAt),
    read: of('read').length,
    unread: of('unread'),
    unasked: of('unasked'),
  }
}

/** Whether what leaves now may repeat or contradict what was done after the copy, as far as is known. */
export function isTooSoon({
  companies,
  readBack,
}: {
  companies: readonly { cnpj: string }[]
  readBack: ReadBack
}): boolean {
  const { events, unread, unasked } = readBack
  return !events || unread.length > 0 || companies.some(({ cnpj }) => unasked.includes(cnpj))
}

/** What a release lets leave, and how many rules send a Ciência without a person; null: nothing is held. */
export async function listHeld(ctx: Pick<Context, 'db' | 'config'>): Promise<{
  /** The first events of the production environment wait; nothing was restored. */
  isFirst: boolean
  foundAt: Date
  copyOf: Date | null
  readBack: ReadBack
  companies: HeldCompany[]
  rules: number
  /** Mails of the copy. */
  mails: number
  deliveries: { waiting: number; fromCopy: number }
} | null> {
  const restore = await findRestore(ctx)
  const foundAt = restore?.foundAt ?? (await findFirstHold(ctx))
  if (foundAt === null) return null
  const readBack = restore ? await findReadBack(ctx, foundAt) : nothingMissing
  const { rows: waiting } = await inCapture(ctx, ({ db }) =>
    sql<Pick<HeldCompany, 'companyId' | 'automatic' | 'requested'>>`
      select company_id as "companyId", count(*) filter (where requested_by is null)::int as automatic,
             count(*) filter (where requested_by is not null)::int as requested
        from outgoing_event where state in ('waiting', 'sending') group by 1`.execute(db),
  )
  const waitingOf = new Map(waiting.map(({ companyId, ...counts }) => [companyId, counts]))
  const companies: HeldCompany[] = []
  let rules = 0
  for (const workspaceId of await listWorkspaces(ctx)) {
    const sending = await inWorkspace(ctx, workspaceId, (ctx) => readAnswerRules(ctx, workspaceId))
    rules += sending.filter(({ active, answer }) => active && sends(answer)).length
    const rows = await inWorkspace(ctx, workspaceId, ({ db }) =>
      db
        .selectFrom('company')
        .select(['id', 'name', 'cnpj', 'acknowledges_since as acknowledgesSince'])
        .where('workspace_id', '=', workspaceId)
        .orderBy('name')
        .execute(),
    )
    for (const { id, ...company } of rows) {
      const counts = waitingOf.get(id) ?? { automatic: 0, requested: 0 }
      if (company.acknowledgesSince === null && counts.automatic + counts.requested === 0) continue
      companies.push({ workspaceId, companyId: id, ...company, ...counts })
    }
  }
  const [mails, deliveries] = [await countHeldMails(ctx), await countHeldDeliveries(ctx)]
  const copyOf = restore?.copyOf ?? null
  return { isFirst: !restore, foundAt, copyOf, readBack, companies, rules, mails, deliveries }
}

// As the plans name them.
const operator = 'Quem administra o sistema'

async function listWorkspaces(ctx: Pick<Context, 'db'>): Promise<number[]> {
  return asOperator(ctx, async ({ db }) => {
    const rows = await db.selectFrom('workspace').select('id').orderBy('id').execute()
    return rows.map(({ id }) => id)
  })
}

/**
 * Lets events leave again after a restore, or for the first time. `withoutAutomatic` turns the automatic Ciência of all companies, and the rules that send one, off first: what waits
 * because of them is withdrawn when its turn comes, and each workspace turns them on again where it wants them. `withoutNotices`: mails and deliveries to webhooks that are in
 * the copy, and may have left since it was made, do not leave.
 */
export async function releaseHeld(
  ctx: Pick<Context, 'db' | 'config'>,
  { withoutAutomatic, withoutNotices = false }: { withoutAutomatic: boolean; withoutNotices?: boolean },
): Promise<void> {
  const held = withoutAutomatic ? await listHeld(ctx) : null
  const because = held?.isFirst
    ? 'antes de liberar o envio de manifestações pela primeira vez'
    : 'porque o banco de dados voltou de uma cópia de segurança'
  for (const { workspaceId, companyId, name, acknowledgesSince } of held?.companies ?? []) {
    if (acknowledgesSince === null) continue
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      await db
        .updateTable('company')
        .set({ acknowledges_since: null, acknowledges_by: null })
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', companyId)
        .execute()
      const what = `Desligou a Ciência automática de ${name}, ${because}.`
      await recordAudit({ db }, { workspaceId, accountName: operator }, 'empresa', what)
    })
  }
  if (withoutAutomatic) await switchRulesOff(ctx, because)
  if (withoutNotices) {
    await dropHeldMails(ctx)
    await dropHeldDeliveries(ctx)
  }
  await releaseRestore(ctx)
  await releaseFirstHold(ctx)
}

/** An event of a workspace that leaves when the first ones are released. */
interface FirstEvent {
  documentId: bigint
  type: ServiceCode
  chave: string
  number: number
  issuer: string
  company: string
  tpEvento: number
  why: string
  requestedAt: Date
}

/** The events of a workspace that a release lets leave, the longest waiting first. `ctx.db` is a transaction inside it. */
export async function listFirstEvents(
  { db }: WithDatabase,
  { workspaceId, companies }: Pick<Session, 'workspaceId' | 'companies'>,
): Promise<{ total: number; events: FirstEvent[] }> {
  const conditions = [
    sql`o.workspace_id = ${workspaceId} and o.state in ('waiting', 'sending')`,
    ...(companies ? [sql`o.company_id = any (${companies}::int[])`] : []),
    ...shownConditions(await readHiding({ db }, workspaceId), 'd'),
  ]
  const { rows } = await sql<FirstEvent & { total: number }>`
    select o.document_id as "documentId", o.type, o.chave, d.number, s.name as issuer, c.name as company, o.tp_evento as "tpEvento", o.why,
           o.requested_at as "requestedAt", count(*) over ()::int as total
      from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
     where ${sql.join(conditions, sql` and `)} order by o.requested_at, o.id limit ${askedMax}`.execute(db)
  return { total: rows[0]?.total ?? 0, events: rows }
}

const ofSeveral =
  'Esta instalação tem mais de um workspace: quem administra o sistema confere o que espera em todos e libera o envio com npm run admin -- restauracao liberar.'
const notKeeper = 'Libera o envio quem é administrador do workspace e vê todas as empresas dele.'

/** Why somebody may not release the first events of the installation; null: they may. */
export async function whyNotRelease(
  ctx: Pick<Context, 'db'>,
  { role, companies }: Pick<Session, 'role' | 'companies'>,
): Promise<string | null> {
  if (role !== 'administrador' || companies !== null) return notKeeper
  return (await listWorkspaces(ctx)).length > 1 ? ofSeveral : null
}

/** Lets the first events of an installation with one workspace leave, in the name of its administrator. */
export async function releaseFirst(ctx: Pick<Context, 'db'>, session: Session): Promise<void> {
  if ((await findFirstHold(ctx)) === null) return
  const refusal = await whyNotRelease(ctx, session)
  if (refusal !== null) throw new AppError('conflict', refusal)
  await inWorkspace(ctx, session.workspaceId, (ctx) =>
    recordAudit(ctx, session, 'manifestacao', 'Liberou o envio de manifestações pela primeira vez nesta instalação.'),
  )
  await releaseFirstHold(ctx)
}

async function switchRulesOff(ctx: Pick<Context, 'db'>, because: string): Promise<void> {
  for (const workspaceId of await listWorkspaces(ctx))
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      const rules = await db
        .updateTable('answer_rule')
        .set({ active: false })
        .where('workspace_id', '=', workspaceId)
        .where('active', '=', true)
        .where('answer', 'in', ['ciencia', 'ciencia-apos'])
        .returning('name')
        .execute()
      if (rules.length === 0) return
      const names = formatList(rules.map(({ name }) => `“${name}”`))
      const what = `Desligou regras de resposta (${names}), ${because}.`
      await recordAudit({ db }, { workspaceId, accountName: operator }, 'manifestacao', what)
    })
}

/**
 * Stores the events that were registered after the copy which takes the place of the database now, as they were written down beside it, once for
 * each restore, and calls `registered` for each author. Returns how many were looked at.
 */
export async function readBackEvents(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  { registered }: { registered: (service: Service, cnpj: string) => Promise<void> },
): Promise<number> {
  const restore = await findRestore(ctx)
  if (!restore || (await wasReadBack(ctx, restore.foundAt))) return 0
  let count = 0
  const authors = new Map<string, Pick<Author, 'service' | 'cnpj'>>()
  for await (const { xml, ...author } of readJournal(ctx)) {
    await inCapture(ctx, (ctx) => deliverEvents(ctx, author, [xml]))
    authors.set(`${author.service} ${author.cnpj}`, author)
    count++
  }
  for (const { service, cnpj } of authors.values()) await registered(service, cnpj)
  await noteReadBack(ctx, restore.foundAt)
  if (count > 0) ctx.log.warn({ events: count }, 'events that were registered after the copy were read back')
  return count
}
