-- What these functions do is the same; how they say it can be carried out by a database that is distributed over several servers, too: docs/decisions/0064.

-- Adds an entry to the chain of its workspace, as the caller may. One call, so that what it costs tells no more than an insert does. The
-- lock (by workspace; see platform/locks.ts) is held until the commit, which is about to come.
create or replace function append_audit(p_ws int, p_account int, p_actor text, p_action text, p_description text, p_address text, p_search text)
  returns void language plpgsql set search_path = public, pg_temp as $$
declare previous bytea;
begin
  -- The transaction may have gone on to another workspace since. A statement, not set_config: only that reaches the other servers.
  execute format('set local app.ws = %L', p_ws);
  perform pg_advisory_xact_lock(7656015, p_ws);
  -- A statement of its own: it sees what was committed during the wait for the lock.
  select a.hash into previous from audit a where a.workspace_id = p_ws order by a.id desc limit 1;
  insert into audit (workspace_id, at, account_id, actor, action, description, address, search, hash)
  values (p_ws, now(), p_account, p_actor, p_action, p_description, p_address, p_search,
          audit_digest(previous, p_ws, now(), p_account, p_actor, p_action, p_description, p_address));
end $$;

-- Of all workspaces; nothing else can be removed this way. Who listens does so where the function runs, not where the rows are.
create or replace function forget_old_access() returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare ended uuid;
begin
  for ended in delete from session where expires_at <= now() returning public_id loop
    perform pg_notify('vigia_session', ended::text);
  end loop;
  delete from mail_link where created_at < now() - interval '30 days';
  delete from token_directory where kept_until <= now();
  delete from throttle where until <= now();
end $$;
