-- Justifications that a workspace keeps to use again, for each kind of manifestação.
create table manifestation_text (
  workspace_id int not null,
  type smallint not null,           -- 0 NF-e, 2 CT-e
  choice int not null,              -- tipoManifestacao
  text text not null,
  kept_at timestamptz not null default now(),
  primary key (workspace_id, type, choice, text),
  foreign key (workspace_id) references workspace (id)
);
alter table manifestation_text enable row level security;
create policy tenant on manifestation_text using (workspace_id = current_ws()) with check (workspace_id = current_ws());
