import type pg from 'pg'
import { migrationLock } from '../locks.ts'

const made = /^create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)\s+on\s/i
const dropped = /^drop\s+index\s+concurrently\s+if\s+exists\s+(\w+)$/i

/**
 * Makes and drops indexes while others write, as the statements of a migration `NNNN-name.concurrently.sql` say; nothing else may stand in one. Each takes as long as it takes
 * and none is in a transaction, so after a crash it is called again: what is whole stays, and an index that was cut off is made anew.
 */
export async function buildIndexes(client: pg.Client, text: string): Promise<void> {
  const statements = text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const wrong = statements.find((statement) => !made.test(statement) && !dropped.test(statement))
  if (wrong) throw new Error(`no statement of a migration outside of a transaction: ${wrong}`)
  for (const statement of statements) {
    const name = made.exec(statement)?.[1]
    if (name === undefined) await client.query(statement)
    else await build(client, name, statement)
  }
}

const deadlock = '40P01'

async function build(client: pg.Client, name: string, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await client.query<{ valid: boolean }>(
      "select indisvalid as valid from pg_index where indexrelid = to_regclass('public.' || $1)",
      [name],
    )
    if (rows[0]?.valid) return
    try {
      await sendWaitersAway(client)
      if (rows[0]) await client.query(`drop index concurrently if exists ${name}`)
      await client.query(statement)
      return
    } catch (error) {
      // Another one came meanwhile.
      if ((error as pg.DatabaseError).code !== deadlock || attempt === 5) throw error
    }
  }
}

// A process of an earlier version that starts waits inside of a statement for the turn that this one has, and the index waits for all statements that began before it. It
// starts again by itself, or its operator sees why it does not.
async function sendWaitersAway(client: pg.Client): Promise<void> {
  await client.query(`select pg_cancel_backend(pid) from pg_locks where ${isMigrationLock} and not granted`)
}

/** Of a row of `pg_locks`: it is the lock of who migrates this database. */
export const isMigrationLock = `locktype = 'advisory' and objsubid = 1 and classid = 0 and objid = ${migrationLock}
  and database = (select oid from pg_database where datname = current_database())`
