import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { claimInTurn, claimRows, fromNow, type Lane } from '../platform/jobs/claim.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { holdLock } from '../platform/locks.ts'
import { announce } from '../platform/outbox.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import type { QueryKind } from '../sefaz/ledger.ts'
import type { Changed } from './announcements.ts'
import type { LineChange, LineState } from './situation.ts'
import type { Question } from './source.ts'
import { isTold } from './subscriptions.ts'

/** A capture line that this process holds, as it was when it was read: no other process asks for it while the lease lasts. */
export interface CaptureLine extends Readonly<LineState> {
  readonly id: number
  readonly service: ServiceCode
  readonly cnpj: string
  readonly leaseBy: string
  readonly leaseMs: number
  readonly turn: LeasePurpose
  /** A person requested a query, and no resting certificate was woken for that yet. */
  readonly wanted: boolean
  /** A question that was sent, and of which nothing is written yet. */
  readonly asked: (Question & { msAgo: number; sentAt: Date }) | null
}

/** Purpose of a lease; `first`: nothing was ever answered about the line. */
export type LeasePurpose = 'first' | 'due' | 'copies' | 'gap' | 'check'

// Gaps and copies must not take the places of turns for new documents.
const shareOfTurn: Readonly<Record<LeasePurpose, number>> = { first: 1, due: 1, copies: 1 / 4, gap: 1 / 2, check: 1 }

/** A way to claim a line for one kind of turn. */
interface TurnLane extends Lane {
  turn: LeasePurpose
  /** Limit of held turns of this kind for this lane; absent: the share of the kind (`shareOfTurn`). */
  heldMax?: number
}

const isTime = sql`next_at <= now() and allowed_at <= now() and (automatic or wanted) and not paused`
// In any state but waiting, only after `allowed_at`.
const isTimeOfGap = sql`gap_at <= now() and not paused and (state = 'waiting' or allowed_at <= now())`
const hasCopies = sql`catch_up and not paused and catch_up_at <= now()`

/** Claims the next due line, or null. `paused`: services that may not be called. */
export async function claimLine(ctx: WithConfig, paused: readonly ServiceCode[] = []): Promise<CaptureLine | null> {
  const serves = sql`service <> all(${[...paused]}::smallint[])`
  const isDue = sql`${isTime} and ${serves}`
  const hasGap = sql`${isTimeOfGap} and ${serves}`
  const due: TurnLane = { turn: 'due', due: sql`${isDue} and last_success_at is not null`, order: sql`next_at` }
  const first: TurnLane = { turn: 'first', due: sql`${isDue} and last_success_at is null`, order: sql`next_at` }
  const gap: TurnLane = { turn: 'gap', due: hasGap, order: sql`gap_at` }
  const copies: TurnLane = { turn: 'copies', due: hasCopies, order: sql`catch_up_at` }
  const onlyCopies: TurnLane = { ...copies, due: sql`${hasCopies} and not coalesce(${isDue}, false)` }
  // One turn each of first, gap and copies goes before all others.
  return claim(ctx, ({ first: firsts = 0, due: others = 0 }) => [
    { ...first, heldMax: 1 },
    { ...gap, heldMax: 1 },
    { ...onlyCopies, heldMax: 1 },
    ...(firsts < others ? [first, due] : [due, first]),
    copies,
    gap,
  ])
}

export async function claimOne(ctx: WithConfig, id: number): Promise<CaptureLine | null> {
  const check: TurnLane = { turn: 'check', due: sql`id = ${id}`, order: sql`id` }
  return claim(ctx, () => [check], 1)
}

