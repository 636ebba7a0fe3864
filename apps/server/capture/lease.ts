import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { claimInTurn, claimRows, fromNow, type Lane } from '../platform/jobs/claim.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { holdLock } from '../platform/locks.ts'
import { announce } from '../platform/outbox.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import type { Changed } from './announcements.ts'
import type { ConversationState, Decision } from './rules.ts'

/** A capture line that this process holds, as it was when it was read: no other process asks for it while the lease lasts. */
export interface CaptureLine extends Readonly<Omit<ConversationState, 'responseLost'>> {
  readonly id: number
  readonly service: ServiceCode
  readonly cnpj: string
  readonly leaseBy: string
  readonly leaseMs: number
  readonly turn: Turn
  /** A person requested a query, and no resting certificate was woken for that yet. */
  readonly wanted: boolean
  /** A query was sent this many milliseconds ago, and its outcome was never written. */
  readonly askedMsAgo: number | null
  /** The query asked for a missing position or note. */
  readonly askedForGap: boolean
  /** The chave of that note. */
  readonly askedChave: string | null
}

type ClaimContext = WithConfig

/** Purpose of a lease; `first`: nothing was ever answered about the line. */
export type Turn = 'first' | 'due' | 'copies' | 'gap' | 'check'

// Gaps and copies must not take the places of turns for new documents.
const shareOfTurn: Readonly<Record<Turn, number>> = { first: 1, due: 1, copies: 1 / 4, gap: 1 / 2, check: 1 }

/** A way to claim a line for one kind of turn. */
interface TurnLane extends Lane {
  turn: Turn
  /** How many turns of this kind may be held for it to be tried, when not as many as there may ever be. */
  heldMax?: number
}

const isTime = sql`next_at <= now() and allowed_at <= now() and (automatic or wanted) and not paused`
// Never while it is blocked, nor while a lost response may have been a block.
const isTimeOfGap = sql`gap_at <= now() and not paused and (state = 'waiting' or allowed_at <= now())`
const hasCopies = sql`catch_up and not paused and catch_up_at <= now()`
const isFree = sql`(lease_until is null or lease_until < now())`

/** Takes the line whose turn it is, or null; `paused`: services that may not be called. Each kind of turn keeps one place. */
export async function claimLine(ctx: ClaimContext, paused: readonly ServiceCode[] = []): Promise<CaptureLine | null> {
  const serves = sql`service <> all(${[...paused]}::smallint[])`
  const isDue = sql`${isTime} and ${serves}`
  const hasGap = sql`${isTimeOfGap} and ${serves}`
  const due: TurnLane = { turn: 'due', due: sql`${isDue} and last_success_at is not null`, order: sql`next_at` }
  const first: TurnLane = { turn: 'first', due: sql`${isDue} and last_success_at is null`, order: sql`next_at` }
  const gap: TurnLane = { turn: 'gap', due: hasGap, order: sql`gap_at` }
  const copies: TurnLane = { turn: 'copies', due: hasCopies, order: sql`catch_up_at` }
  const onlyCopies: TurnLane = { ...copies, due: sql`${hasCopies} and not coalesce(${isDue}, false)` }
  return claim(ctx, [due, first, gap, copies, onlyCopies], ({ first: firsts = 0, due: others = 0 }) => [
    { ...first, heldMax: 1 },
    { ...gap, heldMax: 1 },
    { ...onlyCopies, heldMax: 1 },
    ...(firsts < others ? [first, due] : [due, first]),
    copies,
    gap,
  ])
}

export async function claimOne(ctx: ClaimContext, id: number): Promise<CaptureLine | null> {
  const check: TurnLane = { turn: 'check', due: sql`id = ${id}`, order: sql`id` }
  return claim(ctx, [check], () => [check], 1)
}

/** How long a line is held without a sign of life: longer than the slowest response may take. */
export function leaseMsOf({ sefaz }: Context['config']): number {
  return 2.5 * sefaz.answerMs
}

// `lanesFor` puts `lanes` in an order.
async function claim(
  { db, config }: ClaimContext,
  lanes: readonly TurnLane[],
  lanesFor: (held: Held) => TurnLane[],
  extraPlaces = 0,
): Promise<CaptureLine | null> {
  const leaseBy = crypto.randomUUID()
  const leaseMs = leaseMsOf(config)
  return inCapture({ db }, async ({ db }) => {
    // One claim at a time in all processes: two would see the same free place.
    await holdLock({ db }, 'lineClaims')
    await prepareClaim(db)
    const { held, due } = await survey(db, lanes)
    const places = config.sefaz.conversations
    if (Object.values(held).reduce((sum, count) => sum + count, 0) >= places + extraPlaces) return null
    const open = lanesFor(held).filter(
      (lane) =>
        due[lanes.findIndex((one) => one.due === lane.due)] &&
        (held[lane.turn] ?? 0) < (lane.heldMax ?? Math.max(1, Math.floor(shareOfTurn[lane.turn] * places))),
    )
    for (const { turn, ...lane } of open) {
      const lanes = [{ ...lane, set: sql`lease_by = ${leaseBy}, lease_for = ${turn}` }]
      const which = { table: sql`capture_line`, lanes, leaseMs, returning: lineColumns(config) }
      const inTurn = { kind: turn, ...which, workspaces: receivingWorkspaces, isOf: isReceivedBy }
      const claimed = await (turn === 'check'
        ? claimRows<LineRow, Lane>(db, which)
        : claimInTurn<LineRow, Lane>(db, inTurn))
      if (claimed) return { ...claimed.rows[0]!, turn, leaseBy, leaseMs }
    }
    return null
  })
}

