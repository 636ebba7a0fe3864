import pg from 'pg'
import { migrationLock } from '../locks.ts'
import { pause } from '../pause.ts'
import { statementsOf } from './statements.ts'

const made = /^create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)\s+on\s/i
const dropped = /^drop\s+index\s+concurrently\s+if\s+exists\s+(\w+)$/i

/**
 * Makes and drops indexes while others write, as the statements of a migration `NNNN-name.concurrently.sql` say; nothing else may stand in one. Each takes as long as it takes
 * and none is in a transaction, so after a crash it is called again: what is whole stays, and an index that was cut off is made anew.
 * `client` has the turn to migrate the database at `url`.
 */
export async function buildIndexes(client: pg.Client, url: string, text: string): Promise<void> {
  const statements = statementsOf(text)
  const wrong = statements.find((statement) => !made.test(statement) && !dropped.test(statement))
  if (wrong) throw new Error(`no statement of a migration outside of a transaction: ${wrong}`)
  await using _ = await sendWaitersAway(url)
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
      if (rows[0]) await client.query(`drop index concurrently if exists ${name}`)
      await client.query(statement)
      return
    } catch (error) {
      // Somebody waits for this one all the same.
      if ((error as pg.DatabaseError).code !== deadlock || attempt === 5) throw error
    }
  }
}

// PostgreSQL looks for a deadlock after a second.
const lookEveryMs = 200

// A process of an earlier version that starts waits inside of a statement for the turn that this one has, and the index waits for all statements that began before it. So
// such statements are cancelled, until disposed; who waited starts again by itself, or its operator sees why it does not.
async function sendWaitersAway(url: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  // When it ends, the index is made again after a deadlock.
  client.on('error', () => {})
  await client.connect()
  const look = () =>
    client.query(`select pg_cancel_backend(pid) from pg_locks where ${isMigrationLock} and not granted`)
  const stop = new AbortController()
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await look().catch(() => {})
      await pause(lookEveryMs, stop.signal)
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await looking
      await client.end()
    },
  }
}

/** Of a row of `pg_locks`: it is the lock of who migrates this database. */
export const isMigrationLock = `locktype = 'advisory' and objsubid = 1 and classid = 0 and objid = ${migrationLock}
  and database = (select oid from pg_database where datname = current_database())`
