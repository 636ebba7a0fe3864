-- Documents that could not be judged, or not be read for it: tried again, and no automatic answer takes them for judged.
create table alert_unjudged (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  again_at timestamptz not null,
  primary key (workspace_id, document_id)
);
alter table alert_unjudged enable row level security;
create policy tenant on alert_unjudged using (workspace_id = current_ws()) with check (workspace_id = current_ws());
