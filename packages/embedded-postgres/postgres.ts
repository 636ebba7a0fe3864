import { randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { backupPassword, backupRole, replicationClient } from './backup.ts'
import { syncFolder } from './durable.ts'
import { damaged, fileProblem, locked, notFolder, otherVersion, outputProblem, PostgresError } from './error.ts'
import { bogusLockIsOld, isPostmaster, readPostmaster } from './lock.ts'
import { freePort } from './port.ts'
import {
  type Binaries,
  chooseRunner,
  findBinaries,
  giveTo,
  type RootRunner,
  type Runner,
  run,
  type Supervised,
  supervise,
} from './process.ts'
import { readOrCreateSecret } from './secret-file.ts'

export { PostgresError } from './error.ts'

export interface EmbeddedPostgres {
  url: string
  /** Settles when the server ended unasked, and was restarted too often or cannot be restarted. */
  died: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PostgresOptions {
  /** The data directory of the cluster; its password lives beside it. */
  directory: string
  log?: (line: string) => void
  settings?: Record<string, string>
  /** Runners to try when this process is root, in this order. */
  asRoot?: readonly RootRunner[]
}

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  // initdb's default; enough for the `pools` of several processes (apps/server/platform/database.ts).
  max_connections: '100',
  // The owner of the database is no superuser; roles that it creates are its own to use.
  createrole_self_grant: 'set,inherit',
  lc_messages: 'C',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The binaries of npm have neither lz4 nor zstd, and pglz cuts ingestion to a third.
  wal_compression: 'off',
  // After a checkpoint each document writes 10 kB of WAL instead of 4, so checkpoints are rare.
  checkpoint_timeout: '15min',
  max_wal_size: '4GB',
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  shared_buffers: '256MB',
  work_mem: '16MB',
}

/**
 * Starts the PostgreSQL of `directory`, creating it on first use, and again when it ends unasked. It ends with this process, whatever ends
 * it.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  const log = options.log ?? (() => {})
  try {
    const binaries = await findBinaries()
    await mkdir(dirname(directory), { recursive: true, mode: 0o700 })
    await removeLeftovers(directory)
    const owner = await inspect(directory)
    const runner = await chooseRunner(binaries, directory, owner, options.asRoot ?? ['namespace', 'account'])
    await checkVersion(binaries, directory, owner, runner)

    const password = await readOrCreateSecret(`${directory}.password`, () => randomBytes(24).toString('base64url'))
    if (!owner) {
      log('Criando o banco de dados (só na primeira vez)…')
      await createCluster(binaries, runner, directory, password)
    }
    const stalePid = await waitForOther(directory)
    await prepareOwnership(directory, runner, owner)
    const cluster = { binaries, runner, directory, password, log, stalePid, extra: options.settings ?? {} }
    const running = await launch(cluster)
    if (running !== 'wrong-password') return keepRunning(cluster, running)
    // The password file was lost or belongs to another cluster; its owner may set the passwords.
    await setPasswords(binaries, runner, directory, password)
    const again = await launch(cluster)
    if (again === 'wrong-password') throw new PostgresError('corrupted', damaged(directory, 'a senha não confere'))
    return keepRunning(cluster, again)
  } catch (error) {
    throw fileProblem(directory, error)
  }
}

/** Joins the PostgreSQL that another process runs in `directory`; null if none. Never stops it. */
export async function joinPostgres(options: { directory: string }): Promise<EmbeddedPostgres | null> {
  const directory = resolve(options.directory)
  try {
    for (;;) {
      const postmaster = await readPostmaster(directory)
      if (!postmaster || postmaster.status === 'stopping' || !(await isPostmaster(postmaster.pid, directory)))
        return null
      if (postmaster.status === 'ready') {
        const url = connectionUrl((await readFile(`${directory}.password`, 'utf8')).trim(), postmaster.port)
        return (await loginProblem(ownerClient(url)))
          ? null
          : { url, died: new Promise(() => {}), async [Symbol.asyncDispose]() {} }
      }
      await sleep(100)
    }
  } catch (error) {
    throw fileProblem(directory, error)
  }
}

/** Joins the PostgreSQL of `directory`, or starts it when it does not run; several processes may do this at the same time. */
export async function sharePostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const running = await joinPostgres(options)
  if (running) return running
  try {
    return await startPostgres(options)
  } catch (error) {
    const winner = error instanceof PostgresError && error.code === 'locked' ? await joinPostgres(options) : null
    if (!winner) throw error
    return winner
  }
}

