-- The second factor of an account (apps/server/accounts/second-factor.ts), and when somebody last proved to be the account's person.

create table second_factor (
  workspace_id int not null,
  account_id int not null,
  secret bytea not null,            -- of the codes by time (RFC 6238), sealed
  begun_at timestamptz not null default now(),
  confirmed_at timestamptz,         -- null: the person has not shown yet that a program makes its codes
  last_step bigint not null default 0, -- of the last code that was taken: none is taken twice
  primary key (workspace_id, account_id),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);

-- Codes for when the telephone is gone, each good once.
create table recovery_code (
  workspace_id int not null,
  account_id int not null,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (workspace_id, account_id, code_hash),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);

do $$ declare t text; begin
  foreach t in array array['second_factor', 'recovery_code'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;

alter table session add column proved_at timestamptz;
update session set proved_at = created_at;
alter table session alter column proved_at set default now(), alter column proved_at set not null;

drop function session_for_token(bytea);
create function session_for_token(p_token_hash bytea)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, account_name text, shared boolean,
                 session_public_id uuid, seen_at timestamptz, expires_at timestamptz, proved_at timestamptz)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_token_hash;
  return query select s.workspace_id, w.public_id, s.account_id, a.name, a.shared, s.public_id, s.seen_at, s.expires_at, s.proved_at
                 from session s
                 join workspace w on w.id = s.workspace_id
                 join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
                where s.workspace_id = d.workspace_id and s.token_hash = p_token_hash and s.expires_at > now();
end $$;
