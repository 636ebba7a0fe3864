-- The picture that stands beside the name of a company on the forms of what it issues: a PNG in eight bits a colour, without transparency.
create table company_logo (
  workspace_id int not null,
  company_id int not null,
  picture bytea not null,
  primary key (workspace_id, company_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);
alter table company_logo enable row level security;
create policy tenant on company_logo using (workspace_id = current_ws()) with check (workspace_id = current_ws());
