-- What it does is the same. What lies on the coordinator is not joined with what belongs to a workspace, and each part names the workspace:
-- docs/decisions/0076-trouble-on-a-cluster.md.
create or replace function invitation_for_token(p_token_hash bytea)
  returns table (workspace_id int, invitation_id int, workspace_name text, email text, role text, inviter text, expires_at timestamptz, has_account boolean)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  d token_directory;
  guest text;
  known boolean;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  select i.email into guest from invitation i where i.workspace_id = d.workspace_id and i.token_hash = p_token_hash;
  known := exists (select from account_directory a where a.email = guest);
  return query select i.workspace_id, i.id, w.name, i.email, i.role, a.name, i.expires_at, known
                 from invitation i join workspace w on w.id = i.workspace_id
                 left join account a on a.workspace_id = d.workspace_id and a.id = i.invited_by
                where i.workspace_id = d.workspace_id and w.id = d.workspace_id and i.token_hash = p_token_hash
                  and (w.erase_at is null or w.erase_at > now());
end $$;
