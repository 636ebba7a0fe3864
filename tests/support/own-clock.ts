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
