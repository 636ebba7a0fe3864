import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../platform/context.ts'

// Hours of the authority. A line that stops needs a person, but others may be about to stop for the same reason: people get one letter about
// all of them, and every line has its turn within an hour and a bit. After that, one that is still blocked was blocked again.
const hours = { stopped: 1.5, blocked: 2.5, failed: 6 }

/**
 * When a capture line in trouble becomes stuck: people should hear of it by then. Null for a line that is not in trouble, or that asks nothing.
 * The columns are those of `capture_line`.
 */
export function stuckAt({ config }: Pick<Context, 'config'>): RawBuilder<Date | null> {
  const after = (state: keyof typeof hours) =>
    sql`trouble_since + ${hours[state] * config.sefaz.hourMs} * interval '1 ms'`
  return sql`case when paused then null
                  when state = 'stopped' then ${after('stopped')}
                  when state = 'blocked' and (automatic or wanted) then ${after('blocked')}
                  when state = 'failed' and (automatic or wanted) then ${after('failed')} end`
}
