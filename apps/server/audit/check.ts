import type { AuditAction } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator, readWorkspace } from '../platform/database.ts'

/** An entry as people read it. */
export interface AuditEntry {
  at: Date
  actor: string
  action: AuditAction
  description: string
  address: string | null
  /** A file that was read again within an hour is one entry. */
  times: number
}

/** What the chain of a workspace shows. */
interface ChainCheck {
  entries: number
  /** Written before entries were chained: nothing shows whether they are as they were. */
  unchained: number
  /** Entries that are not as they were written, that follow a missing one, or that nobody chained; the first hundred. */
  broken: { id: bigint; at: Date }[]
  /** Of the last entry. Kept elsewhere, it shows later whether entries were cut off at the end. */
  digest: string | null
}

/** What the chain of a workspace with this public id shows. */
export interface AuditCheck extends ChainCheck {
  publicId: string
}

interface PartCheck extends ChainCheck {
  broken: (AuditEntry & { id: bigint })[]
  /** The last entry that was compared. */
  last: { id: bigint; at: Date } | null
  /** There may be entries after it. */
  more: boolean
}

const batchSize = 5_000
// So many broken entries are named.
const brokenToldMax = 100

/** Compares entries of a workspace with their digests, oldest first: all of them, or `entriesMax` of those after the entry `after`. */
export async function checkAudit(
  ctx: WithDatabase,
  workspaceId: number,
  { after = 0n, entriesMax = Number.POSITIVE_INFINITY }: { after?: bigint; entriesMax?: number } = {},
): Promise<PartCheck> {
  const found: PartCheck = {
    entries: 0,
    unchained: 0,
    broken: [],
    digest: after === 0n ? null : await findDigest(ctx, workspaceId, after),
    last: null,
    more: false,
  }
  for (;;) {
    const limit = Math.min(batchSize, entriesMax - found.entries)
    const batch = await readBatch(ctx, workspaceId, found.last?.id ?? after, found.digest, limit)
    found.entries += batch.entries
    found.unchained += batch.unchained
    found.broken.push(...batch.broken.slice(0, brokenToldMax - found.broken.length))
    found.digest = batch.digest ?? found.digest
    found.last = batch.last ?? found.last
    if (batch.entries < limit) return found
    if (found.entries >= entriesMax) return { ...found, more: true }
  }
}

// The digest that entries after this one are chained to.
async function findDigest(ctx: WithDatabase, workspaceId: number, id: bigint): Promise<string | null> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ digest: string }>`
      select encode(hash, 'hex') as digest from audit
       where workspace_id = ${workspaceId} and id <= ${id} and hash is not null order by id desc limit 1`.execute(db),
  )
  return rows[0]?.digest ?? null
}

interface BatchRow {
  entries: number
  unchained: number
  brokenIds: string[] | null
  digest: string | null
  lastId: bigint | null
  lastAt: Date | null
}

// The database compares and counts, so that nothing but the result passes through the event loop. What follows a changed entry is compared with
// what that says of itself: only the changed one is told.
function readBatch(ctx: WithDatabase, workspaceId: number, after: bigint, previous: string | null, limit: number) {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<BatchRow>`
      with part as (
        select id, at, hash,
               hash is null and ${previous}::text is null and not bool_or(hash is not null) over (order by id) as unchained,
               coalesce(hash = audit_digest(coalesce(lag(hash) over (order by id), decode(${previous}, 'hex')),
                                            workspace_id, at, account_id, actor, action, description, address), false) as fits
          from (select * from audit where workspace_id = ${workspaceId} and id > ${after} order by id limit ${limit}) a)
      select count(*)::int as entries, (count(*) filter (where unchained))::int as unchained,
             (array_agg(id order by id) filter (where not fits and not unchained))[1:${brokenToldMax}::int]::text[] as "brokenIds",
             encode((array_agg(hash order by id desc) filter (where hash is not null))[1], 'hex') as digest,
             max(id) as "lastId", (array_agg(at order by id desc))[1] as "lastAt"
        from part`.execute(db)
    const { brokenIds, lastId, lastAt, ...counts } = rows[0]!
    const broken = brokenIds
      ? await db
          .selectFrom('audit')
          .select(['id', 'at', 'actor', 'action', 'description', 'address', 'times'])
          .where('workspace_id', '=', workspaceId)
          .where('id', 'in', brokenIds.map(BigInt))
          .orderBy('id')
          .execute()
      : []
    // Only `recordAudit` writes an action.
    return {
      ...counts,
      broken: broken as PartCheck['broken'],
      last: lastId === null || lastAt === null ? null : { id: lastId, at: lastAt },
    }
  })
}

/** Checks the audit of every workspace, oldest workspace first. */
export async function* checkAudits(ctx: WithDatabase): AsyncGenerator<AuditCheck> {
  const workspaces = await asOperator(ctx, ({ db }) =>
    db.selectFrom('workspace').select(['id', 'public_id as publicId']).orderBy('id').execute(),
  )
  for (const { id, publicId } of workspaces) yield { publicId, ...(await checkAudit(ctx, id)) }
}
