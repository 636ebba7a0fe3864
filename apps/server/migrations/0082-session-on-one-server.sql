-- What it does is the same. Each part names the workspace, so that a database that is distributed over several servers asks one of them:
-- docs/decisions/0076-trouble-on-a-cluster.md.
create or replace function session_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, account_name text, shared boolean, role text, company_ids int[],
                 home_workspace_id int, home_account_id int, lacks_factor boolean, access_over boolean,
                 session_public_id uuid, seen_at timestamptz, expires_at timestamptz, proved_at timestamptz)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  d token_directory;
  requires boolean;
  home_ws int;
  home_id int;
  shown boolean;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  select w.requires_factor, coalesce(a.home_workspace_id, a.workspace_id), coalesce(a.home_account_id, a.id), s.with_factor
    into requires, home_ws, home_id, shown
    from session s join workspace w on w.id = s.workspace_id join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
   where s.workspace_id = d.workspace_id and w.id = d.workspace_id and a.workspace_id = d.workspace_id and s.token_hash = p_token_hash;
  if requires and shown then
    shown := exists (select from second_factor f where f.workspace_id = home_ws and f.account_id = home_id and f.confirmed_at is not null)
          or exists (select from passkey p where p.workspace_id = home_ws and p.account_id = home_id);
  end if;
  return query select s.workspace_id, w.public_id, s.account_id, a.name, a.shared, a.role,
                      case when not a.all_companies then array(select c.company_id from account_company c
                                                                where c.workspace_id = d.workspace_id and c.account_id = a.id order by 1) end,
                      home_ws, home_id, requires and not shown, coalesce(a.access_until <= now(), false),
                      s.public_id, s.seen_at, s.expires_at, s.proved_at
                 from session s
                 join workspace w on w.id = s.workspace_id
                 join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
                where s.workspace_id = d.workspace_id and w.id = d.workspace_id and a.workspace_id = d.workspace_id
                  and s.token_hash = p_token_hash and s.expires_at > now();
end $$;
