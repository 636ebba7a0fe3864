-- How often somebody took the same file within an hour of the entry. Not part of the chain, where an entry does not change any more.
alter table audit add column times int not null default 1;

-- Counts a read of the last hour, or adds an entry for it. The lock is that of `append_audit`.
create function append_read(p_ws int, p_account int, p_actor text, p_description text, p_address text, p_search text)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  execute format('set local app.ws = %L', p_ws);
  perform pg_advisory_xact_lock(7656015, p_ws);
  update audit a set times = a.times + 1
   where a.workspace_id = p_ws and a.action = 'leitura' and a.description = p_description and a.actor = p_actor
     and a.account_id is not distinct from p_account and a.at > now() - interval '1 hour';
  if not found then
    perform append_audit(p_ws, p_account, p_actor, 'leitura', p_description, p_address, p_search);
  end if;
end $$;
