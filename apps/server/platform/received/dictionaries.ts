import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import pg from 'pg'
import type { WithDatabase } from '../context.ts'
import { InstallationError } from '../installation.ts'
import { dictionaryFile, newestDictionary } from './bytes.ts'

/**
 * Puts the dictionaries of this program into the database, and refuses one that has others than the program: with those, documents could not be opened. A newer one with which
 * nothing may be packed yet is that of the next version, beside which this one runs. `client` acts as the owner.
 */
export async function keepDictionaries(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ id: number; content: Buffer; isLater: boolean }>(
    'select id, content, usable_at > now() as "isLater" from dictionary',
  )
  const kept = new Map(rows.map(({ id, content }) => [id, content]))
  for (let id = 1; id <= newestDictionary; id++) {
    const file = await readFile(dictionaryFile(id)).catch((cause: unknown) => {
      throw otherDictionary(id, cause)
    })
    const known = kept.get(id)
    if (known && !known.equals(file)) throw otherDictionary(id)
    if (!known) await put(client, id, file)
  }
  const unknown = rows.find(({ id, isLater }) => id < 1 || (id > newestDictionary && !isLater))
  if (unknown) throw otherDictionary(unknown.id)
}

async function put(client: pg.Client, id: number, file: Buffer): Promise<void> {
  // Where nothing is kept, no process of the version before captures.
  const usableAt = (await keepsSomething(client)) ? 'infinity' : 'now'
  await client.query('insert into dictionary (id, content, usable_at) values ($1, $2, $3::timestamptz)', [
    id,
    file,
    usableAt,
  ])
}

async function keepsSomething(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select from receipt limit 1')
  return rows.length > 0
}

/** To be called when a worker starts, with the address of the owner: the hour in which those of the version before stop has begun. */
export async function beginDictionaries(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const isNew = "usable_at = 'infinity' and id <= $1"
    const { rowCount } = await client.query(`select from dictionary where ${isNew}`, [newestDictionary])
    // Mostly none is, and where rows lie on several servers each of them would be asked.
    if (rowCount === 0) return
    await client.query(`update dictionary set usable_at = now() + interval '1 hour' where ${isNew}`, [newestDictionary])
  } finally {
    await client.end()
  }
}

const usable = new WeakSet<object>()

/**
 * Whether documents may be packed by now: processes of the version before, which run for at most an hour beside a newer worker (docs/run/operations.md), could not open
 * them. `db` may be a transaction.
 */
export async function mayPack({ db }: WithDatabase): Promise<boolean> {
  // One for a pool and its transactions.
  const { adapter } = db.getExecutor()
  if (usable.has(adapter)) return true
  const { rows } = await sql`select from dictionary where id = ${newestDictionary} and usable_at <= now()`.execute(db)
  if (rows.length > 0) usable.add(adapter)
  return rows.length > 0
}

const otherDictionary = (id: number, cause?: unknown) =>
  new InstallationError(
    `O dicionário ${id}, com que documentos deste banco foram compactados, falta neste programa ou é outro. Nada foi alterado: instale de novo a versão publicada, ou use a que gravou este banco.`,
    { cause },
  )
