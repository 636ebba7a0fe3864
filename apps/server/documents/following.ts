import { families } from '@vigia/dfe/families/all'
import { sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { queueJob } from '../platform/jobs/jobs.ts'

// How a job follows what changes in a workspace: a table of its own keeps how far it came. What is new goes before what was there when it began.

/** A kind of jobs, one of each workspace, and its table of positions. */
export interface Follower {
  kind: 'contents'
  table: 'content_position'
}

/** Up to where a follower came: by version, and among the documents that were there before by type, date of issue and id; null: all of them. */
export interface Position {
  version: number
  walkedType: number | null
  walkedAt: string | null
  walkedId: bigint | null
}

const types = families.map(({ code }) => code).sort((a, b) => a - b)

/** Start of a walk through all documents. */
export const walkStart = { walkedType: types[0]!, walkedAt: '-infinity', walkedId: 0n }

/** Documents that are read next, and where the position stands after it. */
export interface Portion {
  ids: bigint[]
  next: Position
  more: boolean
  /** They were here before: nothing waits for them. */
  walked: boolean
  /** A walk through all documents has ended. */
  ended: boolean
}

/** How far a follower came in the workspace of `db`; null: it has never been there. */
export async function readPosition(db: Database, { table }: Follower, workspaceId: number): Promise<Position | null> {
  const { rows } = await sql<Position>`
    select version::float8 as version, walked_type as "walkedType", walked_at::text as "walkedAt", walked_id as "walkedId"
      from ${sql.table(table)} where workspace_id = ${workspaceId}`.execute(db)
  return rows[0] ?? null
}

/** Has a follower begin in a workspace, with all documents before it. Returns whether there is anything to follow. */
export async function beginPosition(ctx: WithDatabase, { table }: Follower, workspaceId: number): Promise<boolean> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { numAffectedRows } = await sql`
      insert into ${sql.table(table)} (workspace_id, version, walked_type, walked_at, walked_id)
      select p.workspace_id, p.version, ${walkStart.walkedType}, ${walkStart.walkedAt}, ${walkStart.walkedId} from change_position p where p.workspace_id = ${workspaceId}
      on conflict do nothing`.execute(db)
    return numAffectedRows === 1n
  })
}

/** Keeps others from writing what a follower makes of the documents of a workspace until the transaction `db` ends. */
export async function lockPosition(db: Database, { table }: Follower, workspaceId: number): Promise<void> {
  // A rebuild holds position and documents for long: who follows them comes again later.
  await sql`set local lock_timeout = '5s'`.execute(db)
  await sql`select from ${sql.table(table)} where workspace_id = ${workspaceId} for update`.execute(db)
}

/** Queues the job of a follower that is behind in a workspace although no change queued it, as one that a new version brings. */
export async function queueWhenBehind(
  ctx: WithDatabase,
  { kind, table }: Follower,
  workspaceId: number,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql`
      select from change_position p where p.workspace_id = ${workspaceId}
         and not exists (select from ${sql.table(table)} a where a.workspace_id = p.workspace_id and a.version >= p.version)`.execute(
      db,
    )
    if (rows.length > 0) await queueJob({ db }, { kind, workspaceId })
  })
}

/** How long it takes until the first row of these tables is due (`again_at`), in milliseconds; null: none waits. */
export async function readWait(db: Database, workspaceId: number, tables: readonly string[]): Promise<number | null> {
  const firsts = tables.map(
    (table) =>
      sql`select min(again_at) as at from ${sql.table(table)} where workspace_id = ${workspaceId} and again_at < 'infinity'`,
  )
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from greatest(min(at), now()) - now())::float8 * 1000 as ms from (${sql.join(firsts, sql` union all `)}) f
    having min(at) is not null`.execute(db)
  return rows[0]?.ms ?? null
}

/** The next documents, `max` at most. */
export async function nextPortion(
  db: Database,
  workspaceId: number,
  position: Position,
  max: number,
): Promise<Portion> {
  const portion = { ids: [], walked: false, ended: false }
  const { rows: given } = await sql<{ newest: number; forgotten: number }>`
    select version::float8 as newest, forgotten::float8 as forgotten from change_position where workspace_id = ${workspaceId}`.execute(
    db,
  )
  const { newest, forgotten } = given[0] ?? { newest: 0, forgotten: 0 }
  const restart = { version: newest, ...walkStart }
  // Later changes are not kept any more: read everything again, and then the changes from now on.
  if (position.version < forgotten || position.version > newest) return { ...portion, next: restart, more: true }
  // Changes come before the walk through older documents: people look at them first.
  const { rows: changes } = await sql<{ version: number; id: bigint }>`
    select version::float8 as version, document_id as id from document_change
     where workspace_id = ${workspaceId} and version > ${position.version} order by version limit ${max + 1}`.execute(
    db,
  )
  const page = changes.slice(0, max)
  const isWalking = position.walkedType !== null
  if (page.length > 0 || newest > position.version) {
    const more = changes.length > max
    const version = more ? page.at(-1)!.version : newest
    return { ...portion, ids: page.map(({ id }) => id), next: { ...position, version }, more: more || isWalking }
  }
  if (!isWalking) return { ...portion, next: position, more: false }
  const { rows: older } = await sql<{ id: bigint; at: string }>`
    select id, issued_at::text as at from document
     where workspace_id = ${workspaceId} and type = ${position.walkedType}
       and (issued_at, id) > (${position.walkedAt}::timestamp, ${position.walkedId}) order by issued_at, id limit ${max}`.execute(
    db,
  )
  const last = older.at(-1)
  const nextType = types.find((type) => type > position.walkedType!) ?? null
  const next =
    older.length === max
      ? { ...position, walkedAt: last!.at, walkedId: last!.id }
      : { ...position, ...walkStart, walkedType: nextType }
  const ended = next.walkedType === null
  return { ids: older.map(({ id }) => id), next, more: !ended, walked: true, ended }
}

/** Backlog of a follower, counted up to `behindMax`. */
export interface Behind {
  /** It has never been in this workspace. */
  begun: boolean
  /** Documents that were there before are being read. */
  walking: boolean
  changes: number
  older: number
  /** When the first change happened that waits. */
  since: Date | null
}

export const behindMax = 10_000

/** How far behind a follower is in a workspace; `db` is inside it. */
export async function readBehind(db: Database, { table }: Follower, workspaceId: number): Promise<Behind> {
  const { rows } = await sql<Behind>`
    select a.workspace_id is not null as begun, a.walked_type is not null as walking,
           least(coalesce(p.version - a.version, 0), ${behindMax})::int as changes,
           case when a.workspace_id is null then (select count(*)::int from (select from document d where d.workspace_id = ${workspaceId} limit ${behindMax}) x)
                when a.walked_type is null then 0 else
             (select least(count(*), ${behindMax})::int from (
                (select from document d where d.workspace_id = ${workspaceId} and d.type = a.walked_type
                    and (d.issued_at, d.id) > (a.walked_at, a.walked_id) limit ${behindMax})
                union all
                (select from document d where d.workspace_id = ${workspaceId} and d.type > a.walked_type limit ${behindMax})) x) end as older,
           (select c.at from document_change c where c.workspace_id = ${workspaceId} and c.version > a.version order by c.version limit 1) as since
      from (select ${workspaceId}::int as id) w
      left join ${sql.table(table)} a on a.workspace_id = w.id
      left join change_position p on p.workspace_id = w.id`.execute(db)
  return rows[0]!
}
