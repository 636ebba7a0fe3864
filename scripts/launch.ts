import { constants } from 'node:fs'
import { access, chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrateOnly, type ReachSigner } from '@vigia/server/open'
import { createHealth, type Health, openProbes } from '@vigia/server/platform/http/probes'
import { refuseWhileStarting } from '@vigia/server/platform/http/starting'
import {
  type Config,
  describeHosts,
  examineHosts,
  type Role,
  readConfig,
  type Server,
  start,
  type WorkerProcess,
} from '@vigia/server/start'
import { type Demo, openDemo } from './demo.ts'
import { StartError } from './lifetime.ts'
import { portInUse, requirePort } from './ports.ts'
import { startSigner, takeKeys } from './signer-process.ts'
import { type SimulatorProcess, startSimulator } from './simulator-process.ts'
import { stopTogether } from './stopping.ts'
import { buildWeb } from './web-build.ts'
import { startWorker } from './worker-process.ts'

export const root = fileURLToPath(new URL('..', import.meta.url))

export type Mode = 'serve' | 'api' | 'worker' | 'migrate'

/** The configuration of this run: the environment, and below it the file `.env`. */
export function configure(): Config {
  try {
    process.loadEnvFile(path.join(root, '.env'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return readConfig(process.env, process.cwd())
}

const say = (text: string) => console.log(`  ${text}`)

/**
 * Brings the product up and keeps it up until `until`; then stops it in order. The ports are tried first: a start that
 * cannot succeed leaves no trace. `development`: where the web app is served from its sources, so that it is not built, and what starts
 * the server.
 */
export async function launch(
  config: Config,
  mode: Mode,
  until: Promise<void>,
  development?: { siteUrl: string; serve: () => Promise<Server> },
): Promise<void> {
  const since = performance.now()
  console.log(`${config.productName}\n`)
  const keys = takeKeys(process.env)
  if (mode === 'migrate') return migrateAndEnd(config)
  // Threads (a certificate file, prints, verification) find their code compiled there, and start with half of the processor time.
  process.env.NODE_COMPILE_CACHE ??= path.join(config.dataDir, 'compiled')

  await using stack = new AsyncDisposableStack()
  const health = createHealth(mode === 'serve' ? ['api', 'worker'] : [mode])
  if (config.probePort !== undefined) stack.use(await openOwnProbes(config, health))
  let over = false
  void until.then(() => {
    over = true
    health.drain()
  })
  if (mode !== 'worker') await requirePort(config.port, 'PORT')
  if (mode === 'serve' && config.simulator) await requirePort(config.simulator.port, 'SIMULATOR_PORT')
  if (mode === 'serve') await requireArchive(config)
  // With port 0 the address is unknown until the start.
  const held =
    mode !== 'worker' && !development && config.port !== 0 ? stack.use(await refuseWhileStarting(config)) : null
  // Before a thread makes it to keep its compiled code there.
  await requireFolder(config.dataDir)
  // It starts while the database does. In development the server, which is started again and again, has one inside.
  const signer = config.signerSocket || development ? null : stack.use(await startSigner(root, config, keys))
  if (mode !== 'worker' && !development) await buildWeb(root, say)
  if (over) return

  let simulator: SimulatorProcess | null = null
  // Nothing works without one of these, so the program ends with them.
  const deaths: Promise<string>[] = []
  const withoutKeys: Config = { ...config, masterKey: undefined, newMasterKey: undefined }
  const startRoles = starter(development ? config : withoutKeys, {
    listening: async () => held?.[Symbol.asyncDispose](),
    reachSigner: signer?.reach,
    health,
  })
  if (mode === 'serve') {
    // The database first: it belongs to one program at a time, and with it everything in the data directory.
    const storage = stack.use(await startRoles([]))
    deaths.push(storage.died.then(() => 'O PostgreSQL'))
    if (over) return
    if (config.simulator) {
      say('Abrindo a SEFAZ simulada…')
      simulator = stack.use(await startSimulator(root, config, config.demo !== null))
    }
  } else if (mode === 'worker') await requireAuthority(config)
  if (over) return

  let url = ''
  const running: AsyncDisposable[] = []
  stack.defer(() => stopTogether(running, say))
  if (mode === 'serve' && !development) {
    const socket = signer ? { signerSocket: signer.socket } : {}
    const worker = startWorker({ ...withoutKeys, ...socket })
    running.push(worker)
    const api = await startRoles(['api'], worker)
    running.push(api)
    // It may hang while it begins.
    await Promise.race([worker.begun, until]).catch((error: unknown) => {
      // Ctrl+C may reach it before it knows that the program says when it ends.
      if (!over) throw error
    })
    url = api.url
  } else {
    const server = development ? await development.serve() : await startRoles(mode === 'serve' ? [] : [mode])
    running.push(server)
    deaths.push(server.died.then(() => 'O PostgreSQL'))
    url = server.url
  }
  if (over) return
  const demo =
    simulator && config.demo
      ? await openDemo({ apiUrl: url, config, login: config.demo, simulator, say, reachSigner: signer?.reach })
      : null
  if (over) return

  const site = development?.siteUrl ?? (config.port === 0 ? url : config.publicUrl)
  report(config, mode, site, (performance.now() - since) / 1000)
  if (config.sefaz.ambiente !== 'simulado') void reportHosts(config)
  if (demo) void goOnUntil(until, demo)
  if (simulator) deaths.push(simulator.died.then(() => 'A SEFAZ simulada'))
  const dead = await Promise.race([until, ...deaths])
  if (dead)
    throw new StartError(
      `${dead} parou sem ser mandado parar; o programa foi encerrado. Os dados estão a salvo: inicie de novo.`,
    )
}

// Beside the program, whose documents it waits for.
async function goOnUntil(until: Promise<void>, demo: Demo): Promise<void> {
  const ended = new AbortController()
  void until.then(() => ended.abort())
  await demo.goOn(ended.signal).catch((error: unknown) => {
    if (!ended.signal.aborted) console.error(error)
  })
}

async function migrateAndEnd(config: Config): Promise<void> {
  const applied = await migrateOnly(config, say).catch((error: unknown) => {
    throw explain(error, config)
  })
  say(applied.length > 0 ? `Aplicado: ${applied.join(', ')}.` : 'A estrutura do banco de dados já estava em dia.')
}

// Each role reports its steps; a step that all of them take is printed once.
function starter(
  config: Config,
  options: { listening: () => Promise<void>; reachSigner?: ReachSigner; health: Health },
): (roles: Role[], worker?: WorkerProcess) => Promise<Server> {
  const told = new Set<string>()
  const step = (text: string) => {
    if (!told.has(text)) say(text)
    told.add(text)
  }
  return async (roles, worker) => {
    try {
      return await start(config, { ...options, roles, step, worker })
    } catch (error) {
      throw explain(error, config)
    }
  }
}

async function openOwnProbes(config: Config, health: Health): Promise<AsyncDisposable> {
  return openProbes(config, health).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? portInUse(config.probePort ?? 0, 'PROBE_PORT') : error
  })
}

async function requireFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await closeToOthers(folder)
    await access(folder, constants.W_OK)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const reason = ['EEXIST', 'ENOTDIR'].includes(code) ? 'há um arquivo onde devia haver uma pasta' : code
    throw new StartError(
      `A pasta ${folder} não pode ser criada ou gravada (${reason}). Nada foi alterado. Escolha outra em DATA_DIR.`,
      { cause },
    )
  }
}

