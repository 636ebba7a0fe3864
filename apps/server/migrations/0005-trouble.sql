-- What is wrong with the whole installation: platform/trouble.ts.
create table trouble (
  key text primary key,
  since timestamptz not null default now(),
  -- For the operator.
  sentence text not null,
  -- It is over; the row stays until the operator was told so. Null: it lasts.
  ended_at timestamptz,
  -- When the operator was last told; null: not yet.
  told_at timestamptz
);
alter table trouble enable row level security;
-- It is nobody's data, and everybody may see what concerns them.
create policy everybody on trouble using (true) with check (true);

-- When anything was last asked.
create index capture_call_at_ix on capture_call (at);
