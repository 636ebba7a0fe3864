import { sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { asOperator, beforeCommit, inWorkspace } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { queueJob } from '../platform/jobs/jobs.ts'

// The change feed (docs/decisions/0033), for programs, webhooks and alerts. Open pages are told by
// platform/outbox.ts. Who changes a document notes it here, and gets its version before the commit.

/** A document is new, its complete XML came, an event changed what it shows, it was cancelled, an answer of ours to it was settled. */
export type ChangeKind = 'new' | 'completed' | 'standing' | 'cancelled' | 'answered'

export const changeCodes: Record<ChangeKind, number> = { new: 1, completed: 2, standing: 3, cancelled: 4, answered: 5 }

/** A change as its author notes it. */
interface NotedChange {
  documentId: bigint
  companyId: number
  kind: ChangeKind
  /** The settled event of `answered`. */
  eventId?: bigint
}

const notedIn = new WeakMap<Database, Map<number, NotedChange[]>>()

/** Notes changes of documents of a workspace, in their order. `ctx.db` is the transaction that makes them. */
export function noteChanges({ db }: WithDatabase, workspaceId: number, changes: readonly NotedChange[]): void {
  if (changes.length === 0) return
  const noted = notedIn.get(db) ?? new Map<number, NotedChange[]>()
  notedIn.set(db, noted)
  const known = noted.get(workspaceId)
  if (known) return void known.push(...changes)
  const all = [...changes]
  noted.set(workspaceId, all)
  beforeCommit({ db }, { lock: 'changes', workspaceId }, () => write({ db }, workspaceId, all))
}

// Changes of so long are told to other programs together.
const togetherMs = 200

// Takes all versions with one update, whose row stays locked until the commit, so that versions become visible in their
// order. A statement of its own, because Citus would send a joint one to all servers.
async function write({ db }: WithDatabase, workspaceId: number, noted: readonly NotedChange[]): Promise<void> {
  const { rows } = await sql<{ version: bigint }>`
    insert into change_position as p (workspace_id, version) values (${workspaceId}, ${noted.length})
    on conflict (workspace_id) do update set version = p.version + excluded.version
    returning version`.execute(db)
  await sql`
    insert into document_change (workspace_id, version, at, kind, document_id, company_id, event_id)
    select ${workspaceId}, ${rows[0]!.version}::bigint - ${noted.length} + n.place, clock_timestamp(), n.kind, n.document_id, n.company_id, n.event_id
      from unnest(${noted.map(({ kind }) => changeCodes[kind])}::smallint[], ${noted.map(({ documentId }) => documentId)}::bigint[],
                  ${noted.map(({ companyId }) => companyId)}::int[], ${noted.map(({ eventId }) => eventId ?? null)}::bigint[])
                 with ordinality n (kind, document_id, company_id, event_id, place)
    returning version`.execute(db)
  await queueJob({ db }, { kind: 'alerts', workspaceId })
  // It is queued as long as the workspace has webhooks.
  await sql`
    update job set run_at = least(run_at, ${fromNow(togetherMs)}) where kind = 'webhook-feed' and workspace_id = ${workspaceId}`.execute(
    db,
  )
}

/**
 * Lifts the version of each workspace to the milliseconds of now, because programs may know versions that were given after the copy from which
 * the database came back. No workspace has had as many changes as milliseconds have passed.
 */
export async function liftVersions(ctx: WithDatabase): Promise<void> {
  const workspaces = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  for (const { id } of workspaces)
    await inWorkspace(ctx, id, async ({ db }) => {
      await sql`
        insert into change_position as p (workspace_id, version) values (${id}, extract(epoch from now()) * 1000)
        on conflict (workspace_id) do update set version = greatest(p.version, excluded.version)`.execute(db)
      await queueJob({ db }, { kind: 'alerts', workspaceId: id })
    })
}
