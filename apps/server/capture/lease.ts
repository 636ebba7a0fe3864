import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import type { ServiceCode } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import type { Decision, Standing } from './rules.ts'

/** A conversation that this process holds: nobody else may ask for it while the lease lasts. */
export interface Line extends Omit<Standing, 'answerLost'> {
  id: number
  service: ServiceCode
  cnpj: string
  leaseBy: string
  leaseMs: number
  /** Its time has come; false when it was only woken to catch up. */
  due: boolean
  /** A query left this many milliseconds ago under another process, which never wrote what came of it. */
  askedMsAgo: number | null
  /** That query, or the one that left under this process, asked for a missing position. */
  askedForGap: boolean
  /** A query left and what came of it is not written yet. */
  asking: boolean
}

/** Another process took the conversation over, because this one was silent for too long: whatever it still holds must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

type ClaimContext = Pick<Context, 'db' | 'config'>

// Few at once, whoever they are and in whatever process: the authority is shared by all companies. What is missing may not take the
// places of what is new.
const heldMax = { due: 8, gap: 4, one: 9 }

// The first key of the advisory locks of this slice.
const claimLock = 7_656_001

const free = sql`(lease_until is null or lease_until < now())`

/** Takes the conversation that has waited longest, or null when none is due; `paused`: services that nobody may call now. */
export async function claimLine(ctx: ClaimContext, paused: readonly ServiceCode[] = []): Promise<Line | null> {
  const due = sql`next_at <= now() and allowed_at <= now() and (automatic or wanted) and service <> all(${[...paused]}::smallint[])`
  // One condition at a time, so that each is an index; who only waits for copies is soon done.
  return claim(ctx, heldMax.due, due, [sql`catch_up and ${free}`, sql`${due} and ${free} order by next_at`])
}

/**
 * Takes a conversation in which something is missing that may be asked for now: never while it is blocked, nor while a block may be what
 * was in an answer that was lost.
 */
export async function claimGap(ctx: ClaimContext, paused: readonly ServiceCode[] = []): Promise<Line | null> {
  return claim(ctx, heldMax.gap, sql`false`, [
    sql`gap_at <= now() and (state = 'waiting' or allowed_at <= now()) and service <> all(${[...paused]}::smallint[]) and ${free} order by gap_at`,
  ])
}

/** Takes the conversation `id` beside all others, if nobody holds it and no query of it is without an answer. */
export async function claimOne(ctx: ClaimContext, id: number): Promise<Line | null> {
  return claim(ctx, heldMax.one, sql`false`, [sql`id = ${id} and asked_at is null and ${free}`])
}

async function claim(
  { db, config }: ClaimContext,
  placesMax: number,
  due: RawBuilder<unknown>,
  candidates: RawBuilder<unknown>[],
): Promise<Line | null> {
  const leaseBy = crypto.randomUUID()
  // Longer than the longest answer may take.
  const leaseMs = 2.5 * config.sefaz.answerMs
  return inCapture({ db }, async ({ db }) => {
    // One claim at a time in all processes: two would see the same free place.
    await sql`select pg_advisory_xact_lock(${claimLock})`.execute(db)
    for (const candidate of candidates) {
      const { rows } = await sql<Omit<Line, 'leaseBy' | 'leaseMs' | 'asking'>>`
        update capture_line set lease_by = ${leaseBy}, lease_until = ${fromNow(leaseMs)}
         where id = (select id from capture_line where ${candidate} limit 1 for update skip locked)
           and (select count(*) from capture_line where lease_until > now()) < ${placesMax}
        returning id, service, cnpj, last_nsu as "lastNsu", max_nsu as "maxNsu", failures,
                  coalesce(${due}, false) as due,
                  last_success_at is null as first,
                  coalesce(last_success_at > now() - ${24 * config.sefaz.hourMs} * interval '1 ms', false) as recent,
                  (extract(epoch from now() - asked_at) * 1000)::float8 as "askedMsAgo",
                  coalesce(asked_at = gap_at, false) as "askedForGap"`.execute(db)
      if (rows[0]) return { ...rows[0], leaseBy, leaseMs, asking: false }
    }
    return null
  })
}

/** Changes a held line and renews its lease; throws `LeaseLost` when it is held no more. */
export async function holdLine(
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id' | 'leaseBy' | 'leaseMs'>,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('capture_line')
    .set({ lease_until: fromNow(line.leaseMs), ...change })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new LeaseLost(`the lease of line ${line.id} is gone`)
}

/** Lets a line go, with what was decided about it (null: that is written already, or nothing was asked). */
export async function releaseLine(ctx: Pick<Context, 'db'>, line: Line, decision: Decision | null): Promise<void> {
  const behind = (relation: RawBuilder<unknown>) =>
    sql`exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null
           and s.delivered_nsu ${relation} capture_line.last_nsu)`
  await inCapture(ctx, async (ctx) => {
    // A subscription that is being added right now holds this row; what it wrote is seen by the next statement only.
    await ctx.db.selectFrom('capture_line').select('id').where('id', '=', line.id).forUpdate().execute()
    await holdLine(ctx, line, {
      lease_by: null,
      lease_until: null,
      // Somebody may have joined while the lease was held.
      catch_up: sql<boolean>`${behind(sql`<`)} and ${behind(sql`=`)}`,
      ...(decision && consequences(decision)),
    })
  })
}

/** What a decision means for the row of its line: when to ask again, and what the person reads. */
export function consequences(decision: Decision): UpdateObject<Tables, 'capture_line'> {
  const fulfilled = (decision.succeeded && !decision.nextPage) || decision.state === 'stopped'
  return {
    state: decision.state,
    message: decision.message,
    failures: decision.failures,
    next_at: decision.nextInMs === null ? null : fromNow(decision.nextInMs),
    allowed_at: fromNow(decision.allowedInMs),
    ...(fulfilled && { wanted: false }),
  }
}

/** The database's clock, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
