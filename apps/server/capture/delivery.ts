import { createHash } from 'node:crypto'
import { type DistributionAnswer, unzipDocument } from '@vigia/sefaz/distribution'
import { DocumentTooLargeError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { type Arrival, type DocZip, listReceipts, type Received, readPage, receive } from '../documents/documents.ts'
import { announce } from '../notifications/notifications.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { serviceOf } from '../platform/service.ts'
import type { Arrived } from './announcements.ts'
import { holdLine, LeaseLost, type Line, releaseLine } from './lease.ts'

type DeliveryContext = Pick<Context, 'db' | 'log' | 'config'>

/** Who receives what a line brings, and up to which NSU it has. */
export interface Subscriber {
  workspaceId: number
  companyId: number
  deliveredNsu: bigint
  /** Nothing is delivered to a company whose certificate may be made up. */
  proved: boolean
  /** Neither trial nor plan of its workspace lasts. */
  paused: boolean
}

/** The subscribers of a line; `ctx.db` is a transaction of the capture. */
export async function listSubscribers({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>): Promise<Subscriber[]> {
  return db
    .selectFrom('capture_subscription')
    .select(['workspace_id as workspaceId', 'company_id as companyId', 'delivered_nsu as deliveredNsu', 'paused'])
    .select(sql<boolean>`proved_at is not null`.as('proved'))
    .where('line_id', '=', line.id)
    .orderBy('workspace_id')
    .orderBy('company_id')
    .execute()
}

/** The documents of an answer, read, each with a place of its own. */
export function readArrivals(answer: Pick<DistributionAnswer, 'documents'>): Arrival[] {
  const page = new Map<bigint, DocZip>()
  for (const { nsu, schema, content } of answer.documents) {
    const wanted = nsu === null ? null : BigInt(nsu)
    // Without an NSU, or with one that another document of the page has, the content itself says where it stands.
    const place = wanted === null || page.has(wanted) ? placeOf(content) : wanted
    page.set(place, { nsu: place, schema, content })
  }
  return readPage([...page.values()])
}

// Below all NSUs, and the same for the same bytes.
function placeOf(content: Buffer): bigint {
  return -1n - (createHash('sha256').update(content).digest().readBigUInt64BE() >> 2n)
}

/** The positions whose bytes were damaged on the way: the authority may have them whole. */
export function damagedPositions(arrivals: Arrival[]): bigint[] {
  return arrivals.filter((arrival) => arrival.nsu > 0n && isDamaged(arrival)).map((arrival) => arrival.nsu)
}

function isDamaged({ facts, content }: Arrival): boolean {
  if (facts) return false
  try {
    unzipDocument(content)
    return false
  } catch (error) {
    return !(error instanceof DocumentTooLargeError)
  }
}

// Somebody always stands at the cursor of a line and has all that it brought: from him the others catch up. Whoever is paused receives
// nothing, unless he is the only one who can be that.
function keepersOf(all: Subscriber[], cursor: bigint): Subscriber[] {
  const proved = all.filter((one) => one.proved)
  const receiving = proved.filter((one) => !one.paused)
  if (receiving.some((one) => one.deliveredNsu === cursor)) return receiving
  return proved.filter((one) => !one.paused || one.deliveredNsu === cursor)
}

/** Gives a page to every subscriber that stands where the page begins; the others catch up. `ctx.db` is a transaction of the capture. */
export async function deliverPage(
  ctx: DeliveryContext,
  line: Line,
  arrivals: Arrival[],
  { before, after, more }: { before: bigint; after: bigint; more: boolean },
): Promise<void> {
  const all = await listSubscribers(ctx, line)
  const here = keepersOf(all, before).filter((one) => one.deliveredNsu === before)
  for (const subscriber of here) await deliver(ctx, line, subscriber, { arrivals, deliveredNsu: after, more })
  // What has no position of its own does not lie between those where they stand and the cursor.
  if (arrivals.some(({ nsu }) => nsu <= 0n)) await beginAnew(ctx, line, all, here)
}

/**
 * Gives documents of positions that were passed long ago to all who may receive; the others begin anew when they do again. `ctx.db` is a
 * transaction of the capture.
 */
export async function deliverLate(ctx: DeliveryContext, line: Line, arrivals: Arrival[]): Promise<void> {
  if (arrivals.length === 0) return
  const all = await listSubscribers(ctx, line)
  const keepers = keepersOf(all, line.lastNsu)
  for (const subscriber of keepers) {
    await enterWorkspace(ctx, subscriber.workspaceId)
    const fitting = await besideDamaged(ctx, line, subscriber, arrivals)
    const received = await receive(ctx, { ...subscriber, cnpj: line.cnpj }, serviceOf(line.service), fitting)
    // They come one by one, seconds apart.
    await announceArrival(ctx, line, subscriber, received, true)
  }
  await beginAnew(ctx, line, all, keepers)
}

// Who was left out gets everything again from somebody who has it: what is there already changes nothing.
async function beginAnew(ctx: DeliveryContext, line: Line, all: Subscriber[], given: Subscriber[]): Promise<void> {
  for (const subscriber of all.filter((one) => !given.includes(one))) await noteDelivered(ctx, line, subscriber, 0n)
}

// What was received never changes: a whole copy of what came damaged stands at a place of its own, and a second damaged one nowhere.
async function besideDamaged(
  { db }: DeliveryContext,
  line: Line,
  { workspaceId, companyId }: Subscriber,
  arrivals: Arrival[],
): Promise<Arrival[]> {
  const rows = await db
    .selectFrom('receipt')
    .select(['nsu', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .where('service', '=', line.service)
    .where(
      'nsu',
      'in',
      arrivals.map((arrival) => arrival.nsu),
    )
    .execute()
  const held = new Map(rows.map((row) => [row.nsu, row.content]))
  return arrivals
    .filter((arrival) => !held.has(arrival.nsu) || !isDamaged(arrival))
    .map((arrival) => {
      const content = held.get(arrival.nsu)
      return content && !content.equals(arrival.content) ? { ...arrival, nsu: placeOf(arrival.content) } : arrival
    })
}

const copyAtOnce = 200
const beforeAll = -(2n ** 63n)

// Then other lines have their turn.
const copyingsMax = 20

/**
 * A workspace that joined an ongoing conversation gets what another one already received: the authority does not repeat it. Returns whether
 * there may be more.
 */
export async function catchUp(ctx: DeliveryContext, line: Line, signal?: AbortSignal): Promise<boolean> {
  for (let times = 0; times < copyingsMax && !signal?.aborted; times++) if (!(await copySome(ctx, line))) return false
  return true
}

/**
 * Brings somebody who receives to where the next page begins, when only the paused stand there: they would have to keep it for him. Returns
 * false when that takes longer than a turn.
 */
export async function bringForward(ctx: DeliveryContext, line: Line, signal: AbortSignal): Promise<boolean> {
  const all = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  const receiving = all.filter((one) => one.proved && !one.paused)
  if (receiving.some((one) => one.deliveredNsu === line.lastNsu)) return true
  try {
    return !(await catchUp(ctx, line, signal))
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    ctx.log.error({ err: error, cnpj: line.cnpj }, 'copies failed; somebody who is paused keeps what comes')
    return true
  }
}

/** Carries out one turn of a line that was claimed for copies. */
export async function copyToOthers(ctx: DeliveryContext, line: Line, signal: AbortSignal): Promise<void> {
  await catchUp(ctx, line, signal)
  // To the end of the queue.
  await inCapture(ctx, (ctx) => holdLine(ctx, line, { catch_up_at: sql<Date>`now()` }))
  await releaseLine(ctx, line, null)
}

// Returns whether there was anything to copy.
async function copySome(ctx: DeliveryContext, line: Line): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    // Whoever is paused or goes on meanwhile has done so before, or does it afterwards.
    await holdLine(ctx, line, {})
    const all = (await listSubscribers(ctx, line)).filter((one) => one.proved)
    const behind = all.find((one) => !one.paused && one.deliveredNsu < line.lastNsu)
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
    const arrivals = readPage(copies)
    const more = copies.length === copyAtOnce
    const deliveredNsu = more ? copies[copies.length - 1]!.nsu : line.lastNsu
    await deliver(ctx, line, behind, { arrivals, deliveredNsu, more })
    return true
  })
}

async function deliver(
  ctx: DeliveryContext,
  line: Line,
  to: Subscriber,
  { arrivals, deliveredNsu, more }: { arrivals: Arrival[]; deliveredNsu: bigint; more: boolean },
): Promise<void> {
  await enterWorkspace(ctx, to.workspaceId)
  if (arrivals.length > 0) {
    const received = await receive(ctx, { ...to, cnpj: line.cnpj }, serviceOf(line.service), arrivals)
    await announceArrival(ctx, line, to, received, more)
  }
  await noteDelivered(ctx, line, to, deliveredNsu)
}

async function announceArrival(
  { db, config: { sefaz } }: DeliveryContext,
  line: Pick<Line, 'service'>,
  { workspaceId, companyId }: Subscriber,
  { inserted, completed }: Received,
  more: boolean,
): Promise<void> {
  if (inserted + completed === 0) return
  const payload: Arrived = { service: serviceOf(line.service), inserted, completed, more }
  const waitMs = more ? sefaz.pagePauseMs + sefaz.answerMs : undefined
  await announce({ db }, workspaceId, { what: 'captura-concluida', companyId, payload, waitMs })
}

async function noteDelivered(
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  { workspaceId, companyId }: Subscriber,
  deliveredNsu: bigint,
): Promise<void> {
  await db
    .updateTable('capture_subscription')
    .set({ delivered_nsu: deliveredNsu })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .execute()
}
