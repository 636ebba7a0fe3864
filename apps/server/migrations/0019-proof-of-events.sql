-- What the verification of an event and its registration found, as document.proof does of a document. In both columns null is only what is not
-- verified yet, and summaries: a review of the workspace verifies it (apps/server/documents/missed-proofs.ts).
alter table document_event add column proof text;
create index document_unproved on document (workspace_id, company_id) where complete and proof is null;
create index document_event_unproved on document_event (workspace_id, company_id) where not summary and proof is null;
