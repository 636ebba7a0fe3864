-- What it does is the same; a database that is distributed over several servers can carry it out, because the rows that go name their workspace: docs/decisions/0064.
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
    execute format('delete from %I where workspace_id = $1 and ctid = any (array(select ctid from %I where workspace_id = $1 limit $2))', t, t)
      using p_ws, p_max;
    get diagnostics n = row_count;
    if n > 0 then return true; end if;
  end loop;
  delete from workspace where id = p_ws;
  return false;
end $$;
