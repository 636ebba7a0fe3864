-- A company that was archived is captured no more and counts for no plan; its documents stay.
alter table company drop column active;
alter table company add column archived_at timestamptz;
alter table company add column active boolean not null generated always as (archived_at is null) stored;
