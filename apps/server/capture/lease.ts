import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import { announce } from '../notifications/notifications.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import type { Changed } from './announcements.ts'
import type { Decision, Standing } from './rules.ts'

/** A conversation that this process holds: nobody else may ask for it while the lease lasts. */
export interface Line extends Omit<Standing, 'answerLost'> {
  id: number
  service: ServiceCode
  cnpj: string
  leaseBy: string
  leaseMs: number
  turn: Turn
  /** Its time to ask for what is new has come. */
  due: boolean
  /** A person asked for it, and no certificate was taken for that yet. */
  wanted: boolean
  /** A query left this many milliseconds ago under another process, which never wrote what came of it. */
  askedMsAgo: number | null
  /** That query, or the one that left under this process, asked for a missing position. */
  askedForGap: boolean
  /** A query left and what came of it is not written yet. */
  asking: boolean
  /** Some of those who receive it have no plan that lasts. */
  hasPaused: boolean
}

/** Another process took the conversation over, because this one was silent for too long: whatever it still holds must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

type ClaimContext = Pick<Context, 'db' | 'config'>

/** What a conversation is held for. */
export type Turn = 'due' | 'copies' | 'gap' | 'check'

// Few at once, whoever they are and in whatever process: the authority is shared by all companies. What is missing may not take the
// places of what is new, nor may copies, which ask the authority nothing.
const heldMax = 8
const heldOfTurnMax: Readonly<Record<Turn, number>> = { due: 8, copies: 2, gap: 4, check: 1 }

// The first key of the advisory locks of this slice.
const claimLock = 7_656_001

const free = sql`(lease_until is null or lease_until < now())`

interface Attempt {
  turn: Turn
  candidates: RawBuilder<unknown>
  /** How many turns of this kind may be held for it to be made, when not as many as there may ever be. */
  heldOfTurnMax?: number
}

/**
 * Takes the conversation whose turn it is, or null when there is none; `paused`: services that nobody may call now. What is due comes
 * first, but for one place of its own for what is missing and one for copies, which else would wait for as long as something is due.
 */
export async function claimLine(ctx: ClaimContext, paused: readonly ServiceCode[] = []): Promise<Line | null> {
  const due = sql`next_at <= now() and allowed_at <= now() and (automatic or wanted) and not paused and service <> all(${[...paused]}::smallint[])`
  const gap = { turn: 'gap', candidates: missingOf(paused) } as const
  const copies = sql`catch_up and not paused and catch_up_at <= now() and ${free}`
  return claim(ctx, [
    { ...gap, heldOfTurnMax: 1 },
    {
      turn: 'copies',
      candidates: sql`${copies} and not coalesce(${due}, false) order by catch_up_at`,
      heldOfTurnMax: 1,
    },
    { turn: 'due', candidates: sql`${due} and ${free} order by next_at` },
    { turn: 'copies', candidates: sql`${copies} order by catch_up_at` },
    gap,
  ])
}

// Never while it is blocked, nor while a block may be what was in an answer that was lost.
function missingOf(paused: readonly ServiceCode[]): RawBuilder<unknown> {
  return sql`gap_at <= now() and not paused and (state = 'waiting' or allowed_at <= now()) and service <> all(${[...paused]}::smallint[]) and ${free} order by gap_at`
}

/** Takes the conversation `id` beside all others, if nobody holds it. */
export async function claimOne(ctx: ClaimContext, id: number): Promise<Line | null> {
  return claim(ctx, [{ turn: 'check', candidates: sql`id = ${id} and ${free}` }], heldMax + 1)
}

async function claim({ db, config }: ClaimContext, attempts: Attempt[], placesMax = heldMax): Promise<Line | null> {
  const leaseBy = crypto.randomUUID()
  // Longer than the longest answer may take.
  const leaseMs = 2.5 * config.sefaz.answerMs
  return inCapture({ db }, async ({ db }) => {
    // One claim at a time in all processes: two would see the same free place.
    await sql`select pg_advisory_xact_lock(${claimLock})`.execute(db)
    const held = await countHeld(db)
    if (Object.values(held).reduce((sum, count) => sum + count, 0) >= placesMax) return null
    // One condition at a time, so that each is an index.
    for (const { turn, candidates, heldOfTurnMax: max = heldOfTurnMax[turn] } of attempts) {
      if ((held[turn] ?? 0) >= max) continue
      const { rows } = await sql<Omit<Line, 'leaseBy' | 'leaseMs' | 'asking' | 'turn' | 'due'>>`
        update capture_line set lease_by = ${leaseBy}, lease_until = ${fromNow(leaseMs)}, lease_for = ${turn}
         where id = (select id from capture_line where ${candidates} limit 1 for update skip locked)
        returning id, service, cnpj, wanted, last_nsu as "lastNsu", max_nsu as "maxNsu", failures,
                  last_success_at is null as first,
                  coalesce(last_success_at > now() - ${24 * config.sefaz.hourMs} * interval '1 ms', false) as recent,
                  (extract(epoch from now() - asked_at) * 1000)::float8 as "askedMsAgo",
                  coalesce(asked_at = gap_at, false) as "askedForGap",
                  exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.paused) as "hasPaused"`.execute(
        db,
      )
      if (rows[0]) return { ...rows[0], turn, due: turn === 'due', leaseBy, leaseMs, asking: false }
    }
    return null
  })
}

