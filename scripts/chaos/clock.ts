import type pg from 'pg'
import type { Chance } from './chance.ts'
import { insist, type Note } from './faults.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'

/** Again and again the clock of the database is set minutes or a day ahead or back, for a while; until `signal`, when it is right. */
export async function setClockAgainAndAgain(
  database: pg.Pool,
  { hourMs }: Pick<ChaosPlan, 'hourMs'>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  // Transactions that have begun keep the clock that they had.
  const jump = (ms: number) =>
    insist(database, `insert into moved.jump select pg_catalog.clock_timestamp() + interval '0.3 s', $1`, [
      Math.round(ms),
    ])
  while (!signal.aborted) {
    await sleep(chance.between(hourMs, 3 * hourMs), signal)
    if (signal.aborted) break
    const ms = chance.pick([-1, 1]) * chance.pick([chance.between(60_000, 600_000), 86_400_000])
    await jump(ms)
    note('clocks set')
    await sleep(chance.between(hourMs, 4 * hourMs), signal)
    await jump(-ms)
  }
}
