import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { appRole, connectionTo, type DatabaseRole, limitedRole, rolePassword, signerRole } from '../database.ts'
import { InstallationError } from '../installation.ts'
import { migrationLock } from '../locks.ts'
import { keepDictionaries } from '../received/dictionaries.ts'
import { buildIndexes, isMigrationLock } from './concurrently.ts'
import { distribute, distributeFunctions, hasServersForRows, stampRights } from './distribute.ts'
import { statementsOf } from './statements.ts'

const folder = new URL('../../migrations/', import.meta.url)

/**
 * Brings the database at `url` to the newest schema. The login must own the database and be allowed to create roles.
 * Safe when several processes start at once, they take turns, and beside processes of the version before: nothing waits long behind a migration. Migrations are forward
 * only; each runs in a transaction, but those that make indexes only. A database that a newer version has expanded is left as it is. `step` hears whom it waits for.
 */
export async function migrate(url: string, step: (text: string) => void = () => {}): Promise<{ applied: string[] }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    requireVersion(rows[0]!.server_version)
    await takeTurn(client, step)
    const distributed = await hasServersForRows(client)
    await client.query(
      'create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    const done = await readDone(client)
    const applied: string[] = []
    if (isBefore02(done)) {
      await upgradeTo02(client, url)
      applied.push(upgradeTo02Name)
      done.clear()
      done.set(schemaName, (await readMigration(schemaName)).sha256)
    }
    for (const { name, text, sha256 } of await listWanted(done)) {
      await apply(client, url, { name, text, sha256 })
      applied.push(name)
    }
    await keepDictionaries(client)
    // Who may do what with tables that this version does not know, the newer one has said.
    if (await isNewer(done)) return { applied }
    const stamp = distributed ? await stampRights(client, [...roles, ...done.keys(), ...applied].sort()) : null
    if (stamp === null || !(await isStamped(client, stamp))) await giveRights(client, distributed, stamp)
    for (const role of roles) await openLogin(client, url, role)
    return { applied }
  } finally {
    await client.end()
  }
}

// The roles belong to the server, the stamp to the database, which may have come from another server.
async function isStamped(client: pg.Client, stamp: string): Promise<boolean> {
  const { rows } = await client.query(
    'select from installation where rights = $1 and $2 = (select count(*) from pg_roles where rolname = any ($3))',
    [stamp, roles.length, roles],
  )
  return rows.length > 0
}

async function giveRights(client: pg.Client, distributed: boolean, stamp: string | null): Promise<void> {
  await createRoles(client)
  // All rights are given first and some taken back then: nobody may come in between.
  await inTransaction(client, async () => {
    if (distributed) {
      await distribute(client)
      await distributeFunctions(client)
    }
    for (const role of [appRole, limitedRole] as const) await grant(client, role)
    await client.query('revoke execute on all functions in schema public from public')
    await grantSigner(client)
    await bindOwner(client, distributed)
    await limitCompanies(client, distributed)
    await client.query('update installation set rights = $1 where rights is distinct from $1', [stamp])
  })
}

const sayAfterMs = 30_000

/** Waits until no other process migrates, and says by which one it is kept when that takes long. */
export async function takeTurn(client: pg.Client, step: (text: string) => void, afterMs = sayAfterMs): Promise<void> {
  let sayAt = performance.now() + afterMs
  // Not by waiting inside of a statement: what makes an index waits for all statements that began before it.
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [migrationLock])
    if (rows[0]!.mine) return
    if (performance.now() >= sayAt) {
      step(await nameHolder(client))
      sayAt = performance.now() + Math.max(afterMs, sayAfterMs)
    }
    await sleep(100)
  }
}

async function nameHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; address: string; since: string }>(
    `select pid, coalesce(host(client_addr), 'esta máquina') as address, to_char(backend_start at time zone 'UTC', 'DD/MM HH24:MI:SS') as since
       from pg_stat_activity where pid in (select pid from pg_locks where ${isMigrationLock} and granted)`,
  )
  const by = rows.map(({ pid, address, since }) => ` (conexão ${pid}, de ${address}, desde ${since} UTC)`).join()
  return `Outro processo confere ou atualiza a estrutura do banco de dados${by}: este espera por ele. Índices de um banco grande levam tempo.`
}

interface Migration {
  name: string
  text: string
  sha256: string
}

