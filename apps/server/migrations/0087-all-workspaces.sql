-- The numbers of all workspaces, from what stays on the coordinator when a server for rows is away:
-- docs/decisions/0080-turns-while-a-server-is-away.md.
create function all_workspaces() returns setof int language sql stable security definer set search_path = public, pg_temp
  as $$ select workspace_id from workspace_directory $$;
