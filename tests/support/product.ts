import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, grantPlan, operate, readConfig, start as startServer } from '@vigia/server/start'
import { type Simulator, type SimulatorOptions, start as startSimulator } from '@vigia/simulator/start'
import { weeksAgo } from './authority.ts'
import { createDatabase } from './database.ts'

export interface Product {
  /** Where the web app and the API answer. */
  url: string
  simulator: Simulator
  config: Config
  databaseUrl: string
  [Symbol.asyncDispose](): Promise<void>
}

export interface ProductOptions {
  simulator?: Partial<Omit<SimulatorOptions, 'port' | 'directory' | 'hourMs'>>
  roles?: ('api' | 'worker')[]
  /** Length of the authority's hour, on both sides. */
  hourMs?: number
}

/** The whole product, real in every part, on free ports with a database and a data directory of its own. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  await using stack = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'vigia-product-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const hourMs = options.hourMs ?? 60_000
  const database = stack.use(await createDatabase())
  const simulator = stack.use(
    await startSimulator({
      since: weeksAgo(),
      ...options.simulator,
      port: 0,
      directory: join(dataDir, 'simulator'),
      hourMs,
    }),
  )
  const environment = {
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    SIMULATOR_PORT: String(simulator.port),
    LOG_LEVEL: 'error',
  }
  const config = atPace(readConfig(environment, dataDir), hourMs)
  const server = stack.use(await startServer(config, { roles: options.roles ?? ['api', 'worker'] }))
  const owned = stack.move()
  return {
    url: server.url,
    simulator,
    config,
    databaseUrl: database.url,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Gives the workspace of an account the plan without limits, as who runs the installation would. */
export async function grantUnlimited({ config }: Pick<Product, 'config'>, email: string): Promise<void> {
  await operate(config, (ctx) => grantPlan(ctx, email, { type: 3, until: null }))
}

function atPace(config: Config, hourMs: number): Config {
  return { ...config, sefaz: { ...config.sefaz, hourMs, pagePauseMs: hourMs / 1800, marginMs: hourMs / 12 } }
}
