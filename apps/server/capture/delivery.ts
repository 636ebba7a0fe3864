import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { sql } from 'kysely'
import { type Arrival, damagedProblem, ownNsuOf } from '../documents/arrival.ts'
import { readApart } from '../documents/reading/reading.ts'
import { listReceipts, type ReceiveResult, receive } from '../documents/receive.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { announce } from '../platform/outbox.ts'
import { type Service, serviceOf } from '../platform/service.ts'
import type { Arrived } from './announcements.ts'
import { type CaptureLine, changeLine, releaseLine } from './lease.ts'
import type { Delivered, Question } from './source.ts'

type DeliveryContext = Pick<Context, 'db' | 'log' | 'config'>

/** A company that receives what a line brings, and up to which NSU it has it. */
interface Subscriber {
  workspaceId: number
  companyId: number
  deliveredNsu: bigint
  /** Nothing is delivered to a company whose certificate may be forged. */
  proved: boolean
  /** Neither trial nor plan of its workspace lasts. */
  paused: boolean
}

export async function listSubscribers({ db }: WithDatabase, line: Pick<CaptureLine, 'id'>): Promise<Subscriber[]> {
  const { rows } = await sql<Subscriber>`
    select workspace_id as "workspaceId", company_id as "companyId", delivered_nsu as "deliveredNsu", paused,
           proved_at is not null as proved
      from capture_subscription where line_id = ${line.id} order by workspace_id, company_id`.execute(db)
  return rows
}

/** Reads the documents of a response, within a part of the lease. One without NSU gets the position of the question. */
export async function readArrivals(
  ctx: Pick<Context, 'log'>,
  { cnpj, leaseMs }: Pick<CaptureLine, 'cnpj' | 'leaseMs'>,
  question: Question,
  documents: readonly Delivered[],
): Promise<Arrival[]> {
  const asked = 'at' in question ? question.at : null
  const page = documents.map(({ nsu, ...one }) => ({ ...one, nsu: nsu ?? asked ?? ownNsuOf(one.content) }))
  const arrivals = await readApart(ctx, page, { pack: true, cnpj, withinMs: Math.min(10_000, leaseMs / 4) })
  return Promise.all(arrivals.map(findDamage))
}

/** The positions whose bytes arrived damaged: the authority may have them whole. */
export function damagedPositions(arrivals: Arrival[]): bigint[] {
  return arrivals.filter(({ nsu, problem }) => nsu > 0n && problem === damagedProblem).map(({ nsu }) => nsu)
}

// A thread that died or was late says nothing; whether the bytes are whole must be known before the page is stored. Off the event loop.
async function findDamage(arrival: Arrival): Promise<Arrival> {
  if (arrival.againMs === undefined) return arrival
  try {
    await promisify(gunzip)(arrival.content, { maxOutputLength: 20_000_000 })
    return arrival
  } catch (error) {
    // It holds more than anybody reads, and is no less whole.
    if (error instanceof RangeError) return arrival
    return { ...arrival, againMs: undefined, problem: damagedProblem }
  }
}

// Proved, unpaused subscribers. If all of these lag, paused ones at the cursor too, to be copied from.
function keepersOf(all: Subscriber[], cursor: bigint): Subscriber[] {
  const proved = all.filter((one) => one.proved)
  const receiving = proved.filter((one) => !one.paused)
  if (receiving.some((one) => one.deliveredNsu === cursor)) return receiving
  return proved.filter((one) => !one.paused || one.deliveredNsu === cursor)
}

/** Gives a page to each subscriber that stands where it begins; the others catch up. `ctx.db` is a transaction of the capture. */
export async function deliverPage(
  ctx: DeliveryContext,
  line: CaptureLine,
  arrivals: Arrival[],
  { before, after, more }: { before: bigint; after: bigint; more: boolean },
): Promise<void> {
  const all = await listSubscribers(ctx, line)
  const here = keepersOf(all, before).filter((one) => one.deliveredNsu === before)
  let isBelow0 = false
  for (const subscriber of here)
    if (await deliver(ctx, line, subscriber, { arrivals, deliveredNsu: after, more })) isBelow0 = true
  // Subscribers that catch up would miss what is stored below 0: they begin again at 0.
  if (isBelow0) await beginAnew(ctx, line, all, here)
}

/** Delivers late documents to all that may receive; the others begin anew at 0 once they may. `ctx.db` is a transaction of the capture. */
export async function deliverLate(
  ctx: DeliveryContext,
  line: Pick<CaptureLine, 'id' | 'service' | 'cnpj' | 'lastNsu'>,
  arrivals: Arrival[],
): Promise<void> {
  if (arrivals.length === 0) return
  const all = await listSubscribers(ctx, line)
  const keepers = keepersOf(all, line.lastNsu)
  for (const subscriber of keepers) {
    await enterWorkspace(ctx, subscriber.workspaceId)
    const received = await receive(ctx, { ...subscriber, cnpj: line.cnpj }, serviceOf(line.service), arrivals)
    // More documents follow, one by one, seconds apart.
    await announceArrival(ctx, line, subscriber, received, true)
  }
  await beginAnew(ctx, line, all, keepers)
}

