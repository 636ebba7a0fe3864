-- Counts a read of the last hour, or adds an entry for it. From another address it has one of its own: somebody else may have the link or the token.
create or replace function append_read(p_ws int, p_account int, p_actor text, p_description text, p_address text, p_search text)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  execute format('set local app.ws = %L', p_ws);
  perform pg_advisory_xact_lock(7656015, p_ws);
  update audit a set times = a.times + 1
   where a.workspace_id = p_ws and a.action = 'leitura' and a.description = p_description and a.actor = p_actor
     and a.account_id is not distinct from p_account and a.address is not distinct from p_address and a.at > now() - interval '1 hour';
  if not found then
    perform append_audit(p_ws, p_account, p_actor, 'leitura', p_description, p_address, p_search);
  end if;
end $$;