async function readDone(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from migration')
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

// In their order; throws when the database comes from another version.
async function listWanted(done: ReadonlyMap<string, string>): Promise<Migration[]> {
  const names = await listNames()
  requireKnown(done, names)
  const wanted: Migration[] = []
  for (const name of names) {
    const { text, sha256 } = await readMigration(name)
    if (done.get(name) === sha256) continue
    if (done.has(name)) throw otherVersion(name)
    wanted.push({ name, text, sha256 })
  }
  if (wanted.length > 0 && (await isNewer(done))) throw otherVersion(wanted[0]!.name)
  return wanted
}

export async function listNames(): Promise<string[]> {
  return (await readdir(folder)).filter((file) => /^\d{4}-.*\.sql$/.test(file)).sort()
}

/** Whether a migration takes away what the version before it uses. */
export const isContract = (name: string) => name.endsWith('.contract.sql')

// A process of the version before may start, or start again, while the new ones are up already.
async function isNewer(done: ReadonlyMap<string, string>): Promise<boolean> {
  const last = (await listNames()).at(-1)!
  return [...done.keys()].some((name) => name > last)
}

/** The migrations that `migrate` would apply to the database of `client`, in their order; it changes nothing. */
export async function listPending(client: pg.Client): Promise<Migration[]> {
  const { rows } = await client.query<{ there: boolean }>("select to_regclass('public.migration') is not null as there")
  const done = rows[0]!.there ? await readDone(client) : new Map<string, string>()
  if (!isBefore02(done)) return listWanted(done)
  const upgrade = { name: upgradeTo02Name, ...(await readMigration(upgradeTo02Name)) }
  const { sha256 } = await readMigration(schemaName)
  return [upgrade, ...(await listWanted(new Map([[schemaName, sha256]])))]
}

const versionMin = 18

/** Refuses a PostgreSQL of another major version, named as `server_version` tells it ("17.6 (Debian 17.6-1)"). */
export function requireVersion(serverVersion: string): void {
  if (Number.parseInt(serverVersion, 10) >= versionMin) return
  throw new InstallationError(
    `O banco de dados em DATABASE_URL é um PostgreSQL ${serverVersion.split(' ')[0]}, e é preciso o PostgreSQL ${versionMin} ou mais novo. Nada foi alterado: atualize o servidor, ou deixe DATABASE_URL vazio para usar o PostgreSQL que vem com o programa.`,
  )
}

async function readMigration(name: string): Promise<{ text: string; sha256: string }> {
  const text = await readFile(new URL(name, folder), 'utf8')
  return { text, sha256: createHash('sha256').update(text).digest('hex') }
}

function requireKnown(done: ReadonlyMap<string, string>, names: readonly string[]): void {
  const last = names.at(-1)!
  const unknown = [...done.keys()].find((name) => !names.includes(name) && (name < last || isContract(name)))
  if (unknown !== undefined) throw otherVersion(unknown)
}

const otherVersion = (name: string) =>
  new InstallationError(
    `A estrutura deste banco foi feita por uma versão do programa que não é a publicada (${name} é outra). Nada foi alterado: use a versão anterior, ou outra pasta em DATA_DIR.`,
  )

const schemaName = '0001-schema.sql'
const upgradeTo02Name = 'upgrade-from-0.1.sql'

// The migrations of 0.1, which were squashed into the schema of 0.2.
const migrationsOf01: Readonly<Record<string, string>> = {
  '0001-accounts.sql': '6b0c28c32a8c25763421bf5bcf6bcb42d1838f64b64cb87e22b84e1a3922e4de',
  '0002-companies.sql': '965055ffaed50fc6b672444da326dddf733e9566c4562dc9124423f009b43857',
  '0003-documents.sql': 'e4cba80ce71e857c332d251b107e76f668252772e71c97678a70191503610c86',
  '0004-ingest.sql': '77586161980fea3e6b9b955941817e3510fd40ff4170705fc446cee8df7de429',
  '0005-capture.sql': 'b6664d33b2d25cad6a94dd60a755f6705aaef1a15029ccc4a9014b310421ee44',
  '0006-company-settings.sql': 'cd5c519e7fd4dd0894075c07b81761283b55780b4793274cee3d2d17618e4815',
  '0007-capture-safety.sql': '05946ca3bff8ecbb77e8a9f8455e7896148df5430edef58c16c8dae7b759ad39',
  '0008-manifestation.sql': '889ff410601ed5d595d18d63c704a496aab24d2da0866adba8ac5d293566791f',
  '0009-undone-events.sql': 'c7c6cdc6f2c261803a78d87f8801167ecd6cc79e81a505acef61f90279e95174',
  '0010-people-and-plans.sql': 'ec508fb09d9bc962dc4c1772316ea1228a507a77943263d5f09af764b8b4eda7',
  '0011-counters-of-any-range.sql': 'e5a1b0aeee00b67375f3264ad5ecc4776cc4da1861fa99eb3d5007469ac0d710',
  '0012-exports.sql': '273c384b17126f324ba92fb585ac63d0391a66410cc6a07462ae863007e61b75',
  '0013-logos.sql': 'c31f919d2b4172593022f502d109bde6c1abb444be74041fc65bf0d6c342e0d9',
  '0014-notifications.sql': '9e45dc57f6fab8bacaac66caab7d4b83be3c60f6720aac86ffb00fe1f6d4b06b',
}

function isBefore02(done: ReadonlyMap<string, string>): boolean {
  const names = Object.keys(migrationsOf01)
  return done.size === names.length && names.every((name) => done.get(name) === migrationsOf01[name])
}

async function upgradeTo02(client: pg.Client, url: string): Promise<void> {
  const { text } = await readMigration(upgradeTo02Name)
  const { sha256 } = await readMigration(schemaName)
  await apply(client, url, { name: schemaName, text: `${text}; delete from migration`, sha256 })
}

async function apply(client: pg.Client, url: string, { name, text, sha256 }: Migration): Promise<void> {
  const note = () => client.query('insert into migration (name, sha256) values ($1, $2)', [name, sha256])
  try {
    if (name.endsWith('.concurrently.sql')) {
      await buildIndexes(client, url, text)
      await note()
    } else
      await inTransaction(client, async () => {
        for (const statement of statementsOf(text)) await client.query(statement)
        await note()
      })
  } catch (cause) {
    throw new Error(`migration ${name} failed`, { cause })
  }
}

// No lock in time, and a deadlock.
const crossed = ['55P03', '40P01']
const attemptsMax = 100

// What waits for a table makes all who come later wait too: so it waits for a moment only, and tries again.
async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await client.query('begin')
    try {
      await client.query("set local lock_timeout = '2s'")
      await work()
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      if (!crossed.includes((error as pg.DatabaseError).code ?? '') || attempt === attemptsMax) throw error
      await sleep(500)
    }
  }
}

