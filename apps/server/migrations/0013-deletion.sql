-- Deletion of a workspace with its account: apps/server/deletion.

-- When everything of it goes; null: nobody wants that.
alter table workspace add column erase_at timestamptz;
create index workspace_erase_ix on workspace (erase_at) where erase_at is not null;

-- What is known of a workspace that was deleted: nothing of a person.
create table erasure (
  workspace uuid primary key,       -- the public id, as logs and older copies of the database name it
  began_at timestamptz not null default now(),
  companies int not null,
  documents bigint not null,
  -- Null: what is left goes in the next minutes.
  ended_at timestamptz
);
alter table erasure enable row level security;
create policy operator on erasure using (operating()) with check (operating());

-- Removes some rows of a workspace whose time is over; returns whether there may be more. Received bytes and entries of the audit, which the
-- application may not remove otherwise, are among them.
create function erase_workspace(p_ws int, p_max int) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  t text;
  n int;
  known text[] := array[
    'outgoing_event_call', 'outgoing_event', 'document_export', 'document_event', 'document', 'supplier', 'receipt',
    'count_year', 'count_month', 'count_day', 'capture_refusal', 'company_logo', 'certificate_use', 'certificate', 'company',
    'happening', 'notice', 'announcement_position', 'announcement', 'password_recovery', 'session', 'account', 'audit',
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

-- Removes a capture line that nobody receives any more, with its ledger. Not before its pause is over: a new line of the CNPJ begins without.
create function erase_line(p_line int) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not capturing() or exists (select from capture_subscription where line_id = p_line)
     or exists (select from capture_line where id = p_line and allowed_at > now()) then
    raise exception 'capture line % is in use, or rests', p_line;
  end if;
  delete from capture_refusal where line_id = p_line;
  delete from capture_gap where line_id = p_line;
  delete from capture_call where line_id = p_line;
  delete from capture_line where id = p_line;
end $$;
