-- The session of the person whose action it is: what others are told is an echo to them. Null: nobody's, or that of several.
alter table happening add session_id uuid;
alter table announcement add session_id uuid;

-- Up to where an account has read: what was announced is kept for a month, for everybody in the workspace.
create table announcement_reading (
  workspace_id int not null,
  account_id int not null,
  read_up_to bigint not null,
  primary key (workspace_id, account_id),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);
-- Until now there was no history: what is in it already was shown when it happened.
insert into announcement_reading
select a.workspace_id, a.id, max(n.id) from account a join announcement n using (workspace_id) group by 1, 2;
alter table announcement_reading enable row level security;
create policy tenant on announcement_reading using (workspace_id = current_ws()) with check (workspace_id = current_ws());
