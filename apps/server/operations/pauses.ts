import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asScheduler } from '../platform/database.ts'

type Pause = [table: string, column: string, longestMs: number, rows?: string]

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const leaseMs = 10 * minuteMs

/** The columns that make a row wait, with the longest wait that is ever written. */
export function pausesOf({ sefaz }: Context['config']): Pause[] {
  const { marginMs } = sefaz
  return [
    ['circuit', 'open_until', sefaz.hourMs],
    ['capture_line', 'next_at', 2 * (sefaz.hourMs + marginMs), "state <> 'stopped'"],
    ['capture_line', 'next_at', 24 * sefaz.hourMs, "state = 'stopped'"],
    ['capture_line', 'allowed_at', sefaz.hourMs + marginMs],
    ['capture_line', 'gap_at', 24 * sefaz.hourMs + marginMs],
    ['capture_line', 'catch_up_at', sefaz.hourMs],
    ['capture_line', 'lease_until', leaseMs],
    ['capture_refusal', 'rests_until', 24 * sefaz.hourMs],
    ['outgoing_event', 'next_at', 16 * sefaz.hourMs + marginMs, "state in ('waiting', 'sending')"],
    ['outgoing_event', 'lease_until', leaseMs],
    ['job', 'lease_until', leaseMs],
    ['job', 'run_at', dayMs],
    ['happening', 'ready_at', sefaz.answerMs + minuteMs],
  ]
}

/** Writes back what lies further ahead than any rule waits, because the clock of the database was wrong when it was written. */
export async function shortenPauses(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  for (const [table, column, longestMs, rows = 'true'] of pausesOf(ctx.config)) {
    const latest = sql`now() + ${longestMs}::float8 * interval '1 ms'`
    try {
      const { numAffectedRows } = await asScheduler(ctx, ({ db }) =>
        sql`
          update ${sql.table(table)} set ${sql.ref(column)} = ${latest}
           where ${sql.raw(rows)} and ${sql.ref(column)} > ${latest} and ${sql.ref(column)} < 'infinity'`.execute(db),
      )
      if (numAffectedRows)
        ctx.log.warn({ table, column, rows: Number(numAffectedRows) }, 'pauses were longer than any rule allows')
    } catch (error) {
      ctx.log.error({ err: error, table, column }, 'pauses could not be shortened')
    }
  }
}
