import type pg from 'pg'

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
    if (rows[0]) await client.query(`drop index concurrently if exists ${name}`)
    try {
      await client.query(statement)
      return
    } catch (error) {
      // It waits for all that began before it, and a process of an earlier version may wait for the turn that this one has.
      if ((error as pg.DatabaseError).code !== deadlock || attempt === 5) throw error
    }
  }
}
