import { valueBucket } from '@vigia/checks/alerts/history'
import { type RawBuilder, sql } from 'kysely'
import { changeCodes } from '../../documents/changes.ts'
import { judgeAgain, judgeDue } from '../../documents/derived.ts'
import { recordsOf } from '../../documents/store.ts'
import type { Context, Database } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { remakePartners } from './partners.ts'
import { hasNext, judgedTypes } from './reading.ts'

// Once a night habits are made anew, and what came late is taken into account: then any order of arrival gives the same alerts.

/**
 * Looks over what came to a workspace since its last night; by the key `all`, over everything. Documents issued up to so many days ago
 * may be judged again. It may begin again at any time.
 */
export const nightOf = (reachDays: number): JobKind => ({
  name: 'alerts-night',
  concurrency: 1,
  run: (ctx, job) => runNight(ctx, job, reachDays),
})

export const nightJob = nightOf(90)

// Transactions take no longer, and the change feed is kept longer.
const overlap = sql`interval '10 minutes'`
const feedKept = sql`interval '7 days'`
const atOnce = 1_000
// Pause until what arrived is judged for the first time, which tells of its suppliers.
const waitMs = 60_000

async function runNight(ctx: Context, job: Job, reachDays: number): Promise<Again | null> {
  const workspaceId = job.workspaceId!
  const recent = sql`(now() - ${reachDays} * interval '1 day')`
  const { waits, begun, changed, came } = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ waits: boolean; begun: string; since: string | null }>`
      select ${hasNext(workspaceId)} as waits, now()::text as begun, (select (night_at - ${overlap})::text from alert_setting
                                      where workspace_id = ${workspaceId} and night_at > now() - ${feedKept} and ${job.key} <> 'all') as since`.execute(
      db,
    )
    const { waits, begun, since } = rows[0]!
    const changed = since === null ? null : await readChanged(db, workspaceId, since)
    return { waits, begun, changed, came: await readCame(db, workspaceId, changed, recent) }
  })
  if (waits) return { waitMs }
  const inside = <T>(work: (db: Database) => Promise<T>) =>
    inWorkspace({ db: ctx.db }, workspaceId, ({ db }) => work(db))
  for (const { base, months } of came)
    for (const month of months) await inside((db) => writeMonth(db, workspaceId, base, month))
  // What was here before the first night is no news.
  const isFirst = changed === null
  for (const { base, from } of came) {
    // After a rebuild purchases may say other names, or be none.
    if (isFirst) await inside((db) => remakePartners({ db }, workspaceId, base))
    let after: Place | null = { at: from, id: 0n }
    while (after !== null) {
      const place: Place = after
      after = await inside((db) => judgeSince(db, workspaceId, base, place, isFirst))
    }
  }
  for (let start = 0; start < (changed?.length ?? 0); start += atOnce)
    await inside((db) => judgeNeighbours(db, workspaceId, changed!.slice(start, start + atOnce), recent))
  await inside(async (db) => {
    await judgeDue({ db }, workspaceId)
    // A document that was made anew may be no more.
    await sql`
      delete from company_month m where m.workspace_id = ${workspaceId}
         and not exists (select from document_facts f where f.workspace_id = m.workspace_id and f.company_base = m.company_base and f.type = m.type
                            and f.month = m.month and f.purchase)`.execute(db)
    await sql`
      delete from alert a where a.workspace_id = ${workspaceId}
         and not exists (select from document d where d.workspace_id = a.workspace_id and d.id = a.document_id)`.execute(
      db,
    )
    await sql`
      insert into alert_setting (workspace_id, night_at) values (${workspaceId}, ${begun}::timestamptz)
      on conflict (workspace_id) do update set night_at = excluded.night_at`.execute(db)
    await queueJob({ db }, { kind: 'alerts', workspaceId })
    await holdJob({ db }, job)
  })
  return null
}