const receivingWorkspaces = (due: RawBuilder<unknown>) => sql`
  select distinct s.workspace_id as id from capture_subscription s
   where not s.paused and s.line_id in (select id from capture_line where ${due})`
const isReceivedBy = (workspaceId: number) => sql`exists (
  select from capture_subscription s where s.line_id = capture_line.id and not s.paused and s.workspace_id = ${workspaceId})`

// Plans by index before the table is analysed. A lost lease harms nobody: nothing is asked before a later commit that is on disk.
async function prepareClaim(db: Context['db']): Promise<void> {
  await sql`select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
                   set_config('synchronous_commit', 'off', true)`.execute(db)
}

type LineRow = Omit<CaptureLine, 'leaseBy' | 'leaseMs' | 'turn'>

function lineColumns({ sefaz }: Context['config']): RawBuilder<unknown> {
  return sql`id, service, cnpj, wanted, last_nsu as "lastNsu", max_nsu as "maxNsu", failures, state,
    last_success_at is null as first,
    coalesce(last_success_at > now() - ${24 * sefaz.hourMs} * interval '1 ms', false) as recent,
    (extract(epoch from now() - asked_at) * 1000)::float8 as "askedMsAgo",
    coalesce(asked_at = gap_at, false) as "askedForGap", asked_chave as "askedChave"`
}

/** The current row of a held line; throws `LeaseLost` when it is no longer held. */
export async function readHeldLine(ctx: ClaimContext, line: CaptureLine): Promise<CaptureLine> {
  return inCapture(ctx, async ({ db, config }) => {
    const { rows } = await sql<LineRow>`
      select ${lineColumns(config)} from capture_line where id = ${line.id} and lease_by = ${line.leaseBy}`.execute(db)
    const [row] = rows
    if (!row) throw leaseLost(line)
    return { ...line, ...row }
  })
}

const leaseLost = ({ id }: Pick<CaptureLine, 'id'>) => new LeaseLost(`the lease of line ${id} is gone`)

/** How many lines are held, by what for. */
type Held = Partial<Record<Turn, number>>

// Also which of the lanes have a line that is due and free.
async function survey(db: Context['db'], lanes: readonly TurnLane[]): Promise<{ held: Held; due: boolean[] }> {
  const due = lanes.map((lane) => sql`exists (select 1 from capture_line where ${lane.due} and ${isFree})`)
  const { rows } = await sql<{ held: Held; due: boolean[] }>`
    select (select coalesce(json_object_agg(turn, n), '{}')
              from (select coalesce(lease_for, 'due') as turn, count(*)::int as n from capture_line where lease_until > now() group by 1) h) as held,
           array[${sql.join(due)}] as due`.execute(db)
  return rows[0]!
}

/** As `holdLine`; throws `LeaseLost` too when the cursor is not the known one, as on a standby that lost the last commits. */
export async function holdCursor(
  ctx: WithDatabase,
  line: CaptureLine,
  change: UpdateObject<Tables, 'capture_line'>,
): ReturnType<typeof holdLine> {
  const held = await holdLine(ctx, line, change)
  if (held.lastNsu !== line.lastNsu)
    throw new LeaseLost(`line ${line.id} stands at ${held.lastNsu} in the database, and not at ${line.lastNsu}`)
  return held
}

