-- Brings a database of 0.1, which fourteen migrations made, to the schema of 0001-schema.sql. Rows stay where they are; the directories are
-- filled from them. upgrade.test.ts compares the result with an empty database.

drop function account_for_login, session_for_token, recovery_for_token, workspace_for_public_id, forget_old_access;
drop trigger session_end on session;
drop function tell_session_end, ingest, apply_events, undo_events, names_event, can_undo, can_be_undone, introduce_suppliers,
              add_to_counters, enlarge_workspace, month_of, weightier_status, base_event_code;

alter table document add column nat_op text;

-- Keys of capture lines and mails no longer lead into workspaces.
alter table capture_subscription drop constraint capture_subscription_workspace_id_company_id_fkey;
alter table capture_refusal drop constraint capture_refusal_workspace_id_certificate_id_fkey;
alter table mail drop constraint mail_workspace_id_fkey;

create table account_directory (email text collate "C" primary key, workspace_id int not null, account_id int not null);
insert into account_directory select email, workspace_id, id from account;
alter table account drop constraint account_email_key;

create table workspace_directory (public_id uuid primary key, workspace_id int not null);
insert into workspace_directory select public_id, id from workspace;
alter table workspace drop constraint workspace_public_id_key;

create table token_directory (token_hash bytea primary key, workspace_id int not null, kept_until timestamptz not null);
create index token_directory_kept_ix on token_directory (kept_until);
insert into token_directory select token_hash, workspace_id, expires_at from session
 union all select token_hash, workspace_id, created_at + interval '30 days' from password_recovery;

alter table company drop constraint company_public_id_key, add unique (workspace_id, public_id);
alter table announcement_position drop constraint announcement_position_session_id_fkey, drop constraint announcement_position_pkey;
alter table session drop constraint session_pkey, drop constraint session_public_id_key,
  add primary key (workspace_id, token_hash), add unique (workspace_id, public_id);
alter table announcement_position add primary key (workspace_id, session_id),
  add foreign key (workspace_id, session_id) references session (workspace_id, public_id) on delete cascade;
alter table password_recovery drop constraint password_recovery_pkey, add primary key (workspace_id, token_hash);

do $$ declare t text; begin
  foreach t in array array['account_directory', 'workspace_directory', 'token_directory'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;

-- Before a session exists there is no workspace to be in. The directory says which one; then one row of that workspace is given away.
create function account_for_login(p_email text)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, password_hash text, shared boolean)
  language plpgsql stable security definer set search_path = public as $$
#variable_conflict use_column
declare d account_directory;
begin
  select * into d from account_directory where email = p_email;
  return query select a.workspace_id, w.public_id, a.id, a.password_hash, a.shared
                 from account a join workspace w on w.id = a.workspace_id where a.workspace_id = d.workspace_id and a.id = d.account_id;
end $$;

create function session_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, account_name text, shared boolean,
                 session_public_id uuid, seen_at timestamptz, expires_at timestamptz)
  language plpgsql stable security definer set search_path = public as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select s.workspace_id, w.public_id, s.account_id, a.name, a.shared, s.public_id, s.seen_at, s.expires_at
                 from session s
                 join workspace w on w.id = s.workspace_id
                 join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
                where s.workspace_id = d.workspace_id and s.token_hash = p_token_hash and s.expires_at > now();
end $$;

create function recovery_for_token(p_token_hash bytea)
  returns table (workspace_id int, account_id int, expires_at timestamptz, used_at timestamptz)
  language plpgsql stable security definer set search_path = public as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select r.workspace_id, r.account_id, r.expires_at, r.used_at
                 from password_recovery r where r.workspace_id = d.workspace_id and r.token_hash = p_token_hash;
end $$;

-- The workspace with the public id, whoever asks; the command line knows no other.
create function workspace_for_public_id(p_public_id uuid) returns int
  language sql stable security definer set search_path = public
  as $$ select workspace_id from workspace_directory where public_id = p_public_id $$;

-- Of all workspaces; nothing else can be removed this way.
create function forget_old_access() returns void language sql security definer set search_path = public
  as $$ with ended as (delete from session where expires_at <= now() returning public_id)
        select pg_notify('vigia_session', public_id::text) from ended;
        delete from password_recovery where created_at < now() - interval '30 days';
        delete from token_directory where kept_until <= now();
        delete from throttle where until <= now() $$;
