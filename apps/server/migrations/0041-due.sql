-- Deadlines count from the authorisation: these lead to the documents whose deadline is near. Only a summary waits for the Ciência, and there are few.
create index document_due_ix on document (workspace_id, type, authorized_at) where status not in (3, 9);
create index document_ciencia_ix on document (workspace_id, type, authorized_at) where not complete and status not in (3, 9);
