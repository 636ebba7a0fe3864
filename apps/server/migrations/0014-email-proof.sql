-- Sign-up proves the e-mail: apps/server/accounts/proof.ts.

-- When somebody who reads the mailbox said so, by a link; null: perhaps the address is that of a person who never heard of us.
alter table account add column email_proved_at timestamptz;
-- Whoever had entered by now was written to before, and has certificates here.
update account set email_proved_at = entered_at where entered_at is not null;

-- Links that a letter carries. What was made for one purpose opens nothing else.
alter table password_recovery rename to mail_link;
alter index password_recovery_account_ix rename to mail_link_account_ix;
alter table mail_link add column purpose text not null default 'password' check (purpose in ('password', 'email'));
alter table mail_link alter column purpose drop default;

drop function recovery_for_token(bytea);
create function link_for_token(p_token_hash bytea)
  returns table (workspace_id int, account_id int, purpose text, expires_at timestamptz, used_at timestamptz)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select l.workspace_id, l.account_id, l.purpose, l.expires_at, l.used_at
                 from mail_link l where l.workspace_id = d.workspace_id and l.token_hash = p_token_hash;
end $$;

create or replace function forget_old_access() returns void language sql security definer set search_path = public, pg_temp
  as $$ with ended as (delete from session where expires_at <= now() returning public_id)
        select pg_notify('vigia_session', public_id::text) from ended;
        delete from mail_link where created_at < now() - interval '30 days';
        delete from token_directory where kept_until <= now();
        delete from throttle where until <= now() $$;

-- As before, with the new name.
create or replace function erase_workspace(p_ws int, p_max int) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  t text;
  n int;
  known text[] := array[
    'outgoing_event_call', 'outgoing_event', 'document_export', 'document_event', 'document', 'supplier', 'receipt',
    'count_year', 'count_month', 'count_day', 'capture_refusal', 'company_logo', 'certificate_use', 'certificate', 'company',
    'happening', 'notice', 'announcement_position', 'announcement', 'mail_link', 'session', 'account', 'audit',
    'token_directory', 'account_directory', 'mail', 'workspace_directory'
  ];
begin
  -- Locked: two processes would remove rows to which rows that the other has yet to remove refer.
  if p_ws is distinct from current_ws() or not exists (select from workspace where id = p_ws and erase_at <= now() for update) then
    raise exception 'nobody wants workspace % erased', p_ws;
  end if;
  if exists (select from capture_subscription where workspace_id = p_ws) then
    raise exception 'workspace % may be the only one that has what a capture line brought', p_ws;
  end if;
  -- What refers to others comes before them, and what later migrations added before all.
  foreach t in array (
    select coalesce(array_agg(c.relname::text order by c.relname), '{}') from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all (known)
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped)) || known
  loop
    execute format('delete from %I where ctid = any (array(select ctid from %I where workspace_id = $1 limit $2))', t, t) using p_ws, p_max;
    get diagnostics n = row_count;
    if n > 0 then return true; end if;
  end loop;
  delete from workspace where id = p_ws;
  return false;
end $$;