// A subscriber that was left out copies everything again from a keeper; documents that it has already change nothing.
async function beginAnew(ctx: DeliveryContext, line: Pick<CaptureLine, 'id'>, all: Subscriber[], given: Subscriber[]) {
  for (const subscriber of all.filter((one) => !given.includes(one))) await noteDelivered(ctx, line, subscriber, 0n)
}

const copyAtOnce = 200
const beforeAll = -(2n ** 63n)

// After this many other lines have their turn.
const copyingsMax = 20

/** Copies pages to workspaces that joined the line later, because the authority does not send them again, and releases the line. */
export async function copyToOthers(ctx: DeliveryContext, line: CaptureLine, signal?: AbortSignal): Promise<void> {
  for (let times = 0; times < copyingsMax && !signal?.aborted; times++) if (!(await copySome(ctx, line))) break
  // To the end of the queue.
  await releaseLine(ctx, line, { catch_up_at: sql<Date>`now()` })
}

/** Copies to one workspace, paused or not, all that another one received of a held line. */
export async function copyUntilComplete(
  ctx: DeliveryContext,
  line: CaptureLine,
  workspaceId: number,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await copySome(ctx, line, (one) => one.workspaceId === workspaceId)));
}

// Returns whether there was anything to copy.
async function copySome(
  ctx: DeliveryContext,
  line: CaptureLine,
  isWanted = (one: Subscriber) => !one.paused,
): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    // Renews the lease and locks the line: no subscriber is paused or resumed until the transaction ends.
    await changeLine(ctx, line, {})
    const all = (await listSubscribers(ctx, line)).filter((one) => one.proved)
    const behind = all.find((one) => isWanted(one) && one.deliveredNsu < line.lastNsu)
    const complete = all.filter((one) => one.deliveredNsu === line.lastNsu)
    const source = complete.find((one) => !one.paused) ?? complete[0]
    if (!behind || !source) return false
    await enterWorkspace(ctx, source.workspaceId)
    const copies = await listReceipts(
      ctx,
      source,
      serviceOf(line.service),
      behind.deliveredNsu === 0n ? beforeAll : behind.deliveredNsu,
      copyAtOnce,
    )
    const arrivals = await readApart(ctx, copies, { patient: true, pack: true, cnpj: line.cnpj })
    const more = copies.length === copyAtOnce
    // One that came by chave may have a position that the line has not reached.
    const last = copies[copies.length - 1]?.nsu ?? line.lastNsu
    const deliveredNsu = more && last < line.lastNsu ? last : line.lastNsu
    await deliver(ctx, line, behind, { arrivals, deliveredNsu, more })
    return true
  })
}

// Returns whether documents were stored below 0.
async function deliver(
  ctx: DeliveryContext,
  line: CaptureLine,
  to: Subscriber,
  { arrivals, deliveredNsu, more }: { arrivals: Arrival[]; deliveredNsu: bigint; more: boolean },
): Promise<boolean> {
  await enterWorkspace(ctx, to.workspaceId)
  const received =
    arrivals.length > 0 ? await receive(ctx, { ...to, cnpj: line.cnpj }, serviceOf(line.service), arrivals) : null
  await announceArrival(ctx, line, to, received, more)
  await noteDelivered(ctx, line, to, deliveredNsu)
  return received?.below0 ?? false
}

async function announceArrival(
  { db, config: { sefaz } }: DeliveryContext,
  line: Pick<CaptureLine, 'service'>,
  { workspaceId, companyId }: Subscriber,
  received: Pick<ReceiveResult, 'inserted' | 'completed'> | null,
  more: boolean,
): Promise<void> {
  const { inserted, completed } = received ?? { inserted: 0, completed: 0 }
  const service = serviceOf(line.service)
  // An empty last page is announced too where happenings of earlier pages wait for a page without `more`.
  if (inserted + completed === 0 && (more || !(await goesOn({ db }, workspaceId, companyId, service)))) return
  const payload: Arrived = { service, inserted, completed, more }
  const waitMs = more ? sefaz.pagePauseMs + sefaz.answerMs : undefined
  await announce({ db }, workspaceId, { what: 'captura-concluida', companyId, payload, waitMs })
}

async function goesOn(
  { db }: WithDatabase,
  workspaceId: number,
  companyId: number,
  service: Service,
): Promise<boolean> {
  const { rows } = await sql`
    select from happening
     where workspace_id = ${workspaceId} and what = 'captura-concluida' and company_id = ${companyId}
       and payload ->> 'service' = ${service} and payload ->> 'more' = 'true' limit 1`.execute(db)
  return rows.length > 0
}

async function noteDelivered(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Subscriber,
  deliveredNsu: bigint,
): Promise<void> {
  await sql`
    update capture_subscription set delivered_nsu = ${deliveredNsu}
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
}
