-- Payments in a calendar of their own: docs/decisions/0044-calendar-feed.md.
alter table calendar_feed add column kind smallint not null default 0; -- 0 deadlines of answers, 1 payments
alter table calendar_feed drop constraint calendar_feed_pkey;
alter table calendar_feed add primary key (workspace_id, account_id, kind);

drop function feed_for_token(bytea);
create function feed_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, company_ids int[], kind smallint)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select f.workspace_id, w.public_id,
                      case when not a.all_companies then array(select c.company_id from account_company c
                                                                where c.workspace_id = a.workspace_id and c.account_id = a.id order by 1) end,
                      f.kind
                 from calendar_feed f
                 join workspace w on w.id = f.workspace_id
                 join account a on a.workspace_id = f.workspace_id and a.id = f.account_id
                where f.workspace_id = d.workspace_id and f.token_hash = p_token_hash
                  and (a.access_until is null or a.access_until > now()) and (w.erase_at is null or w.erase_at > now());
end $$;

-- What one issuer is owed, and what it sold by month.
create index installment_issuer_ix on installment (workspace_id, issuer, due_on);
create index content_sum_issuer_ix on content_sum (workspace_id, key, month) where kind = 0;
