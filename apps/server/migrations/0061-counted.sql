-- Sums of products by year, and lists of what a number of a report counted: what is inside each document is read anew, for both. Marks of parcels stay.
drop table product_sum;
create table product_sum (
  workspace_id int not null,
  product_id int not null,
  company_id int not null,
  year smallint not null,
  side smallint not null,
  -- Of each month three numbers: value in cents (vProd less vDesc), quantity in ten thousandths of the unit of the product, documents. Those of January
  -- would be the first; the array begins with the first month that has any.
  cells bigint[] not null,
  primary key (workspace_id, side, year, product_id, company_id)
) with (fillfactor = 90);
alter table product_sum enable row level security;
create policy tenant on product_sum using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- Each product is found by all of its texts: some suppliers have one code for everything.
alter table product add column hash int not null
  generated always as (hashtext(code || '/' || name || '/' || ncm || '/' || unit || '/' || coalesce(gtin, ''))) stored;
drop index product_issuer_ix;
create index product_issuer_ix on product (workspace_id, issuer, hash);

truncate content, content_index, content_unread, content_sum;
update content_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
