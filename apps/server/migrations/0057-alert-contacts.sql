-- Under which telephone, e-mail or address an issuer supplied a company base, with its first such document: S19.
create table alert_contact (
  workspace_id int not null,
  at bigint not null,
  company_base text collate "C" not null,
  key text collate "C" not null,
  issuer_base text collate "C" not null,
  chave text collate "C" not null,
  primary key (workspace_id, company_base, key, issuer_base)
);
create index alert_contact_issuer_ix on alert_contact (workspace_id, company_base, issuer_base);
alter table alert_contact enable row level security;
create policy tenant on alert_contact using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- What is known of the documents that are here lacks contacts and transport: all are read again, what changes first.
-- A turn that is under way ends without writing its position.
update alert_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
