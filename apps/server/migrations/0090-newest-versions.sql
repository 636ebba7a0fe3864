-- The newest version of changes that was seen of a workspace. Where workspaces lie on several servers, one that gives an older version came back from a copy without the others.
alter table workspace_directory add column version bigint not null default 0;

-- Notes the versions that workspaces have now, and returns those that had a later one. Whoever calls it holds a lock from before it looked.
create function note_versions(p_workspaces int[], p_versions bigint[]) returns int[]
  language plpgsql security definer set search_path = public, pg_temp as $$
declare older int[];
begin
  if not operating() then return '{}'; end if;
  select array_agg(d.workspace_id order by d.workspace_id) into older
    from unnest(p_workspaces, p_versions) s (id, version) join workspace_directory d on d.workspace_id = s.id
   where s.version < d.version;
  update workspace_directory d set version = s.version
    from unnest(p_workspaces, p_versions) s (id, version) where d.workspace_id = s.id and d.version <> s.version;
  return coalesce(older, '{}');
end $$;
