import { families } from '@vigia/dfe/families/all'
import { ciencia, conclusive } from '@vigia/dfe/families/nfe'
import type { SignedEvent } from '@vigia/sefaz/events'
import { type RawBuilder, sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { claimInTurn, claimRows, fromNow, type Lane } from '../platform/jobs/claim.ts'
import { holdLock } from '../platform/locks.ts'
import { type Service, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'
import { addressOf, findOutage, outageSentence, pausedServices } from '../sefaz/circuit.ts'
import { areEventsHeld, findHold } from './hold.ts'
import { protocols } from './protocols.ts'

/** Events of one author that leave together, held by this process while the lease lasts. */
export interface Batch {
  leaseBy: string
  /** Whether the lease still lasts for a query and its response, by the clocks of this process. */
  lasts(): boolean
  workspaceId: number
  companyId: number
  service: Service
  cnpj: string
  url: string
  events: QueuedEvent[]
}

export interface QueuedEvent {
  id: bigint
  documentId: bigint
  chave: string
  tpEvento: number
  sequence: number
  /** It may have left: it was sent, or the database may be a copy (hold.ts). */
  isUnknown: boolean
  /** Still unknown a day after the first sending, in spite of retries. */
  isOverdue: boolean
  justification: string | null
  corrections: unknown
  /** Null: no person did, a rule or a switch. */
  requestedBy: number | null
  requestedAt: Date
  failures: number
  /** Its signed bytes; null: not signed yet, or forgotten by a hold. */
  signedXml: string | null
  /** Status of the last response. */
  cStat: number | null
  /** Time when its author last registered an event that replaces it; read when the event is prepared. */
  rivalAt: Date | null
}

/** An event whose signed bytes are stored and that is marked as being sent. */
export interface ReadyEvent {
  event: QueuedEvent
  signed: SignedEvent
}

// A lease lasts longer than the slowest response may take.
const leaseAnswers = 2.5

// `e` is an unsettled event before `o` about the same document. A final answer does not wait for a Ciência, which says less.
const comesBefore = sql`e.workspace_id = o.workspace_id and e.company_id = o.company_id and e.chave = o.chave and e.id < o.id
  and e.state in ('waiting', 'sending') and not (e.tp_evento = ${ciencia} and o.tp_evento = any (${conclusive}::int[]))`

// `b` is an event for which the authority blocked its author.
const blocksAuthor = sql`(b.state in ('waiting', 'sending') and b.c_stat in (656, 678) and b.next_at > now())`

const turn = sql`o.requested_by is null, o.next_at, o.id`
// Events of persons and those of rules, written as in the index of due rows, which `is not null` would not use.
const kindsOfTurn = [sql`(o.requested_by is null) is false`, sql`(o.requested_by is null) is true`]
// Unknown although there was a response: it was in a lote that was rejected as a whole.
const leavesAlone = sql`(o.state = 'sending' and o.c_stat is not null)`

const table = sql`outgoing_event o`
const key = ['workspace_id', 'id']
const unknownHours = 24
// Citus takes no now() in what a claim returns.
const overdueBefore = ({ hourMs }: Context['config']['sefaz']) => new Date(Date.now() - unknownHours * hourMs)
const returningOf = ({
  sefaz,
}: Context['config']) => sql`o.workspace_id as "workspaceId", o.company_id as "companyId", o.type, o.cnpj, o.id, o.document_id as "documentId",
  o.chave, o.tp_evento as "tpEvento", o.sequence, o.state = 'sending' as "isUnknown",
  (o.state = 'sending' and o.failures > 0 and o.sent_at < ${overdueBefore(sefaz)}) as "isOverdue", o.justification, o.corrections,
  o.requested_by as "requestedBy", o.requested_at as "requestedAt", o.failures, o.signed_xml as "signedXml", o.c_stat as "cStat", null as "rivalAt",
  ${leavesAlone} as "leavesAlone"`
interface ClaimedEvent extends QueuedEvent {
  workspaceId: number
  companyId: number
  type: ServiceCode
  cnpj: string
  leavesAlone: boolean
}

/** Claims the events of one author that may be sent now and have waited longest; null when there are none or they are held. */
export async function claimBatch(ctx: WithConfig): Promise<Batch | null> {
  const { sefaz } = ctx.config
  const leaseBy = crypto.randomUUID()
  const leaseMs = Math.round(leaseAnswers * sefaz.answerMs)
  const lastsUntil = Date.now() + leaseMs - sefaz.answerMs
  const isUp = reachableCondition(ctx.config, await pausedServices(ctx))
  return inCapture(ctx, async ({ db }) => {
    const mayLeave = sql`o.state in ('waiting', 'sending') and o.next_at <= now() and ${isUp} and not ${areEventsHeld}
       and not exists (select 1 from outgoing_event e where ${comesBefore})`
    // Mostly nothing is due, and to plan the statement of the claim costs more than to look.
    const { rows } = await sql`
      select from outgoing_event where state in ('waiting', 'sending') and next_at <= now() limit 1`.execute(db)
    if (rows.length === 0) return null
    // One claim at a time: two would not see each other's authors.
    await holdLock({ db }, 'eventClaims')
    const laneOf = (due: RawBuilder<unknown>): Lane => ({ due, order: turn, set: sql`lease_by = ${leaseBy}` })
    const claim = { table, key, leaseMs, returning: returningOf(ctx.config) }
    // Authors are those of all workspaces, which may be on different servers: so they are looked up first.
    const { rows: authors } = await sql<Author>`
      select b.cnpj, b.type, bool_or(${blocksAuthor}) as blocked from outgoing_event b
       where (b.state in ('waiting', 'sending') and b.lease_until > now() or ${blocksAuthor})
       group by b.cnpj, b.type`.execute(db)
    const isNotBlocked = isNoneOf(authors.filter(({ blocked }) => blocked))
    // Events that a person requested come first: the person waits for the response.
    const first = await claimInTurn<ClaimedEvent>(db, {
      kind: 'event',
      ...claim,
      lanes: kindsOfTurn.map((kind) => ({
        ...laneOf(sql`${kind} and ${mayLeave} and ${isNoneOf(authors)}`),
        maybeDue: sql`${kind} and o.state in ('waiting', 'sending') and o.next_at <= now()`,
      })),
    })
    if (!first) return null
    const { workspaceId, companyId, type, cnpj } = first
    const service = serviceOf(type)
    const { eventsMax } = protocols[service]
    // Without the first: now() of another Citus server is later, so its new lease may look expired there.
    const sameAuthor = sql`o.workspace_id = ${workspaceId} and o.company_id = ${companyId} and o.type = ${type} and o.id <> ${first.id}`
    const others =
      first.leavesAlone || eventsMax === 1
        ? []
        : await claimRows<ClaimedEvent>(
            db,
            laneOf(sql`${sameAuthor} and ${mayLeave} and ${isNotBlocked} and not ${leavesAlone}`),
            claim,
            eventsMax - 1,
          )
    const url = eventUrl(ctx.config, service, first.chave)
    const events = [first, ...others].sort((a, b) => (a.id < b.id ? -1 : 1))
    return { leaseBy, lasts: () => Date.now() < lastsUntil, workspaceId, companyId, service, cnpj, url, events }
  })
}

interface Author {
  cnpj: string
  type: ServiceCode
  /** By the authority; otherwise a batch of it is under way. */
  blocked: boolean
}

function isNoneOf(authors: readonly Author[]): RawBuilder<unknown> {
  const services = Object.values(serviceCodes).map((code) => {
    const those = authors.filter(({ type }) => type === code).map(({ cnpj }) => cnpj)
    return sql`o.type = ${code}::int and o.cnpj = any (${those}::text[])`
  })
  return sql`not (${sql.join(services, sql` or `)})`
}

function eventUrl({ sefaz }: Context['config'], service: Service, chave: string): string {
  return protocols[service].url(sefaz.endpoints, chave)
}

function reachableCondition(config: Context['config'], paused: string[]): RawBuilder<boolean> {
  if (paused.length === 0) return sql`true`
  const isPaused = (url: string) => paused.includes(addressOf(url))
  const each = families.map(
    ({ id, code }) => sql`when ${code}::int then ${protocols[id].isUp(config.sefaz.endpoints, isPaused)}`,
  )
  return sql`(case o.type ${sql.join(each, sql` `)} end)`
}

/** Releases events of a batch that were not sent, to be claimed again after `waitMs`. */
export async function releaseEvents(
  ctx: WithDatabase,
  { workspaceId, leaseBy }: Pick<Batch, 'workspaceId' | 'leaseBy'>,
  events: readonly QueuedEvent[],
  waitMs: number,
): Promise<void> {
  const unknown = events.flatMap(({ id, isUnknown }) => (isUnknown ? id : []))
  await inCapture(ctx, ({ db }) =>
    sql`
      update outgoing_event
         set state = case when id = any (${unknown}::bigint[]) then 'sending' else 'waiting' end, lease_by = null, lease_until = null,
             next_at = ${fromNow(waitMs)}, sent_at = case when id = any (${unknown}::bigint[]) then sent_at end
       where workspace_id = ${workspaceId} and id = any (${events.map(({ id }) => id)}::bigint[]) and lease_by = ${leaseBy}`.execute(
      db,
    ),
  )
}

/** Releases a batch whose sending failed for a reason of ours; each time it waits longer. Events that may have been sent stay unknown. */
export async function postponeFailed(
  ctx: WithConfig,
  { workspaceId, leaseBy }: Pick<Batch, 'workspaceId' | 'leaseBy'>,
): Promise<void> {
  const waitMs = Math.round(ctx.config.sefaz.hourMs / 6)
  await inCapture(ctx, ({ db }) =>
    sql`update outgoing_event
           set message = ${failedHere}, lease_by = null, lease_until = null, failures = least(failures + 1, 1000),
               next_at = (now() at time zone 'UTC' + ${waitMs} * interval '1 ms' * power(2, least(failures, 6))) at time zone 'UTC'
         where workspace_id = ${workspaceId} and lease_by = ${leaseBy}`.execute(db),
  )
}

const failedHere =
  'Não conseguimos enviar este evento por uma falha nossa, que foi anotada para quem cuida do servidor. Ele continua na fila e é tentado de novo sozinho.'

interface Holdup {
  /** Not before this. */
  until: Date
  message: string
}

interface HoldupRow {
  id: bigint
  type: ServiceCode
  chave: string
  dueAt: Date
  blockedUntil: Date | null
  behindUntil: Date | null
}

const blocked =
  'A SEFAZ bloqueou por uma hora os envios deste CNPJ (consumo indevido). Enviar agora só aumentaria a espera: o evento sai sozinho depois.'
const behind = 'Na fila, depois de um evento anterior sobre o mesmo documento que ainda não teve resposta da SEFAZ.'
const isHeld =
  'Nenhuma manifestação sai até uma pessoa conferir e liberar o envio, em “Aprovações pendentes”. Esta continua na fila.'
const leavesLater = 'O evento continua na fila e sai sozinho quando ele responder.'

/** Finds why events do not leave at their time: hold, outage, blocked CNPJ, earlier event of the document. */
export async function findHoldups(
  ctx: WithConfig,
  workspaceId: number,
  ids: readonly bigint[],
): Promise<Map<bigint, Holdup>> {
  if (ids.length === 0) return new Map()
  const { rows } = await inCapture(ctx, ({ db }) =>
    sql<HoldupRow>`
      with blocked as materialized (
        select b.cnpj, b.type, max(b.next_at) as until from outgoing_event b where ${blocksAuthor} group by b.cnpj, b.type)
      select o.id, o.type, o.chave, greatest(o.next_at, now()) as "dueAt", b.until as "blockedUntil",
             (select max(e.next_at) from outgoing_event e where e.workspace_id = ${workspaceId} and ${comesBefore}) as "behindUntil"
        from outgoing_event o left join blocked b on b.cnpj = o.cnpj and b.type = o.type
       where o.workspace_id = ${workspaceId} and o.id = any (${ids}::bigint[]) and o.state in ('waiting', 'sending')
         and (o.lease_until is null or o.lease_until < now())`.execute(db),
  )
  const urlOfRow = ({ type, chave }: HoldupRow) => eventUrl(ctx.config, serviceOf(type), chave)
  // The end of a hold is unknown.
  const held = await findHold(ctx)
  if (held) return new Map(rows.map(({ id, dueAt }) => [id, { until: dueAt, message: `${held.why} ${isHeld}` }]))
  const outages = new Map<string, Holdup>()
  for (const url of new Set(rows.map(urlOfRow))) {
    const outage = await findOutage(ctx, url)
    if (outage) outages.set(url, { until: outage.until, message: outageSentence(outage, leavesLater) })
  }
  return new Map(
    rows.flatMap((row) => {
      const holdups = [
        outages.get(urlOfRow(row)),
        row.blockedUntil && { until: row.blockedUntil, message: blocked },
        row.behindUntil && { until: row.behindUntil, message: behind },
      ]
      const last = holdups
        .filter((holdup): holdup is Holdup => !!holdup && holdup.until > row.dueAt)
        .sort((a, b) => b.until.getTime() - a.until.getTime())[0]
      return last ? [[row.id, last]] : []
    }),
  )
}
