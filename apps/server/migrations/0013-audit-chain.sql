-- Each entry carries a digest of itself and of the entry before it, in the order of the ids of its workspace.
-- Null: written before entries were chained.
alter table audit add column hash bytea;

create function audit_digest(p_previous bytea, p_ws int, p_at timestamptz, p_account int, p_actor text, p_action text, p_description text, p_address text)
  returns bytea language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select sha256(convert_to(json_build_array(encode(p_previous, 'hex'), p_ws, (extract(epoch from p_at) * 1000000)::bigint, p_account, p_actor, p_action,
                                                  p_description, p_address)::text, 'UTF8')) $$;

-- Adds an entry to the chain of its workspace, as the caller may. One statement, so that what it costs tells no more than an insert does. The
-- lock (by workspace; see platform/locks.ts) is held until the commit, which is about to come.
create function append_audit(p_ws int, p_account int, p_actor text, p_action text, p_description text, p_address text, p_search text)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  -- The transaction may have gone on to another workspace since.
  perform set_config('app.ws', p_ws::text, true);
  perform pg_advisory_xact_lock(7656015, p_ws);
  -- A statement of its own: it sees what was committed during the wait for the lock.
  insert into audit (workspace_id, at, account_id, actor, action, description, address, search, hash)
  values (p_ws, now(), p_account, p_actor, p_action, p_description, p_address, p_search,
          audit_digest((select hash from audit where workspace_id = p_ws order by id desc limit 1),
                       p_ws, now(), p_account, p_actor, p_action, p_description, p_address));
end $$;
