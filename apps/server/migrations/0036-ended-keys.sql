-- Ends the API keys that an account has made since then, for who replaced a forgotten password; says which: docs/decisions/0037-api-keys.md.
create function end_keys_made_by(p_ws int, p_account int, p_since timestamptz) returns table (name text, start text)
  language sql set search_path = public, pg_temp as $$
  with ended as (
    select k.id, k.token_hash from api_key k
     where k.workspace_id = p_ws and k.created_by = p_account and k.created_at >= p_since and k.token_hash is not null),
  unlisted as (
    delete from token_directory d using ended where d.workspace_id = p_ws and d.token_hash = ended.token_hash)
  update api_key k set token_hash = null from ended where k.workspace_id = p_ws and k.id = ended.id
  returning k.name, k.start
$$;
