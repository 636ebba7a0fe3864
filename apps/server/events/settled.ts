import type { OwnAnswer } from '@vigia/dfe/families/family'
import { sql } from 'kysely'
import { noteChanges } from '../documents/changes.ts'
import { decideDue } from '../documents/decide-due.ts'
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

// Whether another system's event stands is unknown, but some final answer does.
const isAnswered = sql`(o.state = 'registered' or o.state = 'unconfirmed' and o.c_stat is not null)`

/** Writes what left from here into its documents and decides what is due to them, in the transaction `ctx.db` that changed it. */
export async function writeAnswers(
  { db }: WithDatabase,
  workspaceId: number,
  about: readonly { documentId: bigint }[],
): Promise<void> {
  const ids = about.map(({ documentId }) => documentId)
  if (ids.length === 0) return
  const { rows } = await sql<OwnAnswer & { id: bigint }>`
    select o.document_id as id, o.tp_evento as "tpEvento", o.sequence, not ${isAnswered} as pending
      from outgoing_event o
     where o.workspace_id = ${workspaceId} and o.document_id = any (${ids}::bigint[])
       and (${isAnswered} or o.state in ('waiting', 'sending'))
     order by o.id`.execute(db)
  const answers = Map.groupBy(rows, ({ id }) => id)
  const sent = ids.map((id) => [id, (answers.get(id) ?? []).map(({ id: _, ...answer }) => answer)] as const)
  await decideDue({ db }, workspaceId, new Date(), new Map(sent))
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