const roles = [appRole, signerRole, limitedRole] as const

// Each by itself: another database of the server that does the same would wait for the whole transaction, and then fail.
async function createRoles(client: pg.Client): Promise<void> {
  for (const role of roles) {
    // Roles belong to the whole server: another database on it may be creating the same one right now.
    await client.query(`do $$ begin
      if not exists (select 1 from pg_roles where rolname = '${role}') then
        create role ${role} nologin nosuperuser nobypassrls;
      end if;
    exception when duplicate_object or unique_violation then null; end $$`)
    // What it may call and read is ours: nothing temporary, nor of its own making, can stand in the place of it.
    await client.query(`do $$ begin
      execute format('grant connect on database %I to ${role}', current_database());
      execute format('revoke temporary, create on database %I from public, ${role}', current_database());
    end $$`)
    await client.query(`revoke create on schema public from public, ${role}`)
    await client.query(`grant usage on schema public to ${role}`)
  }
  // Processes of an earlier version act as the role by SET ROLE.
  await client.query(`do $$ begin
    if not pg_has_role(current_user, '${appRole}', 'SET') then execute format('grant ${appRole} to %I with set true', current_user); end if;
  end $$`)
}

async function grant(client: pg.Client, role: typeof appRole | typeof limitedRole): Promise<void> {
  await client.query(`grant select, insert, update, delete on all tables in schema public to ${role}`)
  await client.query(`revoke insert, update, delete on migration, installation from ${role}`)
  await client.query(
    `revoke update, delete on receipt, issuer_certificate, capture_call, certificate_use, outgoing_event_call, audit from ${role}`,
  )
  await client.query(`grant update (times) on audit to ${role}`)
  await client.query(`revoke insert, update, delete on dictionary from ${role}`)
  await client.query(`grant usage on all sequences in schema public to ${role}`)
  // Other logins of the server may enter the database, and functions are everybody's when they are made.
  await client.query(`grant execute on all functions in schema public to ${role}`)
  // Sealed keys are written by the application, destroyed by it, and read by the signer alone, which also notes each use of them.
  await client.query(`do $$ begin
    execute (select format('revoke select on certificate from ${role}; grant select (%s) on certificate to ${role}',
                           string_agg(quote_ident(attname), ', '))
               from pg_attribute
              where attrelid = 'certificate'::regclass and attnum > 0 and not attisdropped and attname <> 'key_encrypted');
  end $$`)
  await client.query(`revoke insert on certificate_use from ${role}`)
  await client.query(`revoke all on workspace_key, installation_key from ${role}`)
  if (role === appRole) await client.query(`grant select (workspace_id, key_id), delete on workspace_key to ${role}`)
  else {
    await client.query(`revoke all on ${closedToLimited.join()} from ${role}`)
    // Functions that run as the owner see every workspace.
    await client.query(`do $$ declare f regprocedure; begin
      for f in select oid from pg_proc where prosecdef and pronamespace = 'public'::regnamespace loop
        execute format('revoke execute on function %s from ${role}', f);
      end loop;
    end $$`)
  }
}