/** Changes a held line and renews its lease, or throws `LeaseLost`. Returns the unsettled query and the cursor. */
export async function holdLine(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'leaseBy' | 'leaseMs'>,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<{ askedAt: Date | null; lastNsu: bigint }> {
  const row = await db
    .updateTable('capture_line')
    .set({ lease_until: fromNow(line.leaseMs), ...change, ...troubleSince(change) })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .returning(['service', 'state', 'message', 'told_state as told'])
    .returning([sql<Date | null>`old.asked_at`.as('askedAt'), sql<bigint>`old.last_nsu`.as('lastNsu')])
    .executeTakeFirst()
  if (!row) throw leaseLost(line)
  const { service, state, message, told, askedAt, lastNsu } = row
  if (change.state !== undefined && state !== told)
    await announceState({ db }, line, { service: serviceOf(service), before: told, state, message })
  return { askedAt, lastNsu }
}

// One trouble may become another, as when a block follows failures: it lasts since the first.
function troubleSince({ state }: UpdateObject<Tables, 'capture_line'>): UpdateObject<Tables, 'capture_line'> {
  if (state === undefined) return {}
  return {
    trouble_since: sql<Date | null>`case when ${state} = 'waiting' then null
      when capture_line.state = 'waiting' then now() else coalesce(trouble_since, now()) end`,
  }
}

// Once for each change: a retry that fails the same way is not announced.
async function announceState({ db }: WithDatabase, { id }: Pick<CaptureLine, 'id'>, payload: Changed): Promise<void> {
  await db.updateTable('capture_line').set({ told_state: payload.state }).where('id', '=', id).execute()
  // A workspace whose certificate is not proved does not learn what other workspaces captured, unless none is proved.
  const { rows } = await sql<{ workspaceId: number; companyId: number }>`
    select workspace_id as "workspaceId", company_id as "companyId" from capture_subscription s
     where line_id = ${id} and not paused
       and (proved_at is not null or not exists (select 1 from capture_subscription p where p.line_id = s.line_id and p.proved_at is not null))
     order by 1, 2`.execute(db)
  for (const { workspaceId, companyId } of rows)
    await announce({ db }, workspaceId, { what: 'captura-estado', companyId, payload })
}

/** Locks the row of a line until the end of the transaction, so that no subscription or certificate is added to it meanwhile. */
export async function lockLine({ db }: WithDatabase, line: Pick<CaptureLine, 'id'>): Promise<void> {
  await db.selectFrom('capture_line').select('id').where('id', '=', line.id).forUpdate().execute()
}

/** Releases a line, with what was decided without a response (null: that is written already, or no query was sent). */
export async function releaseLine(ctx: WithDatabase, line: CaptureLine, decision: Decision | null): Promise<void> {
  await letGo(ctx, line, decision ? withoutResponse(decision) : {})
}

/** Releases a line after a fault of ours. A turn for copies or gaps keeps the pauses and gets one of its own, `waitMs`. */
export async function breakLine(
  ctx: WithDatabase,
  line: CaptureLine,
  decision: Decision,
  waitMs: number,
): Promise<void> {
  const pauses = {
    first: withoutResponse(decision),
    due: withoutResponse(decision),
    copies: { catch_up_at: fromNow(waitMs) },
    gap: { gap_at: sql<Date>`greatest(gap_at, ${fromNow(waitMs)})` },
    check: {},
  }
  await letGo(ctx, line, pauses[line.turn])
}

async function letGo(ctx: WithDatabase, line: CaptureLine, change: UpdateObject<Tables, 'capture_line'>) {
  const somebody = (how: RawBuilder<unknown>) =>
    sql`exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null and ${how})`
  await inCapture(ctx, async (ctx) => {
    // A transaction that adds a subscription locks this row too; what it wrote is visible to the next statement only.
    await lockLine(ctx, line)
    await holdLine(ctx, line, {
      lease_by: null,
      lease_until: null,
      lease_for: null,
      // A workspace may have joined while the lease was held.
      catch_up: sql<boolean>`${somebody(sql`not s.paused and s.delivered_nsu < capture_line.last_nsu`)}
        and ${somebody(sql`s.delivered_nsu = capture_line.last_nsu`)}`,
      ...change,
    })
  })
}

/** Columns of the line's row that follow from a decision: time of the next query, and text for people. */
export function consequences(decision: Decision): UpdateObject<Tables, 'capture_line'> {
  const fulfilled = (decision.succeeded && !decision.nextPage) || decision.state === 'stopped'
  const pauses = {
    next_at: decision.nextInMs === null ? null : fromNow(decision.nextInMs),
    allowed_at: fromNow(decision.allowedInMs),
  }
  if (decision.keepsState) return pauses
  return {
    ...pauses,
    state: decision.state,
    message: decision.message,
    failures: decision.failures,
    ...(fulfilled && { wanted: false }),
  }
}

/** The same for a decision without a response: pauses only get longer, and while an older pause is longer its state and message stay. */
export function withoutResponse(decision: Decision): UpdateObject<Tables, 'capture_line'> {
  const { next_at, allowed_at, ...told } = consequences(decision)
  const stands = sql`allowed_at > ${allowed_at}`
  const unlessStands = (column: string, value: unknown) =>
    sql`case when ${stands} then ${sql.ref(column)} else ${value} end`
  return {
    ...Object.fromEntries(Object.entries(told).map(([column, value]) => [column, unlessStands(column, value)])),
    next_at:
      next_at === null
        ? sql<null>`case when ${stands} then next_at end`
        : sql<Date>`case when next_at is not null then greatest(next_at, ${next_at}) end`,
    allowed_at: sql<Date>`greatest(allowed_at, ${allowed_at})`,
  }
}
