import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator, readWorkspace } from '../platform/database.ts'

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

const batchSize = 5_000
const toldMax = 100

/** Compares every entry of a workspace with its digest. */
export async function checkAudit(ctx: WithDatabase, workspaceId: number): Promise<ChainCheck> {
  const found: ChainCheck = { entries: 0, unchained: 0, broken: [], digest: null }
  for (let last = 0n; ; ) {
    const [after, previous] = [last, found.digest]
    const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
      sql<{ id: bigint; at: Date; digest: string | null; fits: boolean }>`
        select id, at, encode(hash, 'hex') as digest,
               coalesce(hash = audit_digest(coalesce(lag(hash) over (order by id), decode(${previous}, 'hex')),
                                            workspace_id, at, account_id, actor, action, description, address), false) as fits
          from audit where workspace_id = ${workspaceId} and id > ${after} order by id limit ${batchSize}`.execute(db),
    )
    for (const { id, at, digest, fits } of rows) {
      found.entries++
      if (digest === null && found.digest === null) found.unchained++
      // What follows a changed entry is compared with what that says of itself: only the changed one is told.
      else if (!fits && found.broken.length < toldMax) found.broken.push({ id, at })
      found.digest = digest ?? found.digest
      last = id
    }
    if (rows.length < batchSize) return found
  }
}

/** Checks the audit of every workspace, oldest workspace first. */
export async function* checkAudits(ctx: WithDatabase): AsyncGenerator<AuditCheck> {
  const workspaces = await asOperator(ctx, ({ db }) =>
    db.selectFrom('workspace').select(['id', 'public_id as publicId']).orderBy('id').execute(),
  )
  for (const { id, publicId } of workspaces) yield { publicId, ...(await checkAudit(ctx, id)) }
}
