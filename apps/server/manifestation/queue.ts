import { ufs } from '@vigia/dfe/uf'
import { cteEventUrl } from '@vigia/sefaz/endpoints'
import { type RawBuilder, sql } from 'kysely'
import { conclusive } from '../documents/documents.ts'
import { addressOf, pausedServices } from '../platform/circuit.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { type Service, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'

/** Events of one author that leave together, held by this process while the lease lasts. */
export interface Batch {
  leaseBy: string
  workspaceId: number
  companyId: number
  service: Service
  cnpj: string
  /** Where they go. */
  url: string
  events: QueuedEvent[]
}

export interface QueuedEvent {
  id: bigint
  documentId: bigint
  chave: string
  tpEvento: number
  sequence: number
  /** It left before, and nobody knows what became of it. */
  isUnknown: boolean
  justification: string | null
  corrections: unknown
  requestedAt: Date
  failures: number
  /** The bytes that left, or would have. */
  signedXml: string | null
  /** Of the last answer. */
  cStat: number | null
  /** When its author last registered one that takes its place; looked up when it is made ready. */
  rivalAt: Date | null
}

// NT 2020.001: a lote has twenty events at most; an authoriser of CT-e takes one.
const eventsMax: Record<Service, number> = { nfe: 20, cte: 1 }

// A claim lives longer than the longest answer may take.
const leaseAnswers = 2.5

/** `e` is an unsettled event before `o` about the same document. A final answer does not wait for a Ciência, which says less. */
export const comesBefore = sql`e.workspace_id = o.workspace_id and e.company_id = o.company_id and e.chave = o.chave and e.id < o.id
  and e.state in ('waiting', 'sending') and not (e.tp_evento = 210210 and o.tp_evento = any (${conclusive}::int[]))`

/** For `b` the authority blocked the author of `o`. */
export const blocksAuthor = sql`b.cnpj = o.cnpj and b.type = o.type and b.state in ('waiting', 'sending')
  and b.c_stat in (656, 678) and b.next_at > now()`

// A person waits for the answer, a switch does not.
const turn = sql`o.requested_by is null, o.next_at, o.id`
// Answered, and unknown all the same: it was in a lote that was rejected as a whole.
const leavesAlone = sql`(o.state = 'sending' and o.c_stat is not null)`

/**
 * Takes what has waited longest of the events that may leave now: none to a paused service, none of an author of whom others are under way or
 * whom the authority blocked, and none before an earlier one about the same document is settled. Null when there is nothing.
 */
