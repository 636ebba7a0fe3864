-- What changed in a workspace, in order, for programs that follow it: docs/decisions/0033-change-feed.md.

-- A row for each workspace in which something changed. The version is taken right before the commit and the row stays locked until then, so
-- that versions become visible in their order.
create table change_position (
  workspace_id int primary key references workspace (id),
  version bigint not null,          -- the newest that was given
  -- Versions up to here are not kept any more.
  forgotten bigint not null default 0
) with (fillfactor = 50);
alter table change_position enable row level security;
create policy tenant on change_position using (workspace_id = current_ws() or capturing()) with check (workspace_id = current_ws() or capturing());
create policy operator on change_position using (operating()) with check (operating());

create table document_change (
  workspace_id int not null,
  document_id bigint not null,
  version bigint not null,
  at timestamptz not null,
  event_id bigint,                  -- of outgoing_event, when an answer of ours was settled
  kind smallint not null,           -- changes/changes.ts
  primary key (workspace_id, version)
);
-- Rows are added in the order of their time.
create index document_change_at_ix on document_change using brin (at);
alter table document_change enable row level security;
create policy tenant on document_change using (workspace_id = current_ws() or capturing()) with check (workspace_id = current_ws() or capturing());
create policy operator on document_change for select using (operating());
