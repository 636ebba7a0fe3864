-- An export is made by a worker, in parts, and can be fetched for a day: documents/export.

alter table document_export
  -- Null: asked for before there was this column.
  add column account_id int,
  add column form text not null default 'zip' check (form in ('zip', 'pdf')),
  add column total int not null default 0,
  add column state text not null default 'waiting' check (state in ('waiting', 'ready', 'failed')),
  -- Which time it is made: what an earlier one left is not read on.
  add column attempt int not null default 0,
  add column done int not null default 0,
  add column parts int not null default 0,
  add column bytes bigint not null default 0,
  -- For the person: why it failed, or what is not in it.
  add column problem text,
  add column lease_until timestamptz;
-- Earlier ones were made while they were fetched, by a link for ten minutes: there is nothing to fetch.
update document_export set state = 'failed', problem = 'O link desta exportação já não vale. Seus documentos estão seguros: exporte de novo.';
create index document_export_due_ix on document_export (requested_at) where state = 'waiting';
create policy operator on document_export using (operating()) with check (operating());

-- Can be made anew from the documents, so it is not in the log of the database: a crash empties it.
create unlogged table export_part (
  workspace_id int not null,
  export_id bigint not null,
  n int not null,
  content bytea not null,
  primary key (workspace_id, export_id, n),
  foreign key (workspace_id, export_id) references document_export (workspace_id, id) on delete cascade
);
-- It is compressed already.
alter table export_part alter column content set storage external;
alter table export_part enable row level security;
create policy tenant on export_part using (workspace_id = current_ws()) with check (workspace_id = current_ws());
