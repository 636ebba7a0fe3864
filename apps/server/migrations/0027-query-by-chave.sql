-- The query by chave (consChNFe), for notes whose complete document does not come by itself; it shares the quota of the queries by NSU.
alter table capture_call drop constraint capture_call_query_check;
alter table capture_call add constraint capture_call_query_check check (query in ('distNSU', 'consNSU', 'consChNFe'));
alter table capture_call add chave text collate "C";
create index capture_call_chave_ix on capture_call (line_id, chave) where chave is not null;
-- Once for the notes that were answered before, spread over a day.
update capture_line set gap_at = now() + random() * interval '1 day' where service = 0 and gap_at is null;
-- The chave of the query that left last; null: it was one by NSU.
alter table capture_line add asked_chave text collate "C";
