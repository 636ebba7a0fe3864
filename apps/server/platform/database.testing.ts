import pg from 'pg'
import { afterAll } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { readConfig } from '../config.ts'
import type { Context, Database } from './context.ts'
import { openDatabase } from './database.ts'
import { createPublicIds } from './ids.ts'
import { createLogger } from './log.ts'
import { testSigner } from './signer/testing.ts'
import { noPrinter, roomyStorage } from './testing.ts'
import { createVault } from './vault.ts'

/** A database of its own for a test file, until the last test has ended. */
export async function useDatabase(): Promise<{ url: string; db: Database }> {
  const database = await createDatabase()
  const db = openDatabase(database.url)
  afterAll(async () => {
    await db.destroy()
    await database[Symbol.asyncDispose]()
  })
  return { url: database.url, db }
}

/** A connection as the owner of the tables, until the last test has ended. */
export async function useOwner(url: string): Promise<pg.Client> {
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  afterAll(() => owner.end())
  return owner
}

/** All that a handler may ask for, on a database of its own and with the settings of `env`. */
export async function useContext(env: Record<string, string> = {}): Promise<{ url: string; ctx: Context }> {
  const { url, db } = await useDatabase()
  const ctx = {
    db,
    config: readConfig(env, process.cwd()),
    log: createLogger('silent'),
    vault: createVault(Buffer.alloc(32, 7)),
    signer: testSigner(url),
    ids: createPublicIds(Buffer.alloc(16, 7)),
    printer: noPrinter,
    storage: roomyStorage,
  }
  return { url, ctx }
}