async function readChanged(db: Database, workspaceId: number, since: string): Promise<bigint[]> {
  const kinds = [changeCodes.new, changeCodes.completed, changeCodes.cancelled]
  const { rows } = await sql<{ id: bigint }>`
    select distinct document_id as id from document_change
     where workspace_id = ${workspaceId} and at > ${since}::timestamptz and kind = any (${kinds}::int[]) order by 1`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

interface Came {
  base: string
  months: string[]
  /** When the first of it was issued. */
  from: string
}

// null: all documents, in the first night.
async function readCame(
  db: Database,
  workspaceId: number,
  changed: readonly bigint[] | null,
  recent: RawBuilder<unknown>,
): Promise<Came[]> {
  const facts = sql`select * from document_facts f where f.workspace_id = ${workspaceId}`
  const { rows } = await sql<Came>`
    select f.company_base as base, array_agg(distinct f.month::text) as months,
           greatest(min(f.at), ${recent})::text as "from"
      from ${
        changed === null
          ? sql`(${facts}) f`
          : sql`unnest(${changed}::bigint[]) c (id) cross join lateral (${facts} and f.document_id = c.id offset 0) f`
      }
     group by 1 order by 1`.execute(db)
  return rows
}

// Amounts and goods of the standing purchases of a month; a document of several companies of a base counts once.
async function writeMonth(db: Database, workspaceId: number, base: string, month: string): Promise<void> {
  const bought = sql`from document_facts f where f.workspace_id = ${workspaceId} and f.company_base = ${base} and f.type = any (${judgedTypes}::int[])
    and f.month = ${month}::date and f.purchase and f.cancelled_at is null`
  const { rows: amounts } = await sql<{ type: number; cents: number; n: number }>`
    select f.type, f.cents::float8 as cents, count(distinct f.chave)::int as n ${bought} and f.cents > 0 group by 1, 2`.execute(
    db,
  )
  const { rows: goods } = await sql<{ type: number; notes: number; chapters: string[] }>`
    select f.type, count(distinct f.chave)::int as notes, array_agg(distinct c.chapter) filter (where c.chapter is not null) as chapters
      from (select * ${bought} and f.facts ? 'chapters') f
      left join lateral jsonb_array_elements_text(f.facts -> 'chapters') c (chapter) on true group by 1`.execute(db)
  const rows = judgedTypes.map((type) => {
    const buckets: Record<number, number> = {}
    for (const one of amounts)
      if (one.type === type) buckets[valueBucket(one.cents)] = (buckets[valueBucket(one.cents)] ?? 0) + one.n
    const { notes = 0, chapters = null } = goods.find((one) => one.type === type) ?? {}
    return { type, amounts: buckets, notes, chapters: chapters ?? [] }
  })
  await sql`
    insert into company_month (workspace_id, company_base, type, month, amounts, notes, chapters)
    select ${workspaceId}, ${base}, r.type, ${month}::date, r.amounts, r.notes, r.chapters
      from ${recordsOf(rows, { type: 'smallint', amounts: 'jsonb', notes: 'int', chapters: 'text[]' })}
    on conflict (workspace_id, company_base, type, month) do update
       set amounts = excluded.amounts, notes = excluded.notes, chapters = excluded.chapters`.execute(db)
}

interface Place {
  at: string
  id: bigint
}

// The next purchases of a company base after one; returns the last, null at the end.
async function judgeSince(
  db: Database,
  workspaceId: number,
  base: string,
  after: Place,
  silent: boolean,
): Promise<Place | null> {
  const { rows } = await sql<Place>`
    select document_id as id, at::text as at from document_facts
     where workspace_id = ${workspaceId} and company_base = ${base} and purchase and (at, document_id) >= (${after.at}::timestamptz, ${after.id})
     order by document_facts.at, document_id limit ${atOnce}`.execute(db)
  const ids = rows.map(({ id }) => id)
  await judgeAgain({ db }, workspaceId, ids, silent)
  return rows.length === atOnce ? rows.at(-1)! : null
}

// Suppliers who share one contact, and purchases of each, that are judged again.
const sharingMax = 8
const sharedMax = 200

// Documents of other companies, of other suppliers, or issued before, whose verdict looks at these.
async function judgeNeighbours(
  db: Database,
  workspaceId: number,
  changed: readonly bigint[],
  recent: RawBuilder<unknown>,
): Promise<void> {
  const { rows } = await sql<{ id: bigint }>`
    with f as materialized (
      select d.number, f.* from unnest(${changed}::bigint[]) q (id)
       cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d
       cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = q.id offset 0) f)
    -- With the same number.
    select d.id from f cross join lateral (select d.id, d.chave from document d where d.workspace_id = ${workspaceId} and d.number = f.number offset 0) d
     where substr(d.chave, 7, 28) = substr(f.chave, 7, 28) and d.chave <> f.chave
    union
    -- In contingency in the same place.
    select o.document_id from (select distinct contingency from f) f join document_facts o on o.workspace_id = ${workspaceId} and o.contingency = f.contingency
    union
    -- First purchases of their issuers elsewhere.
    select d.id from (select distinct issuer_base from f where purchase) f
      join partner n on n.workspace_id = ${workspaceId} and n.issuer_base = f.issuer_base and n.first_at > ${recent}
      join document d on d.workspace_id = ${workspaceId} and d.chave = n.first_chave
    union
    -- Of suppliers with a contact of one that is new.
    select o.document_id from f
      join partner n on n.workspace_id = ${workspaceId} and n.company_base = f.company_base and n.issuer_base = f.issuer_base and n.first_chave = f.chave
     cross join lateral jsonb_array_elements_text(f.facts -> 'issuer' -> 'contacts') k (contact)
     cross join lateral (select * from partner_contact c where c.workspace_id = ${workspaceId} and c.company_base = f.company_base and c.contact = k.contact
                          order by c.issuer_base limit ${sharingMax}) c
     cross join lateral (select o.document_id from document_facts o where o.workspace_id = ${workspaceId} and o.company_base = f.company_base
                            and o.issuer_base = c.issuer_base and o.purchase and o.at > ${recent} order by o.at desc limit ${sharedMax}) o
    union
    -- Named by them, or naming them.
    select d.id from f join document_cite c on c.workspace_id = ${workspaceId} and c.document_id = f.document_id
      join document d on d.workspace_id = ${workspaceId} and d.chave = c.chave
    union
    select c.document_id from f cross join lateral (
      select c.document_id from document_cite c where c.workspace_id = ${workspaceId} and c.chave = f.chave order by c.document_id desc limit ${sharedMax}) c`.execute(
    db,
  )
  await judgeAgain(
    { db },
    workspaceId,
    rows.map(({ id }) => id),
  )
}
