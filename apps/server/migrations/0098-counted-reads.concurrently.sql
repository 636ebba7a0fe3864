-- A read looks for its entry of the last hour.
create index concurrently audit_read_ix on audit (workspace_id, description, at) where action = 'leitura';
