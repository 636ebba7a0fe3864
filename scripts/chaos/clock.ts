import type pg from 'pg'
import type { Chance } from './chance.ts'
import { insist, type Note } from './faults.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'

/** Gives a migrated database a clock that can be set without that of the machine: its own `now()` stands before the one of PostgreSQL. */
export const ownClock = `
  create schema moved;
  create table moved.jump (at timestamptz not null, ms bigint not null);
  create function moved.at(moment timestamptz) returns timestamptz language sql stable as
    $$ select moment + coalesce((select sum(ms) from moved.jump where at <= moment), 0) * interval '1 ms' $$;
  create function moved.now() returns timestamptz language sql stable as 'select moved.at(pg_catalog.now())';
  create function moved.clock_timestamp() returns timestamptz language sql volatile as
    'select moved.at(pg_catalog.clock_timestamp())';
  grant usage on schema moved to public;
  grant select on moved.jump to public;
  do $$
  declare it record;
  begin
    for it in
      select d.adrelid::regclass as relation, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as expression
        from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
       where pg_get_expr(d.adbin, d.adrelid) in ('now()', 'clock_timestamp()')
    loop
      execute format('alter table %s alter %I set default moved.%s', it.relation, it.name, it.expression);
    end loop;
  end $$`

/** When a call was written down, by a clock that nobody sets. */
export const trueTimes = `
  alter table capture_call add true_at timestamptz not null default pg_catalog.now();
  alter table outgoing_event_call add true_at timestamptz not null default pg_catalog.now()`

/** The address of a database with a clock of its own; connections to it go by that. */
export function byOwnClock(url: string): string {
  const address = new URL(url)
  address.searchParams.set('options', '-c search_path=public,moved,pg_catalog')
  return address.href
}

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
