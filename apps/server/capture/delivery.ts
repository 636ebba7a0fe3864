import { createHash } from 'node:crypto'
import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import { type Arrival, listReceipts, readArrival, receive } from '../documents/documents.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { serviceOf } from '../platform/service.ts'
import { holdLine, type Line } from './lease.ts'

type DeliveryContext = Pick<Context, 'db' | 'log'>

/** Who receives what a line brings, and up to which NSU it has. */
export interface Subscriber {
  workspaceId: number
  companyId: number
  deliveredNsu: bigint
  /** Nothing is delivered to a company whose certificate may be made up. */
  proved: boolean
}

/** The subscribers of a line; `ctx.db` is a transaction of the capture. */
export async function listSubscribers({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>): Promise<Subscriber[]> {
  return db
    .selectFrom('capture_subscription')
    .select(['workspace_id as workspaceId', 'company_id as companyId', 'delivered_nsu as deliveredNsu'])
    .select(sql<boolean>`proved_at is not null`.as('proved'))
    .where('line_id', '=', line.id)
    .orderBy('workspace_id')
    .orderBy('company_id')
    .execute()
}

/** The documents of an answer, read, each with a place of its own. */
export function readArrivals(answer: Pick<DistributionAnswer, 'documents'>): Arrival[] {
  const arrivals = new Map<bigint, Arrival>()
  for (const { nsu, schema, content } of answer.documents) {
    const wanted = nsu === null ? null : BigInt(nsu)
    // Without an NSU, or with one that another document of the page has, the content itself says where it stands.
    const place = wanted === null || arrivals.has(wanted) ? placeOf(content) : wanted
    arrivals.set(place, readArrival(place, schema, content))
  }
  return [...arrivals.values()]
}

// Below all NSUs, and the same for the same bytes.
function placeOf(content: Buffer): bigint {
  return -1n - (createHash('sha256').update(content).digest().readBigUInt64BE() >> 2n)
}

/** Gives a page to every subscriber that stands where the page begins; the others catch up. `ctx.db` is a transaction of the capture. */
export async function deliverPage(
  ctx: DeliveryContext,
  line: Line,
  arrivals: Arrival[],
  before: bigint,
  after: bigint,
): Promise<void> {
  for (const subscriber of await listSubscribers(ctx, line)) {
    if (subscriber.proved && subscriber.deliveredNsu === before) await deliver(ctx, line, subscriber, arrivals, after)
  }
}

/** Gives documents of positions that were passed long ago to all who may receive. `ctx.db` is a transaction of the capture. */
export async function deliverLate(ctx: DeliveryContext, line: Line, arrivals: Arrival[]): Promise<void> {
  if (arrivals.length === 0) return
  for (const subscriber of await listSubscribers(ctx, line)) {
    if (!subscriber.proved) continue
    await enterWorkspace(ctx, subscriber.workspaceId)
    await receive(ctx, { ...subscriber, cnpj: line.cnpj }, serviceOf(line.service), arrivals)
  }
}

const copyAtOnce = 200
const beforeAll = -(2n ** 63n)

/** A workspace that joined an ongoing conversation gets what another one already received: the authority does not repeat it. */
export async function catchUp(ctx: DeliveryContext, line: Line): Promise<void> {
  while (await copySome(ctx, line));
}

// Returns whether there was anything to copy.
async function copySome(ctx: DeliveryContext, line: Line): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    const all = (await listSubscribers(ctx, line)).filter((one) => one.proved)
    const behind = all.find((one) => one.deliveredNsu < line.lastNsu)
    const source = all.find((one) => one.deliveredNsu === line.lastNsu)
    if (!behind || !source) return false
    await enterWorkspace(ctx, source.workspaceId)
    const copies = await listReceipts(
      ctx,
      source,
      serviceOf(line.service),
      behind.deliveredNsu === 0n ? beforeAll : behind.deliveredNsu,
      copyAtOnce,
    )
    const arrivals = copies.map((copy) => readArrival(copy.nsu, copy.schema, copy.content))
    await deliver(
      ctx,
      line,
      behind,
      arrivals,
      copies.length < copyAtOnce ? line.lastNsu : copies[copies.length - 1]!.nsu,
    )
    await holdLine(ctx, line, {})
    return true
  })
}

async function deliver(
  ctx: DeliveryContext,
  line: Line,
  to: Subscriber,
  arrivals: Arrival[],
  deliveredNsu: bigint,
): Promise<void> {
  await enterWorkspace(ctx, to.workspaceId)
  if (arrivals.length > 0) await receive(ctx, { ...to, cnpj: line.cnpj }, serviceOf(line.service), arrivals)
  await ctx.db
    .updateTable('capture_subscription')
    .set({ delivered_nsu: deliveredNsu })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', to.workspaceId)
    .where('company_id', '=', to.companyId)
    .execute()
}
