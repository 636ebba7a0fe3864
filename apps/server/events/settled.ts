import { conclusive } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import { noteChanges } from '../documents/changes.ts'
import { decideDue, type Sent } from '../documents/decide-due.ts'
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

interface SentEvent {
  id: bigint
  tpEvento: number
  sequence: number
  state: 'asked' | 'waiting' | 'sending' | 'registered' | 'unconfirmed'
  /** It is registered, or another one is: whether that of another system stands is unknown, but some final answer does. */
  stands: boolean
  by: number | null
}

function sentOf(events: readonly SentEvent[]): Sent {
  const left = events.filter(({ state, stands }) => stands || state === 'waiting' || state === 'sending')
  const own = left.map(({ tpEvento, sequence, stands }) => ({ tpEvento, sequence, pending: !stands }))
  const asked = events.findLast(({ state }) => state === 'asked')
  const last = events.at(-1)
  return {
    own_answers: own.length > 0 ? own : null,
    answered: events.some(({ tpEvento }) => conclusive.includes(tpEvento)),
    asked: asked?.tpEvento ?? null,
    asked_by: asked?.by ?? null,
    unconfirmed: last?.state === 'unconfirmed' ? last.tpEvento : null,
  }
}

/** Writes what left from here into its documents and decides what is due to them, in the transaction `ctx.db` that changed it. */
export async function writeAnswers(
  { db }: WithDatabase,
  workspaceId: number,
  about: readonly { documentId: bigint }[],
): Promise<void> {
  const ids = about.map(({ documentId }) => documentId)
  if (ids.length === 0) return
  const { rows } = await sql<SentEvent>`
    select o.document_id as id, o.tp_evento as "tpEvento", o.sequence, o.state, o.requested_by as by,
           (o.state = 'registered' or o.state = 'unconfirmed' and o.c_stat is not null) as stands
      from outgoing_event o
     where o.workspace_id = ${workspaceId} and o.document_id = any (${ids}::bigint[]) and o.state <> 'rejected'
     order by o.id`.execute(db)
  const events = Map.groupBy(rows, ({ id }) => id)
  const sent = ids.map((id) => [id, sentOf(events.get(id) ?? [])] as const)
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
