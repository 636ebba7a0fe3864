-- Passkeys of an account (WebAuthn): docs/decisions/0039-passkeys.md. `token_directory` says in which workspace one is, by its digest.
create table passkey (
  workspace_id int not null,
  account_id int not null,
  digest bytea not null,            -- SHA-256 of the id that the authenticator gave it
  public_id uuid not null default gen_random_uuid(),
  credential_id text not null,      -- base64url
  public_key bytea not null,        -- COSE
  counter bigint not null,          -- of the last signature; 0: the authenticator does not count
  transports text[] not null,
  name text not null,               -- as its person calls it
  created_at timestamptz not null default now(),
  used_at timestamptz,
  primary key (workspace_id, digest),
  unique (workspace_id, public_id),
  foreign key (workspace_id, account_id) references account (workspace_id, id) on delete cascade
);
create index passkey_account_ix on passkey (workspace_id, account_id);
alter table passkey enable row level security;
create policy tenant on passkey using (workspace_id = current_ws()) with check (workspace_id = current_ws());

-- Like account_for_login, for somebody who shows a passkey: who says with it who they are has not named an e-mail.
create function account_for_passkey(p_digest bytea)
  returns table (workspace_id int, workspace_public_id uuid, account_id int, email text, password_hash text, shared boolean,
                 credential_id text, public_key bytea, counter bigint)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare d token_directory;
begin
  select * into d from token_directory where token_hash = p_digest;
  return query select a.workspace_id, w.public_id, a.id, a.email, a.password_hash, a.shared, p.credential_id, p.public_key, p.counter
                 from passkey p
                 join account a on a.workspace_id = p.workspace_id and a.id = p.account_id
                 join workspace w on w.id = p.workspace_id
                where p.workspace_id = d.workspace_id and p.digest = p_digest;
end $$;