// `lanesFor` says which lanes are tried, in which order, by what is held.
async function claim(
  { db, config }: WithConfig,
  lanesFor: (held: Held) => TurnLane[],
  extraPlaces = 0,
): Promise<CaptureLine | null> {
  const leaseBy = crypto.randomUUID()
  // Longer than the slowest response may take.
  const leaseMs = 2.5 * config.sefaz.answerMs
  return inCapture({ db }, async ({ db }) => {
    // One claim at a time in all processes: two would see the same free place.
    await holdLock({ db }, 'lineClaims')
    // Forces plans by index until the table is analysed. A lost commit is harmless: `noteQuestion` waits for the disk.
    await sql`select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
                     set_config('synchronous_commit', 'off', true)`.execute(db)
    const { rows } = await sql<{ turn: LeasePurpose; n: number }>`
      select coalesce(lease_for, 'due') as turn, count(*)::int as n from capture_line where lease_until > now() group by 1`.execute(
      db,
    )
    const held: Held = Object.fromEntries(rows.map(({ turn, n }) => [turn, n]))
    const places = config.sefaz.conversations
    if (rows.reduce((sum, { n }) => sum + n, 0) >= places + extraPlaces) return null
    for (const { turn, heldMax, ...lane } of lanesFor(held)) {
      if ((held[turn] ?? 0) >= (heldMax ?? Math.max(1, Math.floor(shareOfTurn[turn] * places)))) continue
      const own = { ...lane, set: sql`lease_by = ${leaseBy}, lease_for = ${turn}` }
      const which = { table: sql`capture_line`, leaseMs, returning: lineColumns(config) }
      const inTurn = { kind: turn, lanes: [own], ...which, workspaces: receivingWorkspaces, isOf: isReceivedBy }
      const row =
        turn === 'check' ? (await claimRows<LineRow>(db, own, which))[0] : await claimInTurn<LineRow>(db, inTurn)
      if (row) return lineOf(row, { turn, leaseBy, leaseMs })
    }
    return null
  })
}

/** How many lines are held, by what for. */
type Held = Partial<Record<LeasePurpose, number>>

const receivingWorkspaces = (due: RawBuilder<unknown>) => sql`
  select distinct s.workspace_id as id from capture_subscription s
   where not s.paused and s.line_id in (select id from capture_line where ${due})`
const isReceivedBy = (workspaceId: number) => sql`exists (
  select from capture_subscription s where s.line_id = capture_line.id and not s.paused and s.workspace_id = ${workspaceId})`

type LineRow = Omit<CaptureLine, 'leaseBy' | 'leaseMs' | 'turn' | 'asked'> & {
  asked: string | null
  askedAt: Date | null
  askedMsAgo: number
}

function lineColumns({ sefaz }: Context['config']): RawBuilder<unknown> {
  const untilMs = (at: RawBuilder<unknown>) => sql`(extract(epoch from ${at} - now()) * 1000)::float8`
  return sql`id, service, cnpj, wanted, last_nsu as "lastNsu", max_nsu as "maxNsu", failures, state,
    last_success_at is null as first,
    coalesce(last_success_at > now() - ${24 * sefaz.hourMs} * interval '1 ms', false) as recent,
    ${untilMs(sql`next_at`)} as "nextInMs", ${untilMs(sql`greatest(allowed_at, now())`)} as "allowedInMs",
    asked, asked_at as "askedAt", coalesce(-${untilMs(sql`asked_at`)}, 0) as "askedMsAgo"`
}

function lineOf(row: LineRow, held: Pick<CaptureLine, 'turn' | 'leaseBy' | 'leaseMs'>): CaptureLine {
  const { asked, askedAt, askedMsAgo, ...line } = row
  const { turn, leaseBy, leaseMs } = held
  const question = asked !== null &&
    askedAt && { ...readQuestion(asked), msAgo: Math.max(0, askedMsAgo), sentAt: askedAt }
  return { ...line, turn, leaseBy, leaseMs, asked: question || null }
}

/** A question as the columns of a line have it, and the ledger. */
export function writeQuestion(question: Question): { query: QueryKind; about: string } {
  if ('after' in question) return { query: 'page', about: String(question.after) }
  return 'at' in question ? { query: 'position', about: String(question.at) } : { query: 'note', about: question.note }
}

