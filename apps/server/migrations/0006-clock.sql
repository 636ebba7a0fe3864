-- The clock of the database is not believed blindly: platform/clock.ts.

-- What became of it when the clock was set: one row for each group of pauses (capture, manifestation).
create table clock (
  subject text primary key,
  -- By how much pauses were moved so far, in all; each process compares it with what it knew when it last looked.
  moved_ms bigint not null default 0,
  jumped_at timestamptz
);
alter table clock enable row level security;
create policy everybody on clock using (true) with check (true);

-- How far the clock is ahead of the authority's, as the last responses of each service tell.
create table clock_skew (
  service smallint primary key,     -- 0 NF-e, 2 CT-e
  seconds int not null,
  -- How many responses in a row differed by too much; two are as many as any.
  odd smallint not null
);
alter table clock_skew enable row level security;
create policy everybody on clock_skew using (true) with check (true);