// Who may see some companies only has nothing to do there; what is theirs alone they ask with the login of everybody.
const closedToLimited = [
  ...['second_factor', 'recovery_code', 'passkey', 'mail_link', 'invitation', 'account_company', 'membership'],
  ...['certificate_batch', 'certificate_file', 'webhook', 'webhook_delivery', 'calendar_feed'],
  ...['letter_choice', 'letter_turn', 'monthly_report'],
  ...['alert_name', 'alert_contact', 'alert_citation', 'alert_histogram', 'alert_test', 'freight_citation'],
]

async function grantSigner(client: pg.Client): Promise<void> {
  await client.query(
    `grant select on certificate, outgoing_event, workspace_key, installation_key, certificate_use to ${signerRole}`,
  )
  await client.query(`grant insert on certificate_use, workspace_key, installation_key to ${signerRole}`)
  await client.query(
    `grant execute on function current_ws(), capturing(), operating(), current_companies() to ${signerRole}`,
  )
}

// Where functions with the rights of the owner look before a workspace is known, or for all workspaces together.
const lookedUp = [
  ...['account_directory', 'workspace_directory', 'token_directory'],
  ...['account', 'workspace', 'session', 'mail_link', 'api_key', 'passkey'],
  ...['second_factor', 'account_company', 'invitation', 'calendar_feed'],
  // Of the installation; a deletion takes out those of a workspace.
  'mail',
]

// Row-level security holds for the owner too: a function with its rights sees the workspace of its caller, but for the tables above. On a
// connection of its own (migrations, a new master key, a copy of the database) the owner sees everything. The policies name the owner,
// who is another one after a restore elsewhere.
//
// Not where tables are distributed: a shard that is moved while others write is followed as the owner, which row-level security that holds for the owner forbids.
// There the owner is held to no workspace anyway, because the coordinator asks as the owner, and each function names the workspace.
async function bindOwner(client: pg.Client, distributed: boolean): Promise<void> {
  const isFar = distributed ? 'exists (select from pg_dist_partition d where d.logicalrelid = c.oid)' : 'false'
  await client.query(`do $$ declare t record; rule text; begin
    for t in select c.relname as name, c.relforcerowsecurity as forced, p.polroles as roles, ${isFar} as far
               from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = 'owner'
              where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity loop
      rule := case when t.name = any ('{${lookedUp.join()}}') then 'true' else 'session_user not in (''${appRole}'', ''${limitedRole}'')' end;
      if t.roles is null then
        execute format('create policy owner on %I to current_user using (%s) with check (%2$s)', t.name, rule);
      elsif t.roles <> array[current_user::regrole::oid] then
        execute format('alter policy owner on %I to current_user', t.name);
      end if;
      if t.forced = t.far then execute format('alter table %I %s row level security', t.name, case when t.far then 'no force' else 'force' end); end if;
    end loop;
  end $$`)
}