function readQuestion(text: string): Question {
  const [query, about] = text.split(' ') as [QueryKind, string]
  if (query === 'note') return { note: about }
  return query === 'position' ? { at: BigInt(about) } : { after: BigInt(about) }
}

/** Locks a held line until the end of the transaction and reads it anew; throws `LeaseLost` when it is no longer held. */
export async function lockHeldLine(ctx: WithConfig, line: CaptureLine): Promise<CaptureLine> {
  const { rows } = await sql<LineRow>`
    select ${lineColumns(ctx.config)} from capture_line where id = ${line.id} and lease_by = ${line.leaseBy} for update`.execute(
    ctx.db,
  )
  if (!rows[0]) throw leaseLost(line)
  return lineOf(rows[0], line)
}

/** As `lockHeldLine`; throws `LeaseLost` too when the cursor is not the known one, as on a standby that lost the last commits. */
export async function lockAtCursor(ctx: WithConfig, line: CaptureLine): Promise<CaptureLine> {
  const held = await lockHeldLine(ctx, line)
  if (held.lastNsu !== line.lastNsu)
    throw new LeaseLost(`line ${line.id} stands at ${held.lastNsu} in the database, and not at ${line.lastNsu}`)
  return held
}

const leaseLost = ({ id }: Pick<CaptureLine, 'id'>) => new LeaseLost(`the lease of line ${id} is gone`)

/** Changes a held line and renews its lease, or throws `LeaseLost`. */
export async function changeLine(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'leaseBy' | 'leaseMs'>,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const row = await db
    .updateTable('capture_line')
    .set({ lease_until: fromNow(line.leaseMs), ...change, ...troubleSince(change) })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .returning(['service', 'state', 'message', 'told_state as told'])
    .executeTakeFirst()
  if (!row) throw leaseLost(line)
  const { service, state, message, told } = row
  if (change.state !== undefined && state !== told)
    await announceState({ db }, line, { service: serviceOf(service), before: told, state, message })
}

/** The columns of what was decided of a line. */
export function columnsOf(change: LineChange): UpdateObject<Tables, 'capture_line'> {
  const { state, message, failures, nextInMs, allowedInMs, lastNsu, maxNsu } = change
  return {
    ...(state && { state, message, failures }),
    ...(nextInMs !== undefined && { next_at: nextInMs === null ? null : fromNow(nextInMs) }),
    ...(allowedInMs !== undefined && { allowed_at: fromNow(allowedInMs) }),
    ...(lastNsu !== undefined && { last_nsu: lastNsu }),
    ...(maxNsu !== undefined && { max_nsu: maxNsu }),
    ...(change.succeeded && { last_success_at: sql<Date>`now()` }),
    ...(change.fulfilled && { wanted: false }),
  }
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
  const { rows } = await sql<{ workspaceId: number; companyId: number }>`
    select workspace_id as "workspaceId", company_id as "companyId" from capture_subscription s
     where line_id = ${id} and not paused and ${isTold}
     order by 1, 2`.execute(db)
  for (const { workspaceId, companyId } of rows)
    await announce({ db }, workspaceId, { what: 'captura-estado', companyId, payload })
}

/** Locks the row of a line until the end of the transaction, so that no subscription or certificate is added to it meanwhile. */
export async function lockLine({ db }: WithDatabase, line: Pick<CaptureLine, 'id'>): Promise<void> {
  await db.selectFrom('capture_line').select('id').where('id', '=', line.id).forUpdate().execute()
}

/** Releases a line, with a last change of it. */
export async function releaseLine(
  ctx: WithDatabase,
  line: CaptureLine,
  change: UpdateObject<Tables, 'capture_line'> = {},
): Promise<void> {
  const somebody = (how: RawBuilder<unknown>) =>
    sql`exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null and ${how})`
  await inCapture(ctx, async (ctx) => {
    // A transaction that adds a subscription locks this row too; what it wrote is visible to the next statement only.
    await lockLine(ctx, line)
    await changeLine(ctx, line, {
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
