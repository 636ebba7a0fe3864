import { sql } from 'kysely'
import { claimRows, fromNow } from '../jobs/jobs.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asOperator, inWorkspace, readWorkspace } from '../platform/database.ts'
import { downgradeRules } from './downgrading.ts'
import { type Judging, judgeAfter, judgeDue, judgeThese, noteUnjudged, together, type Within } from './judging.ts'
import { findDocuments, readCompanies, readFacts } from './reading.ts'
import { putFacts } from './store.ts'

// How the documents of a workspace come to be judged: docs/decisions/0043-alerts-in-the-product.md.

/** A turn of a workspace, held by this process while the lease lasts. */
export interface Turn {
  workspaceId: number
  lease: string
}

const leaseMs = 120_000
// Documents that are read, and that are judged, in one turn.
const readMax = 100
const judgedMax = 200
// Of those that could not be judged before.
const againMax = 20

/** Takes the workspace that waited longest of those in which something is to be judged; null: none. */
export async function claimTurn(ctx: WithDatabase): Promise<Turn | null> {
  const lane = {
    due: sql`(a.next_at <= now() or exists (select from change_position p where p.workspace_id = a.workspace_id and p.version > a.version))`,
    // One that has much to read waits with each that has little.
    order: sql`a.served_at, a.workspace_id`,
  }
  return asOperator(ctx, async ({ db }) => {
    await sql`
      insert into alert_position (workspace_id, version, walked_type, walked_at, walked_id)
      select p.workspace_id, p.version, 0, '-infinity', 0 from change_position p
       where not exists (select from alert_position a where a.workspace_id = p.workspace_id) limit 100
      on conflict do nothing`.execute(db)
    const claimed = await claimRows<Turn, typeof lane>(db, {
      table: sql`alert_position a`,
      key: ['workspace_id'],
      lanes: [lane],
      leaseMs,
      returning: sql`workspace_id as "workspaceId", lease_until::text as lease`,
    })
    return claimed?.rows[0] ?? null
  })
}

interface Position {
  version: number
  walkedType: number | null
  walkedAt: string | null
  walkedId: bigint | null
  reviewedId: bigint | null
}

/** What one turn reads, and where the position stands after it. */
interface Portion {
  /** Of documents that were here before: nothing waits for them. */
  walked?: boolean
  ids: bigint[]
  next: Position
  more: boolean
}

/**
 * Judges what changed next in a workspace, or next of what was there before, and what is due; a bounded part of it. Nothing happens when somebody else
 * has the turn by now. Returns the companies whose documents were read.
 */
