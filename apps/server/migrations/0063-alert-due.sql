-- Which documents are to be judged again, and when; one without a row: when something changes. Apart from what is known of them, whose rows have
-- eight indexes that each mark would write.
create table alert_due (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  again_at timestamptz not null,
  primary key (workspace_id, document_id)
);
create index alert_due_ix on alert_due (workspace_id, again_at, document_id);
alter table alert_due enable row level security;
create policy tenant on alert_due using (workspace_id = current_ws()) with check (workspace_id = current_ws());
insert into alert_due (workspace_id, document_id, company_id, again_at)
select workspace_id, document_id, company_id, again_at from alert_fact where again_at is not null;
drop index alert_fact_again_ix;
alter table alert_fact drop column again_at;

-- Purchases before which none of the pair stands, as of the last verdict: the few that may be judged otherwise because another name is known.
alter table alert_fact add column is_new boolean not null default false;
create index alert_fact_new_ix on alert_fact (workspace_id, company_base, issuer_base, at) where is_new;

-- How many notes there are of the month whose items are known, and how many of them with something of a chapter of the NCM: S28.
alter table alert_histogram add column notes int not null default 0, add column chapters jsonb not null default '{}';

-- What is known of the documents that are here lacks their items: all are read again, what changes first.
-- A turn that is under way ends without writing its position.
update alert_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
