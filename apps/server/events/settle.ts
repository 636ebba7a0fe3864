import { gzipSync } from 'node:zlib'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import { conclusive } from '@vigia/dfe/families/nfe'
import { sql, type UpdateObject } from 'kysely'
import { ownNsuOf } from '../documents/arrival.ts'
import { noteChanges } from '../documents/changes.ts'
import { readApart } from '../documents/reading/reading.ts'
import { findXml, receive } from '../documents/receive.ts'
import { type Sent, writeDue } from '../documents/write-due.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { announce } from '../platform/outbox.ts'
import { serviceCodes } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import { chavesNamed, type EventResults } from './announcements.ts'
import { type Consequence, letterOfOthers, registrationTime, replacedByEqual } from './protocols/outcome.ts'
import type { Said } from './protocols/protocol.ts'
import { protocols } from './protocols.ts'
import type { Batch, QueuedEvent, ReadyEvent } from './queue.ts'

export interface Outcome {
  ready: ReadyEvent
  consequence: Consequence
  /** Absent when no response came. */
  said?: Said | undefined
}

/** Stores the outcome of a sending in one transaction. Events that another process took are left to it. Returns whether one is registered. */
export async function settle(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  batch: Batch,
  outcomes: readonly Outcome[],
): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    await enterWorkspace(ctx, batch.workspaceId)
    const { receipt } = protocols[batch.service]
    const written: WrittenEvent[] = []
    const kept: string[] = []
    for (const outcome of outcomes) {
      const { ready, said } = outcome
      const consequence = await reconsider(ctx, batch, outcome)
      const change = columnsOf(ctx, { ready, said, consequence })
      if (!(await changeLeased(ctx, batch, ready.event, change))) continue
      written.push({ event: ready.event, state: change.state })
      if (consequence.keeps && said?.xml) kept.push(receipt.write(ready.signed, { xml: said.xml }))
    }
    const block = outcomes.find((one) => one.consequence.blocksAuthor)
    if (block) await holdBack(ctx, batch, block.consequence)
    await announceResults(ctx, batch, written)
    if (kept.length > 0) await deliverEvents(ctx, batch, kept)
    // `refreshDocuments` locks our company. Before the deliveries, which lock companies in ascending
    // order, it could deadlock.
    await enterWorkspace(ctx, batch.workspaceId)
    await refreshDocuments(ctx, batch.workspaceId, batch.events)
    return written.some(({ state }) => state === 'registered')
  })
}

// Combines the response with other knowledge about the event.
async function reconsider(ctx: WithDatabase, batch: Batch, outcome: Outcome): Promise<Consequence> {
  const { consequence, ready } = outcome
  if (await isLetterOfOthers(ctx, batch, outcome)) return letterOfOthers(ready.event)
  if (consequence.sequence === undefined) return consequence
  const { rows } = await sql`
    select from outgoing_event
     where workspace_id = ${batch.workspaceId} and company_id = ${batch.companyId} and chave = ${ready.event.chave}
       and tp_evento = ${ready.event.tpEvento} and sequence = ${consequence.sequence}
       and state <> 'rejected'`.execute(ctx.db)
  return rows.length === 0 ? consequence : { state: 'rejected', message: replacedByEqual }
}

// 631: the sequence number is taken, by our letter or another one. A letter that arrived here is compared with ours.
async function isLetterOfOthers(
  { db }: WithDatabase,
  batch: Batch,
  { ready: { event, signed }, consequence, said }: Outcome,
): Promise<boolean> {
  if (said?.cStat !== 631 || event.tpEvento !== cartaCorrecao || consequence.state !== 'registered') return false
  const { rows: letters } = await sql<{ nsu: bigint }>`
    select nsu from document_event
     where workspace_id = ${batch.workspaceId} and company_id = ${batch.companyId} and chave = ${event.chave}
       and tp_evento = ${event.tpEvento} and sequence = ${event.sequence} and rank > 0 and not stated`.execute(db)
  const xml = letters[0] && (await findXml({ db }, batch, batch.service, letters[0].nsu))
  const digest = /<DigestValue>[^<]+/.exec(signed.xml)?.[0] ?? signed.xml
  return xml ? !xml.includes(digest) : false
}

function columnsOf({ config }: Pick<Context, 'config'>, { ready: { event }, consequence, said }: Outcome) {
  const { message, waitHours, countsAlone, sequence } = consequence
  const isAnother = sequence !== undefined
  // An event that an earlier sending may have registered stays unknown until the authority confirms it.
  const state = consequence.state === 'waiting' && event.isUnknown && !isAnother ? 'sending' : consequence.state
  const registeredAt = registrationTime(said ?? {})
  return {
    ...released,
    state,
    message,
    ...(state === 'waiting' && !said && { sent_at: null }),
    ...(isAnother && { sequence, signed_xml: null, sent_at: null }),
    ...(waitHours !== undefined && {
      next_at: fromNow(waitHours * config.sefaz.hourMs),
      failures: Math.min(event.failures + 1, 1000),
    }),
    ...(said && { c_stat: said.cStat, x_motivo: said.xMotivo.slice(0, 1000), answered_at: sql<Date>`now()` }),
    ...(countsAlone && event.cStat !== said?.cStat && { failures: 1 }),
    ...(state === 'registered' && {
      protocol: said?.protocol ?? null,
      registered_at: Number.isNaN(registeredAt) ? null : new Date(registeredAt),
    }),
  }
}

