-- What is not packed yet is found by it; it empties meanwhile.
create index concurrently receipt_unpacked_ix on receipt (workspace_id, company_id, service, nsu) where codec = 0;