export async function claimBatch(ctx: Pick<Context, 'db' | 'config'>): Promise<Batch | null> {
  const { sefaz } = ctx.config
  const leaseBy = crypto.randomUUID()
  const leaseMs = Math.round(leaseAnswers * sefaz.answerMs)
  const reachable = reachableCondition(ctx.config, await pausedServices(ctx))
  const ready = sql`o.state in ('waiting', 'sending') and o.next_at <= now() and (o.lease_until is null or o.lease_until < now())
     and ${reachable}
     and not exists (select 1 from outgoing_event e where ${comesBefore})
     and not exists (select 1 from outgoing_event b where ${blocksAuthor})
     and not exists (select 1 from outgoing_event b
                      where b.cnpj = o.cnpj and b.type = o.type and b.state in ('waiting', 'sending') and b.lease_until > now())`
  return inCapture(ctx, async ({ db }) => {
    // Two claims at once would not see each other's authors.
    await sql`select pg_advisory_xact_lock(7316011, 0)`.execute(db)
    const { rows } = await sql<
      QueuedEvent & { workspaceId: number; companyId: number; type: ServiceCode; cnpj: string }
    >`
      with first as (
        select o.workspace_id, o.company_id, o.type, o.id, ${leavesAlone} as alone
          from outgoing_event o where ${ready} order by ${turn} limit 1 for update of o skip locked),
      chosen as (
        select o.workspace_id, o.id
          from outgoing_event o join first f on f.workspace_id = o.workspace_id and f.company_id = o.company_id and f.type = o.type
         where ${ready} and (o.id = f.id or not f.alone and not ${leavesAlone})
         order by ${turn}
         limit (select case type when ${serviceCodes.nfe}::int then ${eventsMax.nfe}::int else ${eventsMax.cte}::int end from first)
           for update of o skip locked)
      update outgoing_event o set lease_by = ${leaseBy}, lease_until = ${fromNow(leaseMs)}
        from chosen c where o.workspace_id = c.workspace_id and o.id = c.id
      returning o.workspace_id as "workspaceId", o.company_id as "companyId", o.type, o.cnpj, o.id, o.document_id as "documentId",
                o.chave, o.tp_evento as "tpEvento", o.sequence, o.state = 'sending' as "isUnknown", o.justification, o.corrections,
                o.requested_at as "requestedAt", o.failures, o.signed_xml as "signedXml", o.c_stat as "cStat", null as "rivalAt"`.execute(
      db,
    )
    const [head] = rows
    if (!head) return null
    const { workspaceId, companyId, cnpj } = head
    const service = serviceOf(head.type)
    const url = urlOf(ctx.config, service, head.chave)
    const events = rows.sort((a, b) => (a.id < b.id ? -1 : 1))
    return { leaseBy, workspaceId, companyId, service, cnpj, url, events }
  })
}

/** The web service that takes the events about a document. */
export function urlOf({ sefaz }: Context['config'], service: Service, chave: string): string {
  return service === 'nfe' ? sefaz.endpoints.manifestation : cteEventUrl(sefaz.endpoints, chave)
}

function reachableCondition(config: Context['config'], paused: string[]): RawBuilder<boolean> {
  if (paused.length === 0) return sql`true`
  const isPaused = (url: string) => paused.includes(addressOf(url))
  const unreachableUfs = ufs.map(({ code }) => String(code)).filter((code) => isPaused(urlOf(config, 'cte', code)))
  const nfe = !isPaused(config.sefaz.endpoints.manifestation)
  return sql`(case o.type when ${serviceCodes.nfe}::int then ${nfe}::boolean else left(o.chave, 2) <> all (${unreachableUfs}::text[]) end)`
}

/** Lets events of a batch that did not leave go, to be claimed again after `waitMs`. */
export async function releaseEvents(
  ctx: Pick<Context, 'db'>,
  { leaseBy }: Pick<Batch, 'leaseBy'>,
  events: readonly QueuedEvent[],
  waitMs: number,
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    for (const { id, isUnknown } of events) {
      await db
        .updateTable('outgoing_event')
        .set({
          state: isUnknown ? 'sending' : 'waiting',
          lease_by: null,
          lease_until: null,
          next_at: fromNow(waitMs),
          ...(isUnknown ? {} : { sent_at: null }),
        })
        .where('id', '=', id)
        .where('lease_by', '=', leaseBy)
        .execute()
    }
  })
}

/** Lets a batch go whose sending broke off for a reason of ours; each time it rests longer. What may have left stays unknown. */
export async function postponeBroken(
  ctx: Pick<Context, 'db' | 'config'>,
  { leaseBy }: Pick<Batch, 'leaseBy'>,
): Promise<void> {
  const waitMs = Math.round(ctx.config.sefaz.hourMs / 6)
  await inCapture(ctx, ({ db }) =>
    sql`update outgoing_event
           set message = ${broken}, lease_by = null, lease_until = null, failures = least(failures + 1, 1000),
               next_at = now() + ${waitMs} * interval '1 ms' * power(2, least(failures, 6))
         where lease_by = ${leaseBy}`.execute(db),
  )
}

const broken =
  'Não conseguimos enviar este evento por uma falha nossa, que foi anotada para quem cuida do servidor. Ele continua na fila e é tentado de novo sozinho.'

/** The database's clock, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
