-- How a database that was brought back from a copy is recognised: the data folder remembers a later mark than the database has.
alter table installation add mark bigint not null default 0;
alter table installation add marked_at timestamptz not null default now();

-- The application may not change its installation but for the mark, which only grows.
create function advance_mark(p_at_least bigint) returns table (mark bigint, marked_at timestamptz)
  language sql security definer set search_path = public, pg_temp
  as $$ update installation i set mark = greatest(i.mark + 1, p_at_least), marked_at = now() returning i.mark, i.marked_at $$;

-- The database was brought back from a copy. Until a person has looked at it no event leaves.
create table restore (
  id int primary key generated always as identity,
  found_at timestamptz not null default now(),
  -- The moment of the copy; null: found by what the authority says.
  copy_of timestamptz,
  released_at timestamptz
);
alter table restore enable row level security;
create policy everybody on restore using (true) with check (true);

-- When a block told that another program is ahead, and no response of ours was lost.
alter table capture_line add overtaken_at timestamptz;