// A damaged cluster may start and fail only now.
async function loginProblem(client: pg.Client): Promise<Error | null> {
  client.on('error', () => {})
  try {
    await client.connect()
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await client.end().catch(() => {})
  }
}

function connectionUrl(password: string, port: number): string {
  return `postgres://vigia:${password}@127.0.0.1:${port}/vigia`
}

// Files without which PostgreSQL fails, possibly after changing others. Minimum sizes in bytes.
const essential: readonly [name: string, sizeMin: number][] = [
  ['PG_VERSION', 1],
  ['global/pg_control', 8192],
  ['global/pg_filenode.map', 1],
  ['postgresql.conf', 0],
  ['pg_hba.conf', 1],
  ['base', 0],
  ['pg_wal', 0],
  ['pg_xact', 0],
]

// Returns the owner of an existing cluster, null when there is none yet; throws when the directory holds something else.
async function inspect(directory: string): Promise<{ uid: number; gid: number } | null> {
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!found) {
    const link = await lstat(directory).catch(() => null)
    if (link) throw new PostgresError('corrupted', damaged(directory, 'a pasta apontada pelo atalho não existe'))
    return null
  }
  if (!found.isDirectory()) throw new PostgresError('corrupted', notFolder(directory))
  if ((await readdir(directory)).length === 0) return null
  for (const [name, sizeMin] of essential) {
    const size = await fileSize(join(directory, name))
    if (size === null) throw new PostgresError('corrupted', damaged(directory, `falta ${name}`))
    if (size < sizeMin) throw new PostgresError('corrupted', damaged(directory, `o arquivo ${name} está incompleto`))
  }
  return { uid: found.uid, gid: found.gid }
}

