-- Shows that storing works before a query leaves: each process writes its row, of the size of a few documents.
create table storage_probe (
  who uuid primary key,
  at timestamptz not null default now(),
  filler bytea not null
);
alter table storage_probe alter filler set storage external;
alter table storage_probe enable row level security;
create policy everybody on storage_probe using (true) with check (true);

-- What the server uses beside the tables, in bytes. Null where the owner of the database may not see it.
create function storage_use() returns table (wal_bytes float8, temp_bytes float8)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select (select coalesce(sum(size), 0)::float8 from pg_ls_waldir()),
                      (select d.temp_bytes::float8 from pg_stat_database d where datname = current_database());
exception when insufficient_privilege then
  return query select null::float8, null::float8;
end $$;