export async function takeTurn(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  { workspaceId, lease }: Turn,
  asOf = Date.now(),
): Promise<number[]> {
  const { found, companies, portion, position, ids } = await readWorkspace(ctx, workspaceId, async ({ db, config }) => {
    const position = await readPosition({ db }, workspaceId)
    const portion = await nextPortion({ db }, workspaceId, position)
    const companies = await readCompanies({ db, config }, workspaceId)
    const { rows: again } = await sql<{ id: bigint }>`
      select document_id as id from alert_unjudged where workspace_id = ${workspaceId} and again_at <= now() order by again_at limit ${againMax}`.execute(
      db,
    )
    const ids = [...new Set([...portion.ids, ...again.map(({ id }) => id)])]
    return {
      position,
      portion,
      companies,
      ids,
      found: ids.length > 0 ? await findDocuments({ db }, workspaceId, ids, companies) : [],
    }
  })
  const { changes, unread } = await readFacts(found)
  if (unread.length > 0)
    ctx.log.warn(
      { workspaceId, chaves: unread.map(({ question }) => question?.chave) },
      'documents could not be read to be judged',
    )
  const judging: Judging = { asOf, companies }
  return inWorkspace<Within, number[]>({ db: ctx.db, log: ctx.log }, workspaceId, async (inside) => {
    const { db, log } = inside
    const { rows } = await sql`
      select from alert_position where workspace_id = ${workspaceId} and lease_until = ${lease}::timestamptz for update`.execute(
      db,
    )
    if (rows.length === 0) return []
    if (ids.length > 0)
      await sql`delete from alert_unjudged where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(
        db,
      )
    for (const untried of [true, false])
      await noteUnjudged(
        db,
        workspaceId,
        unread.filter((one) => one.untried === untried),
        { soon: untried },
      )
    await together(
      inside,
      changes,
      (some) => putFacts(inside, workspaceId, some),
      async ({ documentId, companyId }, err) => {
        log.error({ err, workspaceId, documentId }, 'a document cannot be judged')
        await noteUnjudged(db, workspaceId, [{ documentId, companyId }])
      },
    )
    // What has just come does not wait for what it touched.
    await judgeThese(inside, workspaceId, { ...judging, silent: portion.walked === true }, ids)
    // What is due while older documents are read is most likely one of these.
    const judged = await judgeDue(inside, workspaceId, { ...judging, silent: position.walkedType !== null }, judgedMax)
    let { reviewedId } = position
    if (reviewedId !== null && judged < judgedMax)
      reviewedId = await judgeAfter(inside, workspaceId, { ...judging, silent: true }, reviewedId, judgedMax)
    // What people decided has this turn come, and they may see some companies only: here all are counted.
    if (portion.ids.length === 0) await downgradeRules(inside, workspaceId)
    const { next } = portion
    const more = portion.more || judged === judgedMax || reviewedId !== null
    await sql`
      update alert_position
         set version = ${next.version}, walked_type = ${next.walkedType}, walked_at = ${next.walkedAt}::timestamp, walked_id = ${next.walkedId},
             -- A rule that was switched meanwhile has its own beginning.
             reviewed_id = case when reviewed_id is not distinct from ${position.reviewedId}::bigint then ${reviewedId}::bigint else reviewed_id end,
             lease_until = null, served_at = clock_timestamp(),
             next_at = case when ${more} or reviewed_id is distinct from ${position.reviewedId}::bigint then now() else coalesce(
               least((select min(greatest(again_at, now())) from alert_fact where workspace_id = ${workspaceId} and again_at is not null),
                     (select min(greatest(again_at, now())) from alert_unjudged where workspace_id = ${workspaceId})), 'infinity') end
       where workspace_id = ${workspaceId}`.execute(db)
    if (portion.walked) return []
    return [...new Set(found.flatMap(({ companyId, question }) => (question ? companyId : [])))]
  })
}

/** Lets a turn go that failed, for a while. */
export async function postponeTurn(ctx: WithDatabase, { workspaceId, lease }: Turn, waitMs: number): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    sql`
      update alert_position set lease_until = ${fromNow(waitMs)}
       where workspace_id = ${workspaceId} and lease_until = ${lease}::timestamptz`.execute(db),
  )
}

async function readPosition({ db }: WithDatabase, workspaceId: number): Promise<Position> {
  const { rows } = await sql<Position>`
    select version::float8 as version, walked_type as "walkedType", walked_at::text as "walkedAt", walked_id as "walkedId", reviewed_id as "reviewedId"
      from alert_position where workspace_id = ${workspaceId}`.execute(db)
  return rows[0]!
}

async function nextPortion({ db }: WithDatabase, workspaceId: number, position: Position): Promise<Portion> {
  const { rows: given } = await sql<{ newest: number; forgotten: number }>`
    select version::float8 as newest, forgotten::float8 as forgotten from change_position where workspace_id = ${workspaceId}`.execute(
    db,
  )
  const { newest, forgotten } = given[0] ?? { newest: 0, forgotten: 0 }
  // What followed is not kept any more: everything is read again, and then what changed from now on.
  if (position.version < forgotten || position.version > newest)
    return {
      ids: [],
      next: { ...position, version: newest, walkedType: 0, walkedAt: '-infinity', walkedId: 0n },
      more: true,
    }
  // What changes is judged before what was there before: people look at it first.
  const { rows: changes } = await sql<{ version: number; id: bigint }>`
    select version::float8 as version, document_id as id from document_change
     where workspace_id = ${workspaceId} and version > ${position.version} order by version limit ${readMax + 1}`.execute(
    db,
  )
  const page = changes.slice(0, readMax)
  const isWalking = position.walkedType !== null
  if (page.length > 0 || newest > position.version) {
    const more = changes.length > readMax
    const version = more ? page.at(-1)!.version : newest
    return { ids: page.map(({ id }) => id), next: { ...position, version }, more: more || isWalking }
  }
  if (!isWalking) return { ids: [], next: position, more: false }
  const { rows: older } = await sql<{ id: bigint; at: string }>`
    select id, issued_at::text as at from document
     where workspace_id = ${workspaceId} and type = ${position.walkedType}
       and (issued_at, id) > (${position.walkedAt}::timestamp, ${position.walkedId}) order by issued_at, id limit ${readMax}`.execute(
    db,
  )
  const last = older.at(-1)
  const next =
    older.length === readMax
      ? { ...position, walkedAt: last!.at, walkedId: last!.id }
      : position.walkedType === 0
        ? { ...position, walkedType: 2, walkedAt: '-infinity', walkedId: 0n }
        : { ...position, walkedType: null, walkedAt: null, walkedId: null }
  return { ids: older.map(({ id }) => id), next, more: next.walkedType !== null, walked: true }
}

/** What of a workspace is not judged yet. */
export interface Backlog {
  /** Older documents are being read. */
  building: boolean
  /** Changes and documents that wait, counted up to `backlogMax`. */
  waiting: number
  since: Date | null
}

export const backlogMax = 10_000

/** How far behind the verdicts of a workspace are; `ctx.db` is inside it. */
export async function readBacklog({ db }: WithDatabase, workspaceId: number): Promise<Backlog> {
  const { rows } = await sql<{
    building: boolean | null
    changes: number
    older: number
    due: number
    since: Date | null
    begun: boolean
  }>`
    select coalesce(a.walked_type is not null or a.reviewed_id is not null, false) as building, a.workspace_id is not null as begun,
           least(coalesce(p.version - a.version, 0), ${backlogMax})::int as changes,
           case when a.walked_type is null then 0 else
             (select count(*)::int from (
                (select from document d where d.workspace_id = ${workspaceId} and d.type = a.walked_type
                    and (d.issued_at, d.id) > (a.walked_at, a.walked_id) limit ${backlogMax})
                union all
                (select from document d where d.workspace_id = ${workspaceId} and a.walked_type = 0 and d.type = 2 limit ${backlogMax})) x) end as older,
           (select count(*)::int from (select from alert_fact f where f.workspace_id = ${workspaceId} and f.again_at = '-infinity' limit ${backlogMax}) x)
             + (select count(*)::int from (select from alert_unjudged u where u.workspace_id = ${workspaceId} limit ${backlogMax}) x) as due,
           (select c.at from document_change c where c.workspace_id = ${workspaceId} and c.version > a.version order by c.version limit 1) as since
      from (select ${workspaceId}::int as id) w
      left join alert_position a on a.workspace_id = w.id
      left join change_position p on p.workspace_id = w.id`.execute(db)
  const { building, begun, changes, older, due, since } = rows[0]!
  if (!begun) {
    const { rows: any } = await sql<{ n: number }>`
      select count(*)::int as n from (select from document where workspace_id = ${workspaceId} limit ${backlogMax}) x`.execute(
      db,
    )
    return { building: any[0]!.n > 0, waiting: any[0]!.n, since: null }
  }
  return { building: building === true, waiting: Math.min(backlogMax, changes + older + due), since }
}

/** Holds the position of a workspace, so that nothing is judged meanwhile, and has what becomes due judged soon. `ctx.db` is a transaction inside it. */
export async function holdPosition({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await sql`update alert_position set next_at = now() where workspace_id = ${workspaceId}`.execute(db)
}
