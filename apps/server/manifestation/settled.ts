import { noteChanges } from '../changes/changes.ts'
import type { WithDatabase } from '../platform/context.ts'

/** Tells who follows the workspace that events are settled, registered or rejected. `ctx.db` is the transaction that settles them. */
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