async function countHeld(db: Context['db']): Promise<Partial<Record<Turn, number>>> {
  const { rows } = await sql<{ turn: Turn; n: number }>`
    select coalesce(lease_for, 'due') as turn, count(*)::int as n from capture_line where lease_until > now() group by 1`.execute(
    db,
  )
  return Object.fromEntries(rows.map(({ turn, n }) => [turn, n]))
}

/** Changes a held line and renews its lease; throws `LeaseLost` when it is held no more. */
export async function holdLine(
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id' | 'leaseBy' | 'leaseMs'>,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const row = await db
    .updateTable('capture_line')
    .set({ lease_until: fromNow(line.leaseMs), ...change })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .returning(['service', 'state', 'message', 'told_state as told'])
    .executeTakeFirst()
  if (!row) throw new LeaseLost(`the lease of line ${line.id} is gone`)
  const { service, state, message, told } = row
  if (change.state === undefined || state === told) return
  await announceState({ db }, line, { service: serviceOf(service), before: told, state, message })
}

// Once for each change: what is tried again and fails the same way is told to nobody.
async function announceState({ db }: Pick<Context, 'db'>, { id }: Pick<Line, 'id'>, payload: Changed): Promise<void> {
  await db.updateTable('capture_line').set({ told_state: payload.state }).where('id', '=', id).execute()
  // What others are told of a CNPJ is not for who has proved nothing, unless nobody has.
  const { rows } = await sql<{ workspaceId: number; companyId: number }>`
    select workspace_id as "workspaceId", company_id as "companyId" from capture_subscription s
     where line_id = ${id} and not paused
       and (proved_at is not null or not exists (select 1 from capture_subscription p where p.line_id = s.line_id and p.proved_at is not null))
     order by 1, 2`.execute(db)
  for (const { workspaceId, companyId } of rows)
    await announce({ db }, workspaceId, { what: 'captura-estado', companyId, payload })
}

/** Holds the row of a line to the end of the transaction: who adds a subscription or a certificate to it has done so, or waits. */
export async function lockLine({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>): Promise<void> {
  await db.selectFrom('capture_line').select('id').where('id', '=', line.id).forUpdate().execute()
}

/** Lets a line go, with what was decided about it without an answer (null: that is written already, or nothing was asked). */
export async function releaseLine(ctx: Pick<Context, 'db'>, line: Line, decision: Decision | null): Promise<void> {
  await letGo(ctx, line, decision ? withoutAnswer(decision) : {})
}

/**
 * Lets a line go after a fault of ours. What stands there stays: `decision` is about a turn that asks for what is new; one that only copied
 * or asked for what is missing has a pause of its own, `waitMs`.
 */
export async function breakLine(
  ctx: Pick<Context, 'db'>,
  line: Line,
  decision: Decision,
  waitMs: number,
): Promise<void> {
  const pauses = {
    due: withoutAnswer(decision),
    copies: { catch_up_at: fromNow(waitMs) },
    gap: { gap_at: sql<Date>`greatest(gap_at, ${fromNow(waitMs)})` },
    check: {},
  }
  await letGo(ctx, line, pauses[line.turn])
}

async function letGo(
  ctx: Pick<Context, 'db'>,
  line: Line,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const somebody = (how: RawBuilder<unknown>) =>
    sql`exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null and ${how})`
  await inCapture(ctx, async (ctx) => {
    // A subscription that is being added right now holds this row; what it wrote is seen by the next statement only.
    await lockLine(ctx, line)
    await holdLine(ctx, line, {
      lease_by: null,
      lease_until: null,
      lease_for: null,
      // Somebody may have joined while the lease was held.
      catch_up: sql<boolean>`${somebody(sql`not s.paused and s.delivered_nsu < capture_line.last_nsu`)}
        and ${somebody(sql`s.delivered_nsu = capture_line.last_nsu`)}`,
      ...change,
    })
  })
}

/** What an answer means for the row of its line: when to ask again, and what the person reads. */
export function consequences(decision: Decision): UpdateObject<Tables, 'capture_line'> {
  const fulfilled = (decision.succeeded && !decision.nextPage) || decision.state === 'stopped'
  const pauses = {
    next_at: decision.nextInMs === null ? null : fromNow(decision.nextInMs),
    allowed_at: fromNow(decision.allowedInMs),
  }
  if (decision.untold) return pauses
  return {
    ...pauses,
    state: decision.state,
    message: decision.message,
    failures: decision.failures,
    ...(fulfilled && { wanted: false }),
  }
}

/**
 * The same of a decision that no answer stands behind: pauses only get longer, and a pause that is longer than its own goes on being told.
 */
export function withoutAnswer(decision: Decision): UpdateObject<Tables, 'capture_line'> {
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

/** The database's clock, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
