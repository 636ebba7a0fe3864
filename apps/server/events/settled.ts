import { sql } from 'kysely'
import { noteChanges } from '../documents/changes.ts'
import type { WithDatabase } from '../platform/context.ts'
import { announce } from '../platform/outbox.ts'
import type { EventResults } from './announcements.ts'
import type { Batch } from './queue.ts'

/** Tells who follows the workspace that events are settled: registered, rejected or unconfirmed. `ctx.db` is the transaction that settles them. */
export function noteSettled(
  ctx: WithDatabase,
  workspaceId: number,
  events: readonly { id: bigint; documentId: bigint }[],
): void {
  noteChanges(
    ctx,
    workspaceId,
    events.map(({ id, documentId }) => ({ documentId, kind: 'answered', eventId: id })),
  )
}

const moreToFollowMs = 15_000

export async function announceResults(
  { db }: WithDatabase,
  { workspaceId, companyId }: Batch,
  payload: EventResults,
): Promise<void> {
  if (payload.registered + payload.refused + payload.unconfirmed === 0) return
  const { rows } = await sql<{ more: boolean }>`
    select exists (select 1 from outgoing_event
                    where workspace_id = ${workspaceId} and company_id = ${companyId} and state in ('waiting', 'sending')
                      and next_at <= now()) as more`.execute(db)
  const waitMs = rows[0]?.more ? moreToFollowMs : undefined
  await announce({ db }, workspaceId, { what: 'manifestacao-resultado', companyId, payload, waitMs })
}
