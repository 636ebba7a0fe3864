import { sql } from 'kysely'
import type { Database } from './context.ts'
import { inWorkspace } from './database.ts'
import type { Caller, Session } from './http.ts'

/** Where the calls of tests come from. */
export const testCaller: Caller = { address: '127.0.0.1', agent: 'teste' }

/** A session as a handler receives it, without a row of its own. */
export function testSession(workspaceId: number, accountId = 1): Session {
  const names = {
    workspacePublicId: '',
    accountName: 'Ana Souza',
    shared: false,
    publicId: '',
    expiresAt: new Date(8.64e15),
  }
  return { workspaceId, accountId, ...names, token: '', address: testCaller.address }
}

/** A workspace of its own for a test, with nothing in it. */
export async function newWorkspace(db: Database, { large = false, plan = 3 } = {}): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  const { id } = rows[0]!
  await inWorkspace({ db }, id, ({ db }) =>
    db.insertInto('workspace').values({ id, name: 'Teste', plan, large }).execute(),
  )
  return id
}
