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
  add column wanted boolean not null default false,
  -- Copies have a pause of their own: they ask the authority nothing, and what fails in them says nothing about it.
  add column catch_up_at timestamptz not null default '-infinity',
  -- What the lease is held for: each kind of turn has its own places.
  add column lease_for text check (lease_for in ('due', 'copies', 'gap', 'check'));
drop index capture_line_next_ix;
create index capture_line_next_ix on capture_line (next_at) where next_at is not null and (automatic or wanted);
create index capture_line_held_ix on capture_line (lease_until) where lease_until is not null;

-- A certificate that brought no answer from a line: for a day the others of the CNPJ go before it.
create table capture_refusal (
  line_id int not null references capture_line (id),
  workspace_id int not null,
  certificate_id int not null,
  at timestamptz not null default now(),
  rests_until timestamptz not null, -- it is not shown again before
  primary key (line_id, workspace_id, certificate_id),
  foreign key (workspace_id, certificate_id) references certificate (workspace_id, id)
);
alter table capture_refusal enable row level security;
create policy tenant on capture_refusal
  using (workspace_id = current_ws() or capturing()) with check (workspace_id = current_ws() or capturing());

alter table capture_call add column allowed_at timestamptz;
