import { sql } from 'kysely'
import type { Database } from './context.ts'
import { inWorkspace } from './database.ts'

/** A workspace of its own for a test, with nothing in it. */
export async function newWorkspace(db: Database, { large = false } = {}): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  const { id } = rows[0]!
  await inWorkspace({ db }, id, ({ db }) =>
    db.insertInto('workspace').values({ id, name: 'Teste', plan: 1, large }).execute(),
  )
  return id
}
