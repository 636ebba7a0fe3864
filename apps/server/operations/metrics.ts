import { sql } from 'kysely'
import { stuckAt } from '../capture/warnings.ts'
import { asOperator, inCapture } from '../platform/database.ts'
import { type DatabaseMetrics, databaseMs, type MetricRow, type MetricsContext } from '../platform/http/metrics.ts'
import { lateMinutes } from '../platform/service.ts'

const described: DatabaseMetrics['described'] = {
  capture_late_seconds: ['How long the latest of the late conversations has been due; 0 when none is late.'],
  capture_last_query_seconds: ['Seconds since the last query to the authority; absent before the first.'],
  capture_lines_stuck: ['Conversations that stopped, failed for hours or were blocked beyond their hour.', 'state'],
  capture_lost_positions: ['Positions of the last 90 days that were missing and that the authority has no more.'],
  circuits_open: ['Web services of the authority that served nobody when last asked.'],
  clock_skew_seconds: ['How far the clock of the database is ahead of the authority (negative: behind), the most.'],
  mails_waiting_seconds: ['Age of the oldest mail that has not left yet.'],
  outgoing_events_due_seconds: ['How long the unsettled event that is due longest has been due.'],
  trouble: ['Seconds since which something is wrong with the whole installation, by its name.', 'key'],
}

function read(ctx: MetricsContext): Promise<MetricRow[]> {
  return asOperator(ctx, (ctx) =>
    inCapture(ctx, async (ctx) => {
      const { db } = ctx
      await sql`select set_config('statement_timeout', ${String(databaseMs)}, true)`.execute(db)
      // A statement for each kind: their tables may come to stand in different places.
      const found = [
        await sql<MetricRow>`
        select 'capture_late_seconds' as name, null as of,
               coalesce(max(extract(epoch from now() - greatest(next_at, allowed_at))), 0)::float8 as value from capture_line
         where next_at is not null and (automatic or wanted) and not paused and coalesce(lease_until <= now(), true)
           and greatest(next_at, allowed_at) < now() - ${lateMinutes} * interval '1 minute'
        union all select 'capture_last_query_seconds', null, extract(epoch from now() - max(at)) from capture_call
        union all select 'capture_lines_stuck', state, count(*) from capture_line where ${stuckAt(ctx)} <= now() group by state
        union all select 'capture_lost_positions', null, coalesce(sum(to_nsu - from_nsu + 1), 0) from capture_gap
         where lost and not passed and found_at > now() - interval '90 days'
        union all select 'circuits_open', null, count(*) from circuit where open_until is not null
        union all select 'clock_skew_seconds', null, (array_agg(seconds order by abs(seconds) desc))[1]
         from clock_skew`.execute(db),
        await sql<MetricRow>`
        select 'mails_waiting_seconds' as name, null as of,
               coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as value from mail
                where state = 'waiting'`.execute(db),
        await sql<MetricRow>`
        select 'outgoing_events_due_seconds' as name, null as of,
               greatest(0, coalesce(extract(epoch from now() - min(next_at)), 0))::float8 as value
          from outgoing_event where state in ('waiting', 'sending')`.execute(db),
        await sql<MetricRow>`
        select 'trouble' as name, key as of, greatest(0, extract(epoch from now() - since))::float8 as value
          from trouble where ended_at is null`.execute(db),
      ]
      return found.flatMap(({ rows }) => rows)
    }),
  )
}

/** Metrics of the captures, mails and events of all workspaces. */
export const productMetrics: DatabaseMetrics = { described, read }
