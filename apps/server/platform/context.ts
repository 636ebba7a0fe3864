import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Printer } from '../documents/print/printer.ts'
import type { PublicIds } from './ids.ts'
import type { Logger } from './log.ts'
import type { Signer } from './signer/signer.ts'
import type { Storage } from './storage.ts'
import type { Tables } from './tables.ts'
import type { Vault } from './vault.ts'

export type Database = Kysely<Tables>

/** Dependencies of the slices' functions; each function names only the fields that it needs. */
export interface Context {
  db: Database
  /** Connections of the login that sees some companies only; the worker has them. */
  limited?: Database
  config: Config
  log: Logger
  /** For tokens and tickets, and for certificate files until they are opened. */
  vault: Vault
  /** For private keys, which it alone has. */
  signer: Signer
  ids: PublicIds
  printer: Printer
  storage: Storage
}

/** All that a function needs that only reads or writes the database. */
export type WithDatabase = Pick<Context, 'db'>

/** All that a function needs that also depends on the configuration. */
export type WithConfig = Pick<Context, 'db' | 'config'>
