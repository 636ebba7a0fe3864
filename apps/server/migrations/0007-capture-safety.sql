-- A web service that fails for everybody is asked by one at a time until it answers again.
create table circuit (
  address text primary key,         -- host and path: the services of one host are not down together
  failures int not null default 0,
  -- Until then nobody calls; whoever comes first afterwards tries, for all.
  open_until timestamptz,
  since timestamptz,
  reason text
);
alter table circuit enable row level security;
create policy everybody on circuit using (true) with check (true);

alter table capture_line
  -- A query left at this time and nothing is written of its answer yet. Found on a line that nobody holds, it says that a process died
  -- in between: the authority may have counted the query.
  add column asked_at timestamptz,
  -- Somebody who receives wants it captured by the hour.
  add column automatic boolean not null default true,
  -- Somebody asked for the next query by hand.
  add column wanted boolean not null default false;
drop index capture_line_next_ix;
create index capture_line_next_ix on capture_line (next_at) where next_at is not null and (automatic or wanted);
create index capture_line_held_ix on capture_line (lease_until) where lease_until is not null;

alter table capture_call add column allowed_at timestamptz;
