import { sql } from 'kysely'
import { movedPause, writeChanged } from '../platform/clock.ts'
import type { Context } from '../platform/context.ts'
import { endTrouble } from '../platform/trouble.ts'
import { leaseMsOf } from './lease.ts'
import { longestWaits } from './rules.ts'

/** Moves what waits for its time in the capture when the clock was set by `jumpMs`; see `watchClock`. */
export async function movePauses(ctx: Pick<Context, 'db' | 'config'>, jumpMs: number): Promise<number> {
  const { sefaz } = ctx.config
  const { nextMs, restMs, allowedMs } = longestWaits(sefaz)
  const moved = (column: string, mostMs: number) => movedPause(sql.ref(column), mostMs, jumpMs)
  const allowed = moved('allowed_at', allowedMs)
  const all = sql`true`
  // In the order in which other code locks these rows.
  const lines = await writeChanged(ctx, 'capture_line', all, {
    next_at: sql`case when state = 'stopped' then ${moved('next_at', restMs)} else ${moved('next_at', nextMs)} end`,
    // A response may be lost that was on its way when the clock was set ahead: its query must not look old. `asked_at` itself names the query.
    allowed_at:
      jumpMs > 0
        ? sql`greatest(${allowed}, least(asked_at + ${jumpMs}::float8 * interval '1 ms', case when asked_at is not null then now() end)
                + ${allowedMs}::float8 * interval '1 ms')`
        : allowed,
    // Where both are equal they mark a query for a position. After a jump a rest may end early: it only asks again what there is to do.
    gap_at: sql`case when asked_at = gap_at then gap_at else ${moved('gap_at', jumpMs === 0 ? restMs + sefaz.marginMs : allowedMs)} end`,
    catch_up_at: moved('catch_up_at', sefaz.hourMs),
    lease_until: moved('lease_until', leaseMsOf(ctx.config)),
    trouble_since: moved('trouble_since', 0),
    last_success_at: sql`case when last_success_at is not null then least(last_success_at, now()) end`,
  })
  const refusals = await writeChanged(ctx, 'capture_refusal', all, { rests_until: moved('rests_until', restMs) })
  const circuits = await writeChanged(ctx, 'circuit', all, { open_until: moved('open_until', sefaz.hourMs) })
  if (jumpMs !== 0) {
    // What earlier responses said of the clock is said of another one; the next ones tell.
    await sql`delete from clock_skew`.execute(ctx.db)
    await endTrouble(ctx, 'relogio')
  }
  return lines + refusals + circuits
}
