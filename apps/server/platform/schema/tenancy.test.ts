import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { onOneServer } from '../../../../tests/support/database.ts'
import { useDatabase, useOwner } from '../database.testing.ts'
import { inWorkspace, openDatabase, pools } from '../database.ts'
import { foldCompanies } from './distribute.ts'
import { migrate } from './migrate.ts'

const { db, url } = await useDatabase()
const owner = await useOwner(url)
const mine = 1001
const theirs = 1002

beforeAll(async () => {
  // A copy of a database has the tables of the original, not its rights.
  await migrate(url)
  for (const workspaceId of [mine, theirs]) {
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      await db.insertInto('workspace').values({ id: workspaceId, name: 'Teste', plan: 1 }).execute()
      await db
        .insertInto('company')
        .values({ workspace_id: workspaceId, cnpj: '44555666000181', name: 'E', search: 'e', uf: 35 })
        .execute()
    })
  }
})

const companies = () => sql<{ workspace_id: number }>`select workspace_id from company`

test('without a workspace there are no rows, also after a transaction that had one', async () => {
  expect((await companies().execute(db)).rows).toEqual([])
  await inWorkspace({ db }, mine, ({ db }) => companies().execute(db))
  expect((await companies().execute(db)).rows).toEqual([])
})

test('a query that forgets the workspace sees its own rows only', async () => {
  const { rows } = await inWorkspace({ db }, mine, ({ db }) => companies().execute(db))
  expect(rows).toEqual([{ workspace_id: mine }])
})

test('the login of who sees some companies only calls one function of the owner, the search, and is no operator', async () => {
  const { rows } = await owner.query(
    `select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace
        and has_function_privilege('vigia_limited', oid, 'execute')`,
  )
  expect(rows).toEqual([{ proname: 'documents_with_words' }])
  const limited = openDatabase(url, pools.limited)
  try {
    await expect(sql`select account_for_login('a@exemplo.com.br')`.execute(limited)).rejects.toThrow(
      /permission denied/,
    )
    await expect(sql`select erase_workspace(${mine}, 1)`.execute(limited)).rejects.toThrow(/permission denied/)
    const seen = await limited.transaction().execute(async (db) => {
      await sql`select set_config('app.operator', 'on', true), set_config('app.capture', 'on', true)`.execute(db)
      return sql`select operating(), capturing()`.execute(db)
    })
    expect(seen.rows).toEqual([{ operating: false, capturing: false }])
  } finally {
    await limited.destroy()
  }
})

test('a row cannot be written into another workspace, nor moved there', async () => {
  const insert = inWorkspace({ db }, mine, ({ db }) =>
    db
      .insertInto('company')
      .values({ workspace_id: theirs, cnpj: '11222333000181', name: 'E', search: 'e', uf: 35 })
      .execute(),
  )
  await expect(insert).rejects.toThrow(/row-level security/)
  const move = inWorkspace({ db }, mine, ({ db }) => db.updateTable('company').set({ workspace_id: theirs }).execute())
  // On a cluster nothing moves to another workspace at all.
  await expect(move).rejects.toThrow(/row-level security|modifying the partition value of rows/)
})

test('received bytes can be added, never changed or removed', async () => {
  const change = inWorkspace({ db }, mine, ({ db }) => db.updateTable('receipt').set({ schema: 'x' }).execute())
  await expect(change).rejects.toThrow(/permission denied/)
  const remove = inWorkspace({ db }, mine, ({ db }) => db.deleteFrom('receipt').execute())
  await expect(remove).rejects.toThrow(/permission denied/)
  for (const attempt of ["update issuer_certificate set der = ''", 'delete from issuer_certificate'])
    await expect(
      inWorkspace({ db }, mine, ({ db }) => sql.raw(attempt).execute(db)),
      attempt,
    ).rejects.toThrow(/permission denied/)
})

test('the connections of the application cannot become their owner', async () => {
  const { rows } = await owner.query<{ name: string }>('select current_user as name')
  const name = rows[0]!.name
  for (const attempt of [`set role ${name}`, `set session authorization ${name}`, `grant ${name} to vigia_app`])
    await expect(sql.raw(attempt).execute(db), attempt).rejects.toMatchObject({ code: '42501' })
  await db.connection().execute(async (db) => {
    for (const attempt of ['reset role', 'reset session authorization', 'set role none', 'discard all'])
      await sql.raw(attempt).execute(db)
    const { rows } = await sql`select current_user as name, session_user as login`.execute(db)
    expect(rows).toEqual([{ name: 'vigia_app', login: 'vigia_app' }])
  })
})

