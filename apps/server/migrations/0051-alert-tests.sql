-- Trying a rule on the documents of the last ninety days, and rules that people hardly ever find right: docs/decisions/0047-trying-rules.md.

-- The last test of each rule. Documents are judged from the newest to the oldest, first NF-e, then CT-e.
create table alert_test (
  workspace_id int not null,
  rule text not null,
  asked_at timestamptz not null default now(),
  since timestamp not null,         -- date of issue of the oldest documents
  type smallint,                    -- where it goes on; null: it has ended
  at timestamp,
  last_id bigint,
  left_of_type int not null,        -- how many documents of this type it may still look at
  total int not null,
  capped boolean not null,          -- there are more
  unread boolean not null,          -- older documents were still being read when it was asked
  judged int not null default 0,
  counts jsonb not null,
  strongest jsonb not null,
  failures smallint not null default 0,
  served_at timestamptz not null default '-infinity',
  lease_until timestamptz,
  primary key (workspace_id, rule)
);
alter table alert_test enable row level security;
create policy tenant on alert_test using (workspace_id = current_ws()) with check (workspace_id = current_ws());
create policy operator on alert_test using (operating()) with check (operating());
create index alert_test_due_ix on alert_test (served_at, workspace_id, rule) where type is not null;

-- Rules that are only told in the digest, because too few of their alerts were confirmed.
create table alert_downgrade (
  workspace_id int not null,
  rule text not null,
  at timestamptz not null default now(),
  decided int not null,             -- what people had decided of its alerts by then
  confirmed int not null,
  lifted_at timestamptz,            -- null: it holds
  lifted_by int,                    -- author_name
  primary key (workspace_id, rule)
);
alter table alert_downgrade enable row level security;
create policy tenant on alert_downgrade using (workspace_id = current_ws()) with check (workspace_id = current_ws());
