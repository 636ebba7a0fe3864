import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { appRole, connectionTo, type DatabaseRole, limitedRole, rolePassword, signerRole } from '../database.ts'
import { InstallationError } from '../installation.ts'

const roles = [appRole, signerRole, limitedRole] as const

/** Creates the logins of the program, which own nothing and may not log in yet. `client` acts as the owner. */
export async function createLogins(client: pg.Client): Promise<void> {
  for (const role of roles) {
    // Roles belong to the whole server: another database on it may be creating the same one right now.
    await client.query(`do $$ begin
      if not exists (select 1 from pg_roles where rolname = '${role}') then
        create role ${role} nologin nosuperuser nobypassrls;
      end if;
    exception when duplicate_object or unique_violation then null; end $$`)
    // Roles create nothing, not even temporary objects, because those could shadow our functions
    // and tables.
    await client.query(`do $$ begin
      execute format('grant connect on database %I to ${role}', current_database());
      execute format('revoke temporary, create on database %I from public, ${role}', current_database());
    end $$`)
    await client.query(`revoke create on schema public from public, ${role}`)
    await client.query(`grant usage on schema public to ${role}`)
  }
}

/** Lets the logins of the program enter the database at `url`, each with the password that is derived from the owner's. */
export async function openLogins(client: pg.Client, url: string): Promise<void> {
  for (const role of roles) await openLogin(client, url, role)
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

// SCRAM verifier that PostgreSQL stores (RFC 5803): a statement with the password itself could be
// logged.
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`
}