// What the limited login sees: of tables that name a company, the rows of those that its transaction names. New tables are found by themselves.
export async function limitCompanies(client: pg.Client, distributed: boolean): Promise<void> {
  // Once for a query, not for each row; a policy of a distributed table may have no subquery.
  const shown = distributed ? '(current_companies())' : '((select current_companies())::int[])'
  const rules: Record<string, string> = {
    company: `id = any ${shown}`,
    // Its company is null where a version wrote that did not know it.
    ...(distributed
      ? {}
      : {
          document_change:
            'exists (select from document d where d.workspace_id = document_change.workspace_id and d.id = document_id)',
        }),
    document_export: `company_ids <@ ${shown}`,
    // What the operator writes is for everybody.
    announcement: `company_ids <@ ${shown} or company_ids is null and what is null`,
  }
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and (c.relname = any ($1) or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id'))
        and ($2 or not exists (select from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname and p.policyname = 'companies'))`,
    [Object.keys(rules), distributed],
  )
  for (const { name } of rows) {
    const rule = rules[name] ?? `company_id = any ${shown}`
    // What happens to none of them may be written down, and is not seen.
    const check = rules[name] ? rule : `company_id is null or ${rule}`
    // The owner may inherit what the login may, and what holds for it.
    const ofOthers = `current_user <> '${limitedRole}' or`
    if (distributed) {
      await narrowPolicies(client, name, `(${ofOthers} (${rule}))`, `(${ofOthers} (${check}))`)
      continue
    }
    await client.query(
      `create policy companies on ${name} as restrictive to ${limitedRole} using (${ofOthers} (${rule})) with check (${ofOthers} (${check}))`,
    )
  }
}

// Citus makes a restrictive policy a permissive one where the rows are, so each that lets in is made narrower instead, once: a table may get another one later.
async function narrowPolicies(client: pg.Client, table: string, rule: string, check: string): Promise<void> {
  const { rows } = await client.query<{ name: string; using: string | null; checked: string | null }>(
    `select quote_ident(policyname) as name, qual as using,
            case when cmd in ('ALL', 'UPDATE') then coalesce(with_check, qual) else with_check end as checked from pg_policies
      where schemaname = 'public' and tablename = $1 and roles = '{public}'
        and (qual not like '%current_companies%' or with_check not like '%current_companies%')`,
    [table],
  )
  const isWide = (condition: string | null) => condition !== null && !condition.includes('current_companies')
  for (const { name, using, checked } of rows) {
    const parts = [
      ...(isWide(using) ? [`using ((${using}) and ${rule})`] : []),
      ...(isWide(checked) ? [`with check ((${checked}) and ${check})`] : []),
    ]
    await client.query(`alter policy ${name} on ${table} ${parts.join(' ')}`)
  }
}

// Wrong password, may not log in, no line in pg_hba.conf.
const refusals = ['28P01', '28000']

async function openLogin(client: pg.Client, url: string, role: DatabaseRole): Promise<void> {
  let problem = await loginProblem(url, role)
  if (problem) await requireAlone(client, role)
  for (let attempt = 1; problem && attempt <= 3; attempt++) {
    const password = rolePassword(url, role)
    const secret = password === null ? '' : ` password '${scramVerifier(password)}'`
    const { message } = problem
    await client.query(`alter role ${role} login${secret}`).catch((error: pg.DatabaseError) => {
      if (error.code === '42501') throw loginRefused(role, `${message}; ${error.message}`)
      // Another database of the server may be changing the same role right now; then the login works, or the next attempt tells why not.
      if (!error.message.includes('concurrently')) throw error
    })
    problem = await loginProblem(url, role)
  }
  if (problem) throw loginRefused(role, problem.message)
}

// The role is one for the whole server: another password would shut out an installation beside this one, again and again.
async function requireAlone(client: pg.Client, role: DatabaseRole): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_stat_activity where usename = $1 and datname <> current_database() limit 1',
    [role],
  )
  const [other] = rows
  if (!other) return
  throw new InstallationError(
    `O banco de dados "${other.name}" do mesmo servidor está em uso por outra instalação, cujo usuário "${role}" tem outra senha. Nada foi alterado nela. Use em DATABASE_URL o mesmo usuário e a mesma senha dela, ou outro servidor; se foi a senha que mudou, pare antes todas as instalações deste servidor.`,
  )
}

async function loginProblem(url: string, role: DatabaseRole): Promise<pg.DatabaseError | null> {
  const client = new pg.Client(connectionTo(url, 0, role))
  client.on('error', () => {})
  try {
    await client.connect()
    return null
  } catch (error) {
    if (error instanceof pg.DatabaseError && refusals.includes(error.code ?? '')) return error
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}

const loginRefused = (role: DatabaseRole, reason: string) =>
  new InstallationError(
    `O programa entra no banco de dados com o usuário "${role}", que não é dono de nada, e o PostgreSQL não deixou (${reason}). Nada se perdeu. Ponha uma senha em DATABASE_URL, deixe "${role}" entrar com senha (pg_hba.conf, scram-sha-256) e dê ao usuário de DATABASE_URL o direito CREATEROLE e "${role}" com ADMIN OPTION. Sem DATABASE_URL: pare todos os processos do programa e inicie de novo.`,
  )

// What the server keeps of a password (RFC 5803): so the password itself is in no statement, which the server may log.
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`
}
