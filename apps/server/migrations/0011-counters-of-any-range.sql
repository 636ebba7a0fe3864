-- Any range of dates in a few rows of counters: years beside months and days, amounts of days too, and day counters from a thousand documents
-- a month on, not from twenty thousand. What is still counted row by row (part of a day, a search) is added up in the index.

-- In the order in which whoever writes a page takes them: a process that is running meanwhile waits, and then counts by years too.
lock table document, count_month, count_day in access exclusive mode;

create table count_year (
  workspace_id int not null, type smallint not null, year date not null, company_id int not null,
  roles smallint not null, status smallint not null, n int not null, amount numeric(24, 2) not null,
  primary key (workspace_id, type, year, company_id, roles, status) include (n, amount)
);
alter table count_year enable row level security;
create policy tenant on count_year using (workspace_id = current_ws()) with check (workspace_id = current_ws());
insert into count_year (workspace_id, type, year, company_id, roles, status, n, amount)
select workspace_id, type, date_trunc('year', month)::date, company_id, roles, status, sum(n)::int, sum(amount)
  from count_month group by 1, 2, 3, 4, 5, 6;

create or replace function add_to_counters(p_ws int, p_company int, p_type smallint,
                                           p_issued timestamp[], p_roles smallint[], p_status smallint[], p_sign int[], p_amount numeric[])
returns void language plpgsql as $f$
begin
  insert into count_month as c (workspace_id, type, month, company_id, roles, status, n, amount)
  select p_ws, p_type, month_of(i), p_company, r, s, sum(v)::int, sum(v * a)
    from unnest(p_issued, p_roles, p_status, p_sign, p_amount) u (i, r, s, v, a)
   group by month_of(i), r, s having sum(v) <> 0 or sum(v * a) <> 0 order by 3, r, s
  on conflict (workspace_id, type, month, company_id, roles, status)
    do update set n = c.n + excluded.n, amount = c.amount + excluded.amount;
  insert into count_year as c (workspace_id, type, year, company_id, roles, status, n, amount)
  select p_ws, p_type, date_trunc('year', i)::date, p_company, r, s, sum(v)::int, sum(v * a)
    from unnest(p_issued, p_roles, p_status, p_sign, p_amount) u (i, r, s, v, a)
   group by date_trunc('year', i)::date, r, s having sum(v) <> 0 or sum(v * a) <> 0 order by 3, r, s
  on conflict (workspace_id, type, year, company_id, roles, status)
    do update set n = c.n + excluded.n, amount = c.amount + excluded.amount;
  if (select large from workspace where id = p_ws) then
    insert into count_day as c (workspace_id, type, day, company_id, roles, status, n, amount)
    select p_ws, p_type, i::date, p_company, r, s, sum(v)::int, sum(v * a)
      from unnest(p_issued, p_roles, p_status, p_sign, p_amount) u (i, r, s, v, a)
     group by i::date, r, s having sum(v) <> 0 or sum(v * a) <> 0 order by 3, r, s
    on conflict (workspace_id, type, day, company_id, roles, status)
      do update set n = c.n + excluded.n, amount = c.amount + excluded.amount;
  end if;
end $f$;

create or replace function enlarge_workspace(p_ws int) returns boolean language plpgsql as $f$
begin
  if (select large from workspace where id = p_ws)
     or not exists (select 1 from count_month where workspace_id = p_ws group by type, month having sum(n) >= 1000) then
    return false;
  end if;
  -- Who changes the plan or adds a company holds the row and waits for a conversation, which waits for this lock: the row comes first.
  perform 1 from workspace where id = p_ws for no key update skip locked;
  if not found or not pg_try_advisory_xact_lock(7316010, p_ws) then
    return false;
  end if;
  update workspace set large = true where id = p_ws and not large;
  if found then
    insert into count_day (workspace_id, type, day, company_id, roles, status, n, amount)
    select workspace_id, type, issued_at::date, company_id, roles, status, count(*)::int, sum(amount)
      from document where workspace_id = p_ws group by 1, 2, 3, 4, 5, 6;
  end if;
  return found;
end $f$;

truncate count_day;
alter table count_day add column amount numeric(24, 2) not null;
-- One by one each would hold a lock to the end, and a large installation has more workspaces than a server has locks.
update workspace w
   set large = exists (select 1 from count_month m where m.workspace_id = w.id group by m.type, m.month having sum(m.n) >= 1000);
insert into count_day (workspace_id, type, day, company_id, roles, status, n, amount)
select d.workspace_id, d.type, d.issued_at::date, d.company_id, d.roles, d.status, count(*)::int, sum(d.amount)
  from document d join workspace w on w.id = d.workspace_id and w.large group by 1, 2, 3, 4, 5, 6;

-- Read from the index alone, which asks that most pages were vacuumed; the update of a counter costs an entry of it instead.
alter table count_month drop constraint count_month_pkey, add primary key (workspace_id, type, month, company_id, roles, status) include (n, amount);
alter table count_day drop constraint count_day_pkey, add primary key (workspace_id, type, day, company_id, roles, status) include (n, amount);
do $$ declare t text; begin
  foreach t in array array['count_year', 'count_month', 'count_day'] loop
    execute format('alter table %I set (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.02)', t);
  end loop;
end $$;

drop index document_list_ix;
create index document_list_ix on document (workspace_id, type, issued_at, id) include (roles, status, company_id, supplier_id, amount);
drop index document_list_company_ix;
create index document_list_company_ix on document (workspace_id, company_id, type, issued_at, id) include (roles, status, amount);
drop index document_supplier_ix;
create index document_supplier_ix on document (workspace_id, supplier_id, type, issued_at, id) include (roles, status, company_id, amount);
-- What is frequent in all workspaces together says nothing of one, and a search compares thousands of suppliers with each that is kept.
alter table document alter supplier_id set statistics 10;