test.each([
  'create temporary table company (workspace_id int)',
  'create temporary view company as select 1 as workspace_id',
  'create function pg_temp.current_ws() returns int language sql return 1002',
  "create function pg_temp.lower(text) returns text language sql return 'x'",
  'create table company_copy (workspace_id int)',
  'create function current_ws(int) returns int language sql return 1002',
  'create or replace function current_ws() returns int language sql stable return 1002',
  'create schema vigia_app',
  'create extension citext',
  'alter table company disable row level security',
  'alter table company no force row level security',
  'alter table company owner to vigia_app',
  'drop policy tenant on company',
  'alter policy tenant on company using (true)',
  'create policy mine on company using (true)',
  'alter function account_for_login set search_path = pg_temp',
  'alter role vigia_app bypassrls',
  'set row_security = off; select * from company',
  'truncate company',
  'update installation set ambiente = ambiente',
  "copy company to program 'cat'",
  "select pg_read_file('postgresql.conf')",
  'select passwd from pg_shadow',
  'select key_encrypted from certificate',
  'select * from certificate',
  'select wrapped from workspace_key',
  "insert into workspace_key values (1001, 'x', 'x', 'x')",
  'select wrapped from installation_key',
  "insert into certificate_use (workspace_id, certificate_id, service, purpose) values (1001, 1, 'x', 'x')",
])('the application may not: %s', async (attempt) => {
  await expect(sql.raw(attempt).execute(db)).rejects.toMatchObject({ code: '42501' })
})

test.each([
  'select * from receipt',
  'select * from account',
  'update outgoing_event set chave = chave',
  'insert into outgoing_event default values',
  'update certificate set key_id = key_id',
  'delete from certificate_use',
  'delete from workspace_key',
  "select account_for_login('ana@exemplo.com.br')",
  'create temporary table certificate (workspace_id int)',
  'set role vigia_app',
])('the signer may not: %s', async (attempt) => {
  const signer = openDatabase(url, pools.signer)
  await expect(sql.raw(attempt).execute(signer)).rejects.toMatchObject({ code: '42501' })
  await signer.destroy()
})

// Each function with the owner's rights, and all that it returns to, or changes for, another
// workspace.
const definers: Record<string, { why: string; call: string; gives: unknown[] | RegExp }> = {
  account_for_login: {
    why: 'before a login no workspace is known; one account, to who knows its e-mail',
    call: `select workspace_id, account_id, password_hash from account_for_login('ana@exemplo.com.br') union all
           select 0, 0, '' from account_for_login('%')`,
    gives: [{ workspace_id: theirs, account_id: 7, password_hash: 'hash' }],
  },
  session_for_token: {
    why: 'before a session is found no workspace is known; one session, to who has its token',
    call: `select workspace_id, account_id from session_for_token('live') union all select 0, 0 from session_for_token('ended')`,
    gives: [{ workspace_id: theirs, account_id: 7 }],
  },
  key_for_token: {
    why: 'before a key is found no workspace is known; one key, to who has it',
    call: `select workspace_id, key_id from key_for_token('key') union all select 0, 0 from key_for_token('over')`,
    gives: [{ workspace_id: theirs, key_id: -8 }],
  },
  invitation_for_token: {
    why: 'whoever comes with an invitation has no session; one invitation, to who has its letter',
    call: `select workspace_id, email, has_account from invitation_for_token('invitation') union all select 0, '', false from invitation_for_token('x')`,
    gives: [{ workspace_id: theirs, email: 'bia@exemplo.com.br', has_account: false }],
  },
  link_for_token: {
    why: 'whoever comes with a link has no session; one link, to who has its token',
    call: `select workspace_id, account_id from link_for_token('link') union all select 0, 0 from link_for_token('x')`,
    gives: [{ workspace_id: theirs, account_id: 7 }],
  },
  workspace_for_public_id: {
    why: 'the command line knows the public id only; the number says nothing more',
    call: `select workspace_for_public_id('00000000-0000-4000-8000-000000001002') as id`,
    gives: [{ id: theirs }],
  },
  forget_old_access: {
    why: 'tidies up for all; nothing that still counts can be removed',
    call: 'select forget_old_access()::text as done',
    gives: [{ done: '' }],
  },
  restate_receipts: {
    why: 'only in the workspace that the transaction has entered',
    call: `select restate_receipts(${theirs}, 5, 0::smallint, '{1}', '{changed}', '{true}', '{x}', '{null}')::text as done`,
    gives: [{ done: '' }],
  },
  documents_with_words: {
    why: 'only in the workspace that the transaction has entered',
    call: `select * from documents_with_words(${theirs}, 'papel', 0::smallint, null, '2000-01-01', '2100-01-01', 10)`,
    gives: [],
  },
  erase_workspace: {
    why: 'only the workspace that the transaction has entered, when its time is over',
    call: `select erase_workspace(${theirs}, 100)`,
    gives: /nobody wants workspace 1002 erased/,
  },
  erase_line: {
    why: 'only what nobody receives any more, and only for the capture',
    call: 'select erase_line((select id from capture_line))',
    gives: /capture line .* is in use/,
  },
  account_for_passkey: {
    why: 'who shows a passkey has not named an account; a signature of it decides',
    call: `select account_id, email, public_key::text from account_for_passkey('passkey')`,
    gives: [{ account_id: 7, email: 'ana@exemplo.com.br', public_key: '\\x6b6579' }],
  },
  feed_for_token: {
    why: 'who reads a calendar shows a secret alone; it tells the workspace of the secret',
    call: `select workspace_id, company_ids from feed_for_token('feed')`,
    gives: [{ workspace_id: theirs, company_ids: null }],
  },
}

