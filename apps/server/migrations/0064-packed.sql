-- Received bytes in a small form (docs/decisions/0062-packed-receipts.md).

-- With what they were packed: kept for ever. The files stand in the program too, and a start compares.
create table dictionary (
  id smallint primary key,
  content bytea not null,
  -- Until then processes of the version before may run, which cannot open what is packed with it.
  usable_at timestamptz not null
);
alter table dictionary enable row level security;
create policy everybody on dictionary using (true) with check (true);

-- Certificates of signers, once for each workspace: receipts name them. Rows are only added.
create sequence issuer_certificate_id_seq as int cache 20;
create table issuer_certificate (
  workspace_id int not null,
  id int not null default nextval('issuer_certificate_id_seq'),
  sha256 bytea not null,
  der bytea not null,
  primary key (workspace_id, id),
  unique (workspace_id, sha256)
);
alter table issuer_certificate alter der set storage external;
alter table issuer_certificate enable row level security;
create policy tenant on issuer_certificate using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- The codec is the dictionary with which content is packed; 0: the gzip stream as received; -1: so, and it stays so.
alter table receipt add column issuer_certificate_id int;

-- The application may not change receipts. That a gzip stream takes its small form is the one thing that may happen to their bytes, once: the small
-- form has to name the checksum and the length with which the stream ends, a dictionary and a certificate that are here, and to be smaller. Without
-- content: it stays as it is. Returns how many changed.
create function pack_receipts(p_ws int, p_company int, p_service smallint, p_nsu bigint[], p_content bytea[], p_certificate int[])
  returns int language sql security definer set search_path = public, pg_temp
  as $$ with packed as (
          update receipt r
             set codec = case when u.content is null then -1 else get_byte(u.content, 1) end,
                 content = coalesce(u.content, r.content), issuer_certificate_id = u.certificate
            from unnest(p_nsu, p_content, p_certificate) u (nsu, content, certificate)
           where p_ws = current_ws() and r.workspace_id = p_ws and r.company_id = p_company and r.service = p_service and r.nsu = u.nsu and r.codec = 0
             and case
                   when u.content is null then u.certificate is null
                   when octet_length(u.content) < 16 or octet_length(r.content) < 18 then false
                   else get_byte(u.content, 0) = 214
                    and substring(u.content from 3 for 8) = substring(r.content from octet_length(r.content) - 7)
                    and octet_length(u.content) < octet_length(r.content)
                    and exists (select from dictionary d where d.id = get_byte(u.content, 1))
                    and get_byte(u.content, 10) + 256 * get_byte(u.content, 11) = coalesce(
                          (select octet_length(k.der) from issuer_certificate k where k.workspace_id = p_ws and k.id = u.certificate), 0)
                 end
          returning 1)
        select count(*)::int from packed $$;
