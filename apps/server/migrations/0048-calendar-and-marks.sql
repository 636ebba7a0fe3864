-- The deadlines of a workspace at a secret address, one for each person: docs/decisions/0044-calendar-feed.md.

create table calendar_feed (
  workspace_id int not null,
  account_id int not null,
  token_hash bytea not null,        -- SHA-256 of the secret in the address
  created_at timestamptz not null default now(),
  primary key (workspace_id, account_id),
  unique (workspace_id, token_hash),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);
alter table calendar_feed enable row level security;
create policy tenant on calendar_feed using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- Whose deadlines an address shows, as long as the person may see them; no companies named: all.
create function feed_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, company_ids int[])
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select f.workspace_id, w.public_id,
                      case when not a.all_companies then array(select c.company_id from account_company c
                                                                where c.workspace_id = a.workspace_id and c.account_id = a.id order by 1) end
                 from calendar_feed f
                 join workspace w on w.id = f.workspace_id
                 join account a on a.workspace_id = f.workspace_id and a.id = f.account_id
                where f.workspace_id = d.workspace_id and f.token_hash = p_token_hash
                  and (a.access_until is null or a.access_until > now()) and (w.erase_at is null or w.erase_at > now());
end $$;

-- Like checked: a person says that it stands in the books, or was handed on (docs/decisions/0042-remarks.md).
alter table document_reliance
  add column booked_at timestamptz,
  add column booked_by int,
  add column delivered_at timestamptz,
  add column delivered_by int;
create index document_reliance_booked_ix on document_reliance (workspace_id, document_id) where booked_at is not null;
create index document_reliance_delivered_ix on document_reliance (workspace_id, document_id) where delivered_at is not null;