test('of another workspace a function with the rights of its owner gives only what is listed here, and changes nothing', async () => {
  await owner.query(`
    insert into installation (ambiente, id_key) values ('simulado', '');
    insert into workspace_directory values ('00000000-0000-4000-8000-000000001002', ${theirs});
    insert into account (workspace_id, id, email, name, password_hash) values (${theirs}, 7, 'ana@exemplo.com.br', 'Ana', 'hash');
    insert into account_directory values ('ana@exemplo.com.br', ${theirs}, 7);
    insert into session (workspace_id, token_hash, account_id, expires_at) values (${theirs}, 'live', 7, now() + interval '1 day'),
                                                                                  (${theirs}, 'ended', 7, now());
    insert into mail_link (workspace_id, token_hash, account_id, purpose, expires_at) values (${theirs}, 'link', 7, 'password', now());
    insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name) values (${theirs}, 7, 'passkey', '', 'key', 0, '{}', 'x');
    insert into calendar_feed (workspace_id, account_id, token_hash) values (${theirs}, 7, 'feed');
    insert into token_directory values ('feed', ${theirs}, 'infinity'), ('passkey', ${theirs}, 'infinity'), ('invitation', ${theirs}, 'infinity');
    insert into invitation (workspace_id, email, role, invited_by, token_hash, expires_at) values (${theirs}, 'bia@exemplo.com.br', 'leitura', 7, 'invitation', now());
    insert into api_key (workspace_id, id, name, scopes, start, token_hash, created_by, expires_at)
      values (${theirs}, -8, 'ERP', '{documentos:ler}', 'vigia_', 'key', 7, null), (${theirs}, -9, 'Velha', '{}', 'vigia_', 'over', 7, now());
    insert into token_directory select token_hash, ${theirs}, now() + interval '1 day'
      from (select token_hash from session union all select token_hash from mail_link union all select token_hash from api_key) t;
    insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to, certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by)
      select workspace_id, id, cnpj, 'x', 'x', '1', now(), now(), 'x', '{}', 'x', 'key', 7 from company where workspace_id = ${theirs} returning id;
    insert into receipt (workspace_id, company_id, service, nsu, schema, unread, content) values (${theirs}, 5, 0, 1, 'x', false, 'x')`)
  const kept = async () => {
    const rows: unknown[] = []
    for (const table of [
      ...['workspace', 'account', 'session', 'mail_link', 'api_key', 'token_directory', 'certificate', 'receipt'],
    ])
      rows.push(...(await owner.query(`select t.* from ${table} t order by t.*::text`)).rows)
    return rows.filter(
      (row) => !Buffer.from('ended').equals((row as { token_hash?: Buffer }).token_hash ?? Buffer.of()),
    )
  }
  const before = await kept()
  const { rows } = await owner.query<{ name: string }>(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(definers).sort())
  for (const [name, { call, gives }] of Object.entries(definers)) {
    const given = inWorkspace({ db }, mine, ({ db }) => sql.raw(call).execute(db))
    if (gives instanceof RegExp) await expect(given, name).rejects.toThrow(gives)
    else expect((await given).rows, name).toEqual(gives)
  }
  expect(await kept()).toEqual(before)
})

// A cluster asks its servers as the owner, who is held to no workspace there: each function has to name it, and the test before this one looks.
onOneServer(
  'a function with the rights of the owner that forgets the workspace sees and changes that of its caller only',
  async () => {
    await owner.query(`
    create function forgetful() returns setof int language sql security definer set search_path = public, pg_temp
      as $$ update company set name = name returning workspace_id $$`)
    try {
      const { rows } = await inWorkspace({ db }, mine, ({ db }) => sql`select forgetful() as id`.execute(db))
      expect(rows).toEqual([{ id: mine }])
      // The owner itself copies and mends everything.
      expect((await owner.query('select forgetful() as id order by 1')).rows).toEqual([{ id: mine }, { id: theirs }])
    } finally {
      await owner.query('drop function forgetful')
    }
  },
)

// On a cluster they were folded already.
onOneServer('for worker nodes each policy that lets in is narrowed by the companies, once', async () => {
  await owner.query('begin')
  await owner.query('create policy coming on document for insert with check (operating())')
  await owner.query('create policy going on document for delete using (operating())')
  await foldCompanies(owner, ['document'])
  const { rows } = await owner.query<{ name: string; conditions: string[] }>(
    `select policyname as name, array_remove(array[qual, with_check], null) as conditions from pg_policies
      where schemaname = 'public' and tablename = 'document' and roles = '{public}' order by policyname`,
  )
  await owner.query('rollback')
  expect(rows.map(({ name }) => name)).toEqual(['coming', 'going', 'tenant'])
  for (const { name, conditions } of rows)
    for (const condition of conditions) expect(condition.match(/current_companies/g), name).toHaveLength(1)
})