// Root may have given the database to another account, which has to pass through.
async function closeToOthers(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder)
  const allowed = uid === 0 ? 0o711 : 0o700
  if (uid === process.getuid?.() && mode & 0o777 & ~allowed) await chmod(folder, mode & allowed)
}

/** An error of the ports or of the database server with a message for the person; any other error as it is. */
export function explain(error: unknown, config: Config): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EADDRINUSE') return portInUse(config.port, 'PORT')
  if (!config.databaseUrl || !(error instanceof Error)) return error
  // Class 28: login refused; 3D000: no such database; 42501: the login may not do something.
  if (/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|28|3D000|42501)/.test(code))
    return new StartError(
      `O servidor de DATABASE_URL (${new URL(config.databaseUrl).host}) não pôde ser usado: ${error.message || code}.`,
    )
  return error
}

async function requireArchive({ simulator }: Config): Promise<void> {
  if (!simulator?.archive) return
  const found = await stat(simulator.archive).catch(() => null)
  if (!found?.isDirectory())
    throw new StartError(`SIMULATOR_ARCHIVE aponta para ${simulator.archive}, que não é uma pasta. Nada foi alterado.`)
}

// The certificate of the simulated authority is made by the simulator when it first starts.
async function requireAuthority({ sefaz, simulator }: Config): Promise<void> {
  const [file] = sefaz.caFiles
  if (!simulator || !file) return
  await access(file).catch(() => {
    throw new StartError(
      `Falta o certificado da SEFAZ simulada (${file}). Inicie antes o programa inteiro (npm start) ou o simulador (npm run simulator).`,
    )
  })
}

function report(config: Config, mode: Mode, siteUrl: string, seconds: number): void {
  const lines = [`\nPronto em ${seconds.toFixed(1)} s.`, '']
  if (mode !== 'worker') lines.push(`  Abra        ${siteUrl}`)
  if (mode === 'serve' && config.simulator && config.demo)
    lines.push(`  Entre com   ${config.demo.email}   senha: ${config.demo.password}`)
  lines.push(`  Dados em    ${config.databaseUrl ? new URL(config.databaseUrl).host : config.dataDir}`)
  const { smtpUrl } = config.mail
  lines.push(`  E-mails     ${smtpUrl ? `por ${new URL(smtpUrl).host}` : `em ${path.join(config.dataDir, 'outbox')}`}`)
  lines.push(`  SEFAZ       ${config.sefaz.ambiente}`)
  if (config.sefaz.ambiente !== 'simulado' && mode !== 'api' && !config.backup)
    lines.push('  Cópias      nenhuma: sem BACKUP_DIR e BACKUP_KEY, um disco perdido leva tudo')
  lines.push('', 'Ctrl+C encerra.')
  console.log(lines.join('\n'))
}

// Runs beside the program, which captures in the meantime.
async function reportHosts(config: Config): Promise<void> {
  try {
    const hosts = await examineHosts(config)
    const faults = hosts.filter(({ ok }) => !ok)
    const told = `Servidores da SEFAZ: ${hosts.length - faults.length} de ${hosts.length} conferidos sem falha.`
    const clock = hosts.flatMap(({ clock }) => clock ?? []).slice(0, 1)
    console.log(['', told, ...clock, ...describeHosts(faults)].join('\n'))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}
