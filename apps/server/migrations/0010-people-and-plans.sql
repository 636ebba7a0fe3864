-- Work that looks across workspaces: plans, warnings, mails. `asOperator` sets it for one transaction.
create function operating() returns boolean language sql stable parallel safe
  return coalesce(current_setting('app.operator', true), '') = 'on';

-- Seven days of trial from the sign-up; for a workspace that was here before, from this migration on.
alter table workspace
  add column trial_until timestamptz not null default now() + interval '7 days',
  -- Null: no plan was ever paid. paid_until null: its end is not known.
  add column paid_from timestamptz,
  add column paid_until timestamptz,
  -- Neither trial nor plan lasts, and capture was paused because of that.
  add column paused_at timestamptz,
  -- When somebody looks again at what this workspace should be warned of.
  add column review_at timestamptz not null default now();
create index workspace_review_ix on workspace (review_at);
create policy operator on workspace using (operating()) with check (operating());

-- Nothing is asked with the certificate of a paused company, nor delivered to it; it catches up when the pause ends.
alter table capture_subscription add column paused boolean not null default false;
-- All who receive what a conversation brings are paused: nobody asks.
alter table capture_line add column paused boolean not null default false;
drop index capture_line_next_ix;
create index capture_line_next_ix on capture_line (next_at) where next_at is not null and (automatic or wanted) and not paused;
drop index capture_line_gap_ix;
create index capture_line_gap_ix on capture_line (gap_at) where gap_at is not null and not paused;

-- The first login; null: perhaps somebody signed up with the e-mail of another person, who is told of nothing then.
alter table account add column entered_at timestamptz;
-- Whoever was here before has logged in to register a company; other logins are known while their sessions are kept.
update account a set entered_at = now()
 where exists (select from company c where c.workspace_id = a.workspace_id)
    or exists (select from session s where s.workspace_id = a.workspace_id and s.account_id = a.id);

-- Its password is known to many: nobody may replace it, and nothing is kept of where it is used from.
alter table account add column shared boolean not null default false;
drop function account_for_login(text);
create function account_for_login(p_email text)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, password_hash text, shared boolean)
  language sql stable security definer set search_path = public
  as $$ select a.workspace_id, w.public_id, a.id, a.password_hash, a.shared
          from account a join workspace w on w.id = a.workspace_id where a.email = p_email $$;

alter table session
  -- By which a person tells one session from another.
  add column public_id uuid not null unique default gen_random_uuid(),
  add column address text,
  add column agent text,
  add column seen_at timestamptz not null default now();

drop function session_for_token(bytea);
create function session_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, account_name text, shared boolean, session_public_id uuid, seen_at timestamptz)
  language sql stable security definer set search_path = public
  as $$ select s.workspace_id, w.public_id, s.account_id, a.name, a.shared, s.public_id, s.seen_at
          from session s
          join workspace w on w.id = s.workspace_id
          join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
         where s.token_hash = p_token_hash and s.expires_at > now() $$;

-- Links by which a forgotten password is replaced. Used and expired ones stay a while: people are told which of both it is.
create table password_recovery (
  token_hash bytea primary key,
  workspace_id int not null,
  account_id int not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The mail that carries it: each attempt to send that mail puts a new link in the place of the one before.
  mail_id bigint,
  unique (workspace_id, mail_id),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);
create index password_recovery_account_ix on password_recovery (workspace_id, account_id);
alter table password_recovery enable row level security;
create policy tenant on password_recovery using (workspace_id = current_ws()) with check (workspace_id = current_ws());
create function recovery_for_token(p_token_hash bytea)
  returns table (workspace_id int, account_id int, expires_at timestamptz, used_at timestamptz)
  language sql stable security definer set search_path = public
  as $$ select r.workspace_id, r.account_id, r.expires_at, r.used_at from password_recovery r where r.token_hash = p_token_hash $$;

-- How often something was tried lately, by a digest of who tried it. After a crash everybody begins anew.
create unlogged table throttle (
  key bytea primary key,
  count int not null,
  until timestamptz not null
);

-- Of all workspaces; nothing else can be removed this way.
create function forget_old_access() returns void language sql security definer set search_path = public
  as $$ delete from session where expires_at <= now();
        delete from password_recovery where created_at < now() - interval '30 days';
        delete from throttle where until <= now() $$;

-- What leaves by e-mail. The letter is written when it leaves: no link with a secret in it is ever kept here.
create table mail (
  id bigint primary key generated by default as identity,
  workspace_id int references workspace (id),     -- null: the recipient may be nobody of ours
  kind text not null,
  recipient text not null,
  payload jsonb not null default '{}',
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'failed', 'dropped')),
  created_at timestamptz not null default now(),
  next_at timestamptz not null default now(),
  -- Later than this it would only confuse; null: it is never too late.
  useless_at timestamptz,
  lease_until timestamptz,
  failures int not null default 0,
  problem text,
  settled_at timestamptz,
  message_id uuid not null default gen_random_uuid()
);
-- Those that were never tried apart from those that failed: each is claimed without passing by the others.
create index mail_waiting_ix on mail (least(failures, 1), next_at, id) where state = 'waiting';
create index mail_settled_ix on mail (settled_at) where state <> 'waiting';
create index mail_unsent_ix on mail (created_at, id) where state in ('waiting', 'failed') or (state = 'dropped' and failures > 0);
alter table mail enable row level security;
create policy operator on mail using (operating()) with check (true);

-- What a workspace was warned of already.
create table notice (
  workspace_id int not null references workspace (id),
  key text not null,
  at timestamptz not null default now(),
  primary key (workspace_id, key)
);
alter table notice enable row level security;
create policy tenant on notice using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- What visitors write to us.
create table contact_message (
  id bigint primary key generated by default as identity,
  at timestamptz not null default now(),
  name text not null,
  email text not null,
  phone text,
  company text,
  message text not null,
  -- It filled a field that people do not see: kept, not mailed.
  suspect boolean not null
);
alter table contact_message enable row level security;
create policy operator on contact_message using (operating()) with check (true);

-- Who did what, when, from where. Rows are only ever added.
create table audit (
  workspace_id int not null references workspace (id),
  id bigint generated by default as identity,
  at timestamptz not null default now(),
  account_id int,                                -- null: the operator, or somebody without a session
  actor text not null,
  action text not null,
  description text not null,
  address text,
  -- Actor and description as searches compare them.
  search text not null,
  primary key (workspace_id, id)
);
create index audit_at_ix on audit (workspace_id, at desc, id desc) include (action);
alter table audit enable row level security;
create policy tenant on audit using (workspace_id = current_ws()) with check (workspace_id = current_ws());
