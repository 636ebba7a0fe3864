import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import type { ServiceCode } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import type { Decision } from './rules.ts'

/** A conversation that this process holds: nobody else may ask for it while the lease lasts. */
export interface Line {
  id: number
  service: ServiceCode
  cnpj: string
  lastNsu: bigint
  maxNsu: bigint
  failures: number
  leaseBy: string
  /** Its time has come; false when it was only woken to catch up. */
  due: boolean
}

/** Another process took the conversation over, because this one was silent for too long: whatever it still holds must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

// Longer than the longest answer may take.
const leaseMs = 150_000

/** Takes the conversation that has waited longest, or null when none is due. */
export async function claimLine(ctx: Pick<Context, 'db'>): Promise<Line | null> {
  return claim(ctx, sql`((next_at <= now() and allowed_at <= now()) or catch_up)`, sql`next_at nulls first`)
}

/** Takes a conversation in which something is missing that may be asked for now: never while it is blocked. */
export async function claimGap(ctx: Pick<Context, 'db'>): Promise<Line | null> {
  return claim(ctx, sql`gap_at <= now() and (state <> 'blocked' or allowed_at <= now())`, sql`gap_at`)
}

async function claim(
  { db }: Pick<Context, 'db'>,
  wanted: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<Line | null> {
  const leaseBy = crypto.randomUUID()
  return inCapture({ db }, async ({ db }) => {
    const { rows } = await sql<Omit<Line, 'leaseBy'>>`
      update capture_line set lease_by = ${leaseBy}, lease_until = ${fromNow(leaseMs)}
       where id = (select id from capture_line
                    where ${wanted} and (lease_until is null or lease_until < now())
                    order by ${order} limit 1 for update skip locked)
      returning id, service, cnpj, last_nsu as "lastNsu", max_nsu as "maxNsu", failures,
                coalesce(next_at <= now() and allowed_at <= now(), false) as due`.execute(db)
    return rows[0] ? { ...rows[0], leaseBy } : null
  })
}

/** Changes a held line and renews its lease; throws `LeaseLost` when it is held no more. */
export async function holdLine(
  { db }: Pick<Context, 'db'>,
  line: Line,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('capture_line')
    .set({ lease_until: fromNow(leaseMs), ...change })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new LeaseLost(`the lease of line ${line.id} is gone`)
}

/** Lets a line go, with what was decided about it (null: nothing was asked). */
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
  return {
    state: decision.state,
    message: decision.message,
    failures: decision.failures,
    next_at: decision.nextInMs === null ? null : fromNow(decision.nextInMs),
    allowed_at: fromNow(decision.allowedInMs),
  }
}

/** The database's clock, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
