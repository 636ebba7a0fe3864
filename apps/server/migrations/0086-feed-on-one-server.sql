-- What it does is the same. Each part names the workspace, so that a database that is distributed over several servers asks one of them:
-- docs/decisions/0076-trouble-on-a-cluster.md.
create or replace function feed_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, company_ids int[], kind smallint)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select f.workspace_id, w.public_id,
                      case when not a.all_companies then array(select c.company_id from account_company c
                                                                where c.workspace_id = d.workspace_id and c.account_id = a.id order by 1) end,
                      f.kind
                 from calendar_feed f
                 join workspace w on w.id = f.workspace_id
                 join account a on a.workspace_id = f.workspace_id and a.id = f.account_id
                where f.workspace_id = d.workspace_id and w.id = d.workspace_id and a.workspace_id = d.workspace_id
                  and f.token_hash = p_token_hash
                  and (a.access_until is null or a.access_until > now()) and (w.erase_at is null or w.erase_at > now());
end $$;
