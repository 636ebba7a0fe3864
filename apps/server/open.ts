import { joinPostgres, sharePostgres, startPostgres } from '@vigia/embedded-postgres/postgres'
import type { Config } from './config.ts'
import { createPrinter } from './documents/print/printer.ts'
import { openSigner } from './operations/signer/in-process.ts'
import type { Context, Database } from './platform/context.ts'
import { appRole, openDatabase, type PoolOptions, pools, requireRole } from './platform/database.ts'
import { createPublicIds } from './platform/ids.ts'
import { embeddedCluster, InstallationError, prepareInstallation } from './platform/installation.ts'
import { createLogger } from './platform/log.ts'
import { migrate } from './platform/schema/migrate.ts'
import { connectSigner } from './platform/signer/client.ts'
import type { Signer } from './platform/signer/signer.ts'
import { createStorage } from './platform/storage.ts'
import { createVault } from './platform/vault.ts'

/** Reaches the signer of a database, whose address is that of its owner. */
export type ReachSigner = (databaseUrl: string) => Promise<Signer & Partial<Disposable & AsyncDisposable>>

/** Carries out `work` on the data of an installation, beside its running server or without one. */
export async function operate<T>(
  config: Config,
  work: (ctx: Context) => Promise<T>,
  step: (text: string) => void = () => {},
  reachSigner?: ReachSigner,
): Promise<T> {
  await using stack = new AsyncDisposableStack()
  const { ctx } = await openContext(config, stack, { postgres: 'share', step, reachSigner })
  return await work(ctx)
}

interface OpenOptions {
  /** Join an embedded database that runs, share it (start it unless it runs), or start one of this process alone. */
  postgres: 'join' | 'share' | 'start'
  step: (text: string) => void
  reachSigner?: ReachSigner
}

async function reachOwn(config: Config, url: string): ReturnType<ReachSigner> {
  return config.signerSocket ? connectSigner(config.signerSocket, config.sefaz) : openSigner(config, url)
}

/** Opens what functions of the server need of an installation; `stack` closes it. */
export async function openContext(
  config: Config,
  stack: AsyncDisposableStack,
  { reachSigner = (url) => reachOwn(config, url), ...options }: OpenOptions,
): Promise<{ ctx: Context; databaseUrl: string; died: Promise<void> }> {
  const { url, died } = await openStorage(config, stack, options)
  const idKey = await prepareInstallation(url, config.sefaz.ambiente)
  const db = openPool(url, stack, pools.task)
  const log = createLogger(config.logLevel)
  await requireRole(db, appRole)
  const signer = await reachSigner(url)
  stack.defer(async () => {
    signer[Symbol.dispose]?.()
    await signer[Symbol.asyncDispose]?.()
  })
  const ctx: Context = {
    db,
    config,
    log,
    vault: createVault(await signer.tokensKey()),
    signer,
    ids: createPublicIds(idKey),
    printer: stack.use(createPrinter()),
    storage: createStorage({ db, config, log }),
  }
  return { ctx, databaseUrl: url, died }
}

/** A pool of connections that `stack` closes. */
export function openPool(url: string, stack: AsyncDisposableStack, pool: PoolOptions): Database {
  const db = openDatabase(url, pool)
  stack.defer(() => db.destroy())
  return db
}

/** Brings the database to the newest schema and ends. Returns the names of the migrations that ran. */
export async function migrateOnly(config: Config, step: (text: string) => void = () => {}): Promise<string[]> {
  await using stack = new AsyncDisposableStack()
  return (await openStorage(config, stack, { postgres: 'share', step })).applied
}

async function openStorage(config: Config, stack: AsyncDisposableStack, options: Omit<OpenOptions, 'reachSigner'>) {
  let url = config.databaseUrl
  let died = new Promise<void>(() => {})
  if (!url) {
    options.step('Preparando o PostgreSQL…')
    const openPostgres = { join: joinPostgres, share: sharePostgres, start: startPostgres }[options.postgres]
    const postgres = await openPostgres({ ...embeddedCluster(config), log: options.step })
    if (!postgres) throw new InstallationError('O PostgreSQL deste programa não está no ar. Nada foi alterado.')
    stack.use(postgres)
    url = postgres.url
    died = postgres.died
  }
  options.step('Conferindo a estrutura do banco de dados…')
  return { url, died, ...(await migrate(url)) }
}
