import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Context, Database } from './context.ts'
import { inWorkspace } from './database.ts'
import type { Caller, Session } from './http/session.ts'
import type { Storage } from './storage.ts'

export const testCaller: Caller = { address: '127.0.0.1', agent: 'teste' }

/** A session as a handler receives it, without a row of its own. */
export function testSession(workspaceId: number, accountId = 1): Session {
  const names = {
    workspacePublicId: '',
    accountName: 'Ana Souza',
    shared: false,
    publicId: '00000000-0000-4000-8000-000000000000',
    expiresAt: new Date(8.64e15),
    provedLately: true,
    role: 'administrador' as const,
    companies: null,
    lacksFactor: false,
    isAccessOver: false,
  }
  return { workspaceId, accountId, home: { workspaceId, accountId }, ...names, token: '', address: testCaller.address }
}

/** A session that is open, of an account of its own. */
export async function openTestSession(db: Database, workspaceId: number): Promise<Session> {
  const { id } = await insertAccount(db, workspaceId)
  const publicId = await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const values = {
      workspace_id: workspaceId,
      account_id: id,
      token_hash: randomBytes(32),
      expires_at: sql<Date>`now() + interval '1 day'`,
    }
    const row = await db.insertInto('session').values(values).returning('public_id').executeTakeFirstOrThrow()
    return row.public_id
  })
  return { ...testSession(workspaceId, id), publicId }
}

/** A workspace of its own for a test, with nothing in it. */
export async function newWorkspace(db: Database, { plan = 3 } = {}): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  const { id } = rows[0]!
  await inWorkspace({ db }, id, async ({ db }) => {
    const values = { id, name: 'Teste', plan }
    const row = await db.insertInto('workspace').values(values).returning('public_id').executeTakeFirstOrThrow()
    await db.insertInto('workspace_directory').values({ public_id: row.public_id, workspace_id: id }).execute()
  })
  return id
}

/** The row of a company, with nothing else. */
export async function insertCompany(
  db: Database,
  workspaceId: number,
  { cnpj, name = 'EMPRESA' }: { cnpj: string; name?: string },
): Promise<{ id: number; publicId: string; cnpj: string; uf: number }> {
  return inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj, name, search: name.toLowerCase(), uf: 35 })
      .returning(['id', 'public_id as publicId', 'cnpj', 'uf'])
      .executeTakeFirstOrThrow(),
  )
}

/** An account that is found by e-mail but has no usable password; `enteredAt`: time of a login. */
export async function insertAccount(
  db: Database,
  workspaceId: number,
  {
    email = `${randomUUID()}@exemplo.com.br`,
    name = 'Ana Souza',
    passwordHash = '-',
    enteredAt = new Date() as Date | null,
  } = {},
): Promise<{ id: number; email: string }> {
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const account = await db
      .insertInto('account')
      .values({ workspace_id: workspaceId, email, name, password_hash: passwordHash, entered_at: enteredAt })
      .returning(['id', 'email'])
      .executeTakeFirstOrThrow()
    await db
      .insertInto('account_directory')
      .values({ email, workspace_id: workspaceId, account_id: account.id })
      .execute()
    return account
  })
}

/** A storage that takes everything, for tests of what does not ask it. */
export const roomyStorage: Storage = { trouble: null, freeBytes: null, prove: async () => true, noteFailure: () => {} }

/** A printer for tests that print nothing. */
export const noPrinter: Context['printer'] = {
  print: () => Promise.reject(new Error('no printer in this test')),
  [Symbol.asyncDispose]: async () => {},
}