type Change = UpdateObject<Tables, 'outgoing_event'>

/** The lease of an event ends. */
export const released = { lease_by: null, lease_until: null }

/** Changes a leased event and tells who follows the workspace when it is settled. Returns false when another process has it by now. */
export async function changeLeased(
  { db }: WithDatabase,
  { workspaceId, companyId, leaseBy }: Batch,
  { id, documentId }: QueuedEvent,
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outgoing_event')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lease_by', '=', leaseBy)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  if (['registered', 'rejected', 'unconfirmed'].includes(String(change.state)))
    noteSettled({ db }, workspaceId, [{ id, documentId, companyId }])
  return true
}

// The authority blocks the author for all events, from whichever workspace they leave.
async function holdBack(
  { db, config }: WithConfig,
  { cnpj, service }: Batch,
  { message, waitHours = 1 }: Consequence,
): Promise<void> {
  const until = fromNow(waitHours * config.sefaz.hourMs)
  await sql`
    update outgoing_event set message = ${message}, next_at = greatest(next_at, ${until})
     where cnpj = ${cnpj} and type = ${serviceCodes[service]} and state in ('waiting', 'sending')
       and lease_by is null`.execute(db)
}

/** Stores registered events, as XML with the authority's response, for the author and for every other workspace that has proved a certificate of its CNPJ. */
async function deliverEvents(
  ctx: Pick<Context, 'db' | 'log'>,
  { workspaceId, companyId, cnpj, service }: Batch,
  events: readonly string[],
): Promise<void> {
  // The distribution does not bring a company its own events, so they have no NSU.
  const { schema } = protocols[service].receipt
  const page = events.map((xml) => ({ nsu: ownNsuOf(Buffer.from(xml)), schema, content: gzipSync(xml) }))
  const arrivals = await readApart(ctx, page, { pack: true, withinMs: 10_000 })
  await enterWorkspace(ctx, workspaceId)
  const { rows: author } = await sql<{ workspaceId: number; companyId: number }>`
    select workspace_id as "workspaceId", id as "companyId" from company
     where workspace_id = ${workspaceId} and id = ${companyId} and cnpj = ${cnpj}`.execute(ctx.db)
  const { rows: proved } = await sql<{ workspaceId: number; companyId: number }>`
    select s.workspace_id as "workspaceId", s.company_id as "companyId"
      from capture_subscription s join capture_line l on l.id = s.line_id
     where l.service = ${serviceCodes[service]} and l.cnpj = ${cnpj} and s.proved_at is not null`.execute(ctx.db)
  const recipients = [...author, ...proved.filter((one) => one.companyId !== author[0]?.companyId)]
  // Locks the companies always in the same order.
  recipients.sort((a, b) => a.workspaceId - b.workspaceId || a.companyId - b.companyId)
  for (const recipient of recipients) {
    await enterWorkspace(ctx, recipient.workspaceId)
    await receive(ctx, { ...recipient, cnpj }, service, arrivals)
  }
}

/** Tells who follows the workspace that events are settled: registered, rejected or unconfirmed. `ctx.db` is the transaction that settles them. */
export function noteSettled(
  ctx: WithDatabase,
  workspaceId: number,
  events: readonly { id: bigint; documentId: bigint; companyId: number }[],
): void {
  noteChanges(
    ctx,
    workspaceId,
    events.map(({ id, documentId, companyId }) => ({ documentId, companyId, kind: 'answered', eventId: id })),
  )
}

export interface WrittenEvent {
  event: QueuedEvent
  state: Consequence['state']
}

const moreToFollowMs = 15_000

/** Announces the results of a batch. Of automatic events only refused and unconfirmed ones. */
export async function announceResults(
  { db }: WithDatabase,
  { workspaceId, companyId }: Batch,
  written: readonly WrittenEvent[],
): Promise<void> {
  const eventsIn = (wanted: WrittenEvent['state']) =>
    written.flatMap(({ event, state }) => (state === wanted ? event : []))
  const notRegistered = written.filter(({ state }) => state === 'rejected' || state === 'unconfirmed')
  const payload: EventResults = {
    registered: eventsIn('registered').filter(({ requestedBy }) => requestedBy !== null).length,
    refused: eventsIn('rejected').length,
    unconfirmed: eventsIn('unconfirmed').length,
    chaves: notRegistered.slice(0, chavesNamed).map(({ event }) => event.chave),
  }
  if (payload.registered + payload.refused + payload.unconfirmed === 0) return
  const { rows } = await sql<{ more: boolean }>`
    select exists (select 1 from outgoing_event
                    where workspace_id = ${workspaceId} and company_id = ${companyId} and state in ('waiting', 'sending')
                      and next_at <= now()) as more`.execute(db)
  const waitMs = rows[0]?.more ? moreToFollowMs : undefined
  await announce({ db }, workspaceId, { what: 'manifestacao-resultado', companyId, payload, waitMs })
}

interface SentEvent {
  id: bigint
  tpEvento: number
  sequence: number
  state: 'asked' | 'waiting' | 'sending' | 'registered' | 'unconfirmed'
  /** Registered, maybe as an equal event of another system (`unconfirmed` with a cStat): some final answer stands. */
  stands: boolean
  by: number | null
}

/** Writes what left from here into its documents and decides what is due to them, in the transaction `ctx.db` that changed it. */
export async function refreshDocuments(
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
  await writeDue({ db }, workspaceId, new Date(), new Map(sent))
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