async function fileSize(path: string): Promise<number | null> {
  try {
    await using file = await open(path, 'r')
    return (await file.stat()).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function checkVersion(binaries: Binaries, directory: string, owner: unknown, runner: Runner): Promise<void> {
  if (!owner) return
  const { lines, output } = await run(runner, [binaries.postgres, '--version'])
  const ours = /(\d+)/.exec(output.at(-1) ?? '')?.[1]
  if (!ours) throw outputProblem(directory, lines)
  const found = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim()
  if (!/^\d+(\.\d+)?$/.test(found))
    throw new PostgresError('corrupted', damaged(directory, 'o arquivo PG_VERSION não diz uma versão'))
  if (found !== ours) throw new PostgresError('version', otherVersion(directory, found, ours))
}

// Creates the cluster beside its place and renames it: an interrupted start leaves no half one.
async function createCluster(binaries: Binaries, runner: Runner, directory: string, password: string): Promise<void> {
  const temporary = await mkdtemp(`${directory}.new-${process.pid}-`)
  try {
    const data = join(temporary, 'data')
    const sql = join(temporary, 'setup.sql')
    await writeFile(sql, setupSql(password), { mode: 0o600 })
    await giveTo(runner, temporary)
    await mustRun(directory, runner, [
      binaries.initdb,
      `--pgdata=${data}`,
      '--username=postgres',
      '--auth=reject',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ])
    await writeFile(join(data, 'pg_hba.conf'), whoMayEnter, { flush: true })
    await mustRun(directory, runner, single(binaries, data), sql)
    await rename(data, directory).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster; its cluster is as good as ours.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    await syncFolder(dirname(directory))
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

// The owner, roles with passwords created by it, and backups, which enter no database.
const whoMayEnter = `host all postgres 127.0.0.1/32 reject
host replication ${backupRole} 127.0.0.1/32 scram-sha-256
host all ${backupRole} 127.0.0.1/32 reject
host all all 127.0.0.1/32 scram-sha-256
`

// The superuser has no password and so cannot log in: the product, and an injection into it, is confined to its own database.
function setupSql(password: string): string {
  return `create role vigia login createdb createrole password '${password}';\ncreate database vigia owner vigia;\ncreate role ${backupRole} login replication password '${backupPassword(password)}';\n`
}

async function setPasswords(binaries: Binaries, runner: Runner, directory: string, password: string): Promise<void> {
  const temporary = await mkdtemp(`${directory}.new-${process.pid}-`)
  try {
    const sql = join(temporary, 'setup.sql')
    await writeFile(
      sql,
      `alter role vigia password '${password}';\nalter role ${backupRole} password '${backupPassword(password)}';\n`,
      { mode: 0o600 },
    )
    await giveTo(runner, temporary)
    await mustRun(directory, runner, single(binaries, directory), sql)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

function single(binaries: Binaries, data: string): string[] {
  return [binaries.postgres, '--single', '-D', data, '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off', 'postgres']
}

async function mustRun(directory: string, runner: Runner, command: string[], input?: string): Promise<void> {
  const { code, lines } = await run(runner, command, { input })
  if (code !== 0) throw outputProblem(directory, lines)
}

async function removeLeftovers(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.new-`
  for (const name of await readdir(dirname(directory))) {
    // Only folders created by our mkdtemp: process id, dash, six characters.
    const pid = Number(name.startsWith(prefix) ? /^(\d+)-\w{6}$/.exec(name.slice(prefix.length))?.[1] : undefined)
    if (Number.isNaN(pid)) continue
    if (pid === process.pid || isAlive(pid)) continue
    // Its initdb may still be ending. Leftovers are harmless, and the next start retries.
    await rm(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(
      () => {},
    )
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// Waits for a server that is shutting down, for example after SIGKILL of its program. Returns the
// pid of a lock file that another program has now, because PostgreSQL must be told to ignore it.
async function waitForOther(directory: string): Promise<number | null> {
  const patienceMs = { ready: 2500, starting: 10_000, stopping: 120_000 }
  for (const since = Date.now(); ; await sleep(100)) {
    const postmaster = await readPostmaster(directory)
    if (!postmaster) {
      if (await bogusLockIsOld(directory)) await rm(join(directory, 'postmaster.pid'), { force: true })
      return null
    }
    if (!(await isPostmaster(postmaster.pid, directory))) return postmaster.pid
    if (Date.now() - since > patienceMs[postmaster.status])
      throw new PostgresError('locked', locked(directory, postmaster.pid))
  }
}

async function prepareOwnership(directory: string, runner: Runner, owner: { uid: number } | null): Promise<void> {
  if (owner && runner.account && owner.uid !== runner.account.uid) await giveTo(runner, directory)
  // PostgreSQL refuses a directory that others can read, as some copies leave it.
  const { mode, uid } = await stat(directory)
  if (mode & 0o027 && (uid === process.getuid?.() || process.getuid?.() === 0)) await chmod(directory, 0o700)
}

interface Launch {
  binaries: Binaries
  runner: Runner
  directory: string
  password: string
  log: (line: string) => void
  stalePid: number | null
  extra: Record<string, string>
}

interface Running {
  server: Supervised
  port: number
}

async function launch(options: Launch): Promise<Running | 'wrong-password'> {
  const running = await begin(options)
  return verifyLogin(running, options)
}

// On `port`, where clients look for a server that was started before.
async function begin(options: Launch, port?: number): Promise<Running> {
  const { binaries, runner, directory, log, stalePid } = options
  const since = Date.now()
  for (let attempt = 1; ; attempt++) {
    const chosen = port ?? (await freePort())
    const assignments = Object.entries({ ...settings, ...options.extra, port: String(chosen) })
    const server = supervise(
      runner,
      [binaries.postgres, '-D', directory, ...assignments.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // Documented for pg_ctl: a process id which PostgreSQL does not take for a competitor in postmaster.pid.
      { env: stalePid ? { PG_GRANDPARENT_PID: String(stalePid) } : {} },
    )
    if (await becomesReady(server, directory, log)) return { server, port: chosen }

    const text = server.lines.join('\n')
    const portTaken = /could not (bind|create any TCP\/IP sockets)/.test(text) && attempt < 20
    const childrenLinger = /pre-existing shared memory block/.test(text) && Date.now() - since < 60_000
    // Another one is just starting: it will have its number in there when this one looks again.
    const lockIsEmpty = /lock file .* is empty/.test(text) && attempt < 20
    if (!portTaken && !childrenLinger && !lockIsEmpty) throw outputProblem(directory, server.lines)
    await sleep(childrenLinger || lockIsEmpty || port ? 500 : 0)
  }
}

async function becomesReady(server: Supervised, directory: string, log: (line: string) => void): Promise<boolean> {
  const pid = await server.pid
  let ended = false
  void server.ended.then(() => {
    ended = true
  })
  for (let waitedMs = 0; !ended; waitedMs += 25) {
    const postmaster = await readPostmaster(directory)
    if (postmaster?.pid === pid && postmaster?.status === 'ready') return true
    if (waitedMs === 5000) log('O PostgreSQL está recuperando os dados da última execução; aguarde…')
    await sleep(25)
  }
  return false
}

async function verifyLogin(running: Running, { directory, password }: Launch): Promise<Running | 'wrong-password'> {
  const { server, port } = running
  const url = connectionUrl(password, port)
  const problem = await loginProblem(ownerClient(url))
  // A pg_hba.conf that a person wrote may keep copies out; all else works.
  const ofCopies = problem ? null : codeOf(await loginProblem(replicationClient(url)))
  if (!problem && ofCopies !== wrongPassword) return running
  await server.stop({ abort: true })
  if (!problem || codeOf(problem) === wrongPassword) return 'wrong-password'
  throw new PostgresError('corrupted', damaged(directory, problem.message), { cause: problem })
}

const wrongPassword = '28P01'

function codeOf(error: Error | null): string | null {
  return error && 'code' in error ? String(error.code) : null
}

function ownerClient(url: string): pg.Client {
  return new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
}

const restartsMax = 3
const restartsWithinMs = 600_000

// Restarts a server killed for lack of memory; one that keeps dying is left to a person.
function keepRunning(cluster: Launch, { server: first, port }: Running): EmbeddedPostgres {
  const { password, log } = cluster
  let server = first
  let stopping = false
  const restarts: number[] = []
  // Null: too often.
  const beginAgain = async (): Promise<Supervised | null> => {
    for (;;) {
      const now = performance.now()
      if (restarts.filter((at) => now - at < restartsWithinMs).length === restartsMax) return null
      restarts.push(now)
      log('Os dados estão a salvo. Iniciando o PostgreSQL de novo…')
      try {
        // The process of the lock file has ended, and another one may have its pid. The password is
        // known to be right.
        return (await begin({ ...cluster, stalePid: await waitForOther(cluster.directory) }, port)).server
      } catch (error) {
        log(error instanceof Error ? error.message : String(error))
        await sleep(1_000)
      }
    }
  }
  const watching = (async (): Promise<'stopped' | 'died'> => {
    for (;;) {
      const code = await server.ended
      if (stopping) return 'stopped'
      log(`O PostgreSQL parou sem ser mandado (código ${code}): ${server.lines.at(-1) ?? ''}`)
      const again = await beginAgain()
      if (!again) return 'died'
      server = again
      if (stopping) await server.stop()
    }
  })()
  return {
    url: connectionUrl(password, port),
    // A server that was told to stop has not died: the promise stays pending.
    died: watching.then((how) => (how === 'died' ? undefined : new Promise<void>(() => {}))),
    async [Symbol.asyncDispose]() {
      stopping = true
      await server.stop()
      await watching
    },
  }
}
