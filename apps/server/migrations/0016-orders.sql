-- Lists are ordered by amount, arrival, deadline and issuer too. What orders and deadlines need stands in the index of the list, so that a period
-- is ordered without reading its documents (24 bytes for each).
drop index document_list_ix;
create index document_list_ix on document (workspace_id, type, issued_at, id)
  include (roles, status, company_id, supplier_id, amount, created_at, authorized_at, complete);
-- The largest of a long period, without reading all of it (40 bytes for each).
create index document_amount_ix on document (workspace_id, type, amount, id);
