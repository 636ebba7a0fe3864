-- What they do is the same. A database that is distributed over several servers carries them out on the server of the workspace, in the session of
-- the caller, where each statement has to say the workspace as a literal: docs/decisions/0076-trouble-on-a-cluster.md.
create or replace function restate_receipts(p_ws int, p_company int, p_service smallint, p_nsu bigint[], p_problem text[], p_unread boolean[])
  returns void language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_ws is null or p_ws is distinct from current_ws() then return; end if;
  execute format(
    'update receipt r set problem = u.problem, unread = u.unread
       from unnest($3, $4, $5) u (nsu, problem, unread)
      where r.workspace_id = %s and r.company_id = $1 and r.service = $2 and r.nsu = u.nsu
        and (r.problem, r.unread) is distinct from (u.problem, u.unread)', p_ws)
    using p_company, p_service, p_nsu, p_problem, p_unread;
end $$;

create or replace function pack_receipts(p_ws int, p_company int, p_service smallint, p_nsu bigint[], p_content bytea[], p_certificate int[])
  returns int language plpgsql security definer set search_path = public, pg_temp as $$
declare
  known int[];
  packed int;
begin
  if p_ws is null or p_ws is distinct from current_ws() then return 0; end if;
  select array_agg(id) into known from dictionary;
  execute format(
    'update receipt r
        set codec = case when u.content is null then -1 else get_byte(u.content, 1) end,
            content = coalesce(u.content, r.content), issuer_certificate_id = u.certificate
       from unnest($3, $4, $5) u (nsu, content, certificate)
      where r.workspace_id = %1$s and r.company_id = $1 and r.service = $2 and r.nsu = u.nsu and r.codec = 0
        and case
              when u.content is null then u.certificate is null
              when octet_length(u.content) < 16 or octet_length(r.content) < 18 then false
              else get_byte(u.content, 0) = 214
               and substring(u.content from 3 for 8) = substring(r.content from octet_length(r.content) - 7)
               and octet_length(u.content) < octet_length(r.content)
               and get_byte(u.content, 1) = any ($6)
               and get_byte(u.content, 10) + 256 * get_byte(u.content, 11) = coalesce(
                     (select octet_length(k.der) from issuer_certificate k where k.workspace_id = %1$s and k.id = u.certificate), 0)
            end', p_ws)
    using p_company, p_service, p_nsu, p_content, p_certificate, known;
  get diagnostics packed = row_count;
  return packed;
end $$;
