import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vigia/embedded-postgres/port'
import { type Config, readConfig, start as startServer } from '@vigia/server/start'
import { type Simulator, type SimulatorOptions, start as startSimulator } from '@vigia/simulator/start'
import { weeksAgo } from './authority.ts'
import { quickPasswords } from './passwords.ts'
import { atPort, leadNamesHere } from './servers/official-hosts.ts'
import { proxies, startProxy } from './servers/proxy.ts'

/** The whole product at work. */
export interface Installation {
  url: string
  simulator: Simulator
  config: Config
  databaseUrl: string
  [Symbol.asyncDispose](): Promise<void>
}

export interface InstallationOptions {
  simulator?: Partial<Omit<SimulatorOptions, 'port' | 'directory' | 'hourMs'>>
  roles?: ('api' | 'worker')[]
  /** Length of the authority's hour, on both sides. */
  hourMs?: number
  /** Prepares the directory of the simulator before it starts. */
  prepareSimulator?: (directory: string) => void
  /** In this ambiente, at the official addresses, which lead to the simulator. Its root is trusted unless `isRootKnown` is false. */
  homologacao?: { isRootKnown?: boolean; port?: number }
  /** Settings that the environment of an installation would contain. */
  config?: Partial<Config>
}

/** The product on a PostgreSQL that is there, with a simulated authority, on free ports and with a data directory of its own. */
export async function startInstallation(databaseUrl: string, options: InstallationOptions = {}): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'vigia-product-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const hourMs = options.hourMs ?? 60_000
  const directory = join(dataDir, 'simulator')
  options.prepareSimulator?.(directory)
  const simulator = stack.use(
    await startSimulator({
      since: weeksAgo(),
      tpAmb: options.homologacao ? 2 : 1,
      ...options.simulator,
      port: 0,
      directory,
      hourMs,
    }),
  )
  const environment = {
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    SIMULATOR_PORT: String(simulator.port),
    LOG_LEVEL: 'error',
    ...(options.homologacao && officialEnvironment(directory, options.homologacao.isRootKnown)),
  }
  const behind = stack.use(await standBehind(process.env.BEHIND))
  const read = atPace(readConfig(environment, dataDir), hourMs)
  const config = {
    ...(options.homologacao ? atPort(read, options.homologacao.port ?? simulator.port) : read),
    passwordCost: quickPasswords,
    door: doorForTests(read.door),
    ...behind.config,
    ...options.config,
  }
  if (options.homologacao) stack.use(leadNamesHere())
  const server = stack.use(await startServer(config, { roles: options.roles ?? ['api', 'worker'] }))
  const owned = stack.move()
  return {
    url: server.url && (await behind.front(server.url)),
    simulator,
    config,
    databaseUrl,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

// The tests of a file make the calls of many people, all from one address.
function doorForTests(door: Config['door']): Config['door'] {
  const many = { perSecond: 1_000, burst: 100_000 }
  return { ...door, calls: many, files: many, failures: many }
}

function officialEnvironment(simulatorDirectory: string, isRootKnown = true): Record<string, string> {
  return {
    SEFAZ_AMBIENTE: 'homologacao',
    CADASTRO: 'aberto',
    PLANOS: 'desligados',
    ...(isRootKnown && { SEFAZ_CA_FILE: join(simulatorDirectory, 'ca', 'root.pem') }),
  }
}

interface Behind {
  config: Partial<Config>
  /** Starts it in front of the product at `url` and returns the address for clients. */
  front(url: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

// BEHIND=nginx or caddy: any test runs with one of them in between, as deploy/ has it.
async function standBehind(what: string | undefined): Promise<Behind> {
  const stack = new AsyncDisposableStack()
  const dispose = { [Symbol.asyncDispose]: () => stack.disposeAsync() }
  if (!what) return { config: {}, front: async (url) => url, ...dispose }
  const kind = proxies.find((kind) => kind === what)
  if (!kind) throw new Error('BEHIND is nginx or caddy')
  const ports = { port: await freePort(), securePort: await freePort() }
  const publicUrl = `http://localhost:${ports.port}`
  return {
    config: { publicUrl, trustedProxies: ['127.0.0.1', '::1'] },
    front: async (url) => {
      stack.use(await startProxy(kind, ports, url))
      return publicUrl
    },
    ...dispose,
  }
}

function atPace(config: Config, hourMs: number): Config {
  const pagePauseMs = Math.min(hourMs / 1800, 20)
  return { ...config, sefaz: { ...config.sefaz, hourMs, pagePauseMs, marginMs: hourMs / 12 } }
}
