-- Keys of workspaces and of the installation: docs/decisions/0031-signer.md. Only the signer reads them.

-- The private keys of a workspace's certificates are sealed with this one, which is itself wrapped. Without it nothing opens them.
create table workspace_key (
  workspace_id int primary key,
  key_id text not null,              -- certificates that are sealed with it name it
  wrapped bytea not null,
  wrapper_id text not null,          -- names what wrapped it: a master key, a command
  made_at timestamptz not null default now()
);
alter table workspace_key enable row level security;
create policy tenant on workspace_key using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- From this one come tokens of recovery links and tickets of exports.
create table installation_key (
  purpose text primary key,
  wrapped bytea not null,
  wrapper_id text not null,
  made_at timestamptz not null default now()
);
alter table installation_key enable row level security;
create policy everybody on installation_key using (true) with check (true);

-- The signer looks itself, on the connection of a start.
drop function certificates_sealed_otherwise;
drop policy if exists owner on certificate;
