import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { order } from './authority.ts'
import type { Product } from './product.ts'

// Tables whose times decide when the product calls the authority again.
const timedTables = "table_name ~ '^(capture_|outgoing_event|circuit)'"

/** A program at work that still holds something would lose its lease if time passed meanwhile. */
const atWork = `
  select exists (select 1 from capture_line where lease_until > now())
      or exists (select 1 from outgoing_event where lease_until > now()) as busy`

/** Whether a capture would begin a query or a copy now. */
const due = `
  select exists (select 1 from capture_line
                  where not paused and (lease_until > now() or gap_at <= now() and (state = 'waiting' or allowed_at <= now())
                                        or catch_up and catch_up_at <= now()
                                        or next_at <= now() and allowed_at <= now() and (automatic or wanted))) as busy`

/**
 * Lets time pass without waiting: advances the authority's clock, and moves the times of captures,
 * events and outages in the database back.
 */
export async function letPass({ simulator, databaseUrl }: Product, ms: number): Promise<void> {
  await using database = await connect(databaseUrl)
  await until(database, async () => {
    await database.client.query('begin; lock table capture_line, outgoing_event in exclusive mode')
    const { rows } = await database.client.query<{ busy: boolean }>(atWork)
    if (rows[0]!.busy) {
      await database.client.query('rollback')
      return false
    }
    await order(simulator, 'clock', { advanceMs: ms })
    await moveBack(database.client, ms)
    await database.client.query('commit')
    return true
  })
}

/** Waits until no capture has anything to do before its next hour. */
export async function captureRests({ databaseUrl }: Pick<Product, 'databaseUrl'>): Promise<void> {
  await using database = await connect(databaseUrl)
  await until(database, async () => !(await database.client.query<{ busy: boolean }>(due)).rows[0]!.busy)
}

async function moveBack(client: pg.Client, ms: number): Promise<void> {
  const { rows } = await client.query<{ table: string; changes: string }>(
    `select table_name as table, string_agg(format('%1$I = %1$I - interval ''${ms} ms''', column_name), ', ') as changes
       from information_schema.columns
      where ${timedTables} and table_schema = 'public' and data_type = 'timestamp with time zone' group by table_name`,
  )
  for (const { table, changes } of rows) await client.query(`update ${table} set ${changes}`)
}

async function until({ client }: { client: pg.Client }, check: () => Promise<boolean>): Promise<void> {
  // As patient as a busy machine is slow.
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await setTimeout(50)) if (await check()) return
  const { rows } = await client.query('select * from capture_line')
  throw new Error(`the capture does not come to rest: ${JSON.stringify(rows)}`)
}

async function connect(
  connectionString: string,
): Promise<{ client: pg.Client; [Symbol.asyncDispose](): Promise<void> }> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}
