import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { backupPassword, backupRole, takeBaseBackup } from '@vigia/postgres/backup'
import { freePort } from '@vigia/postgres/port'
import { startPostgres } from '@vigia/postgres/postgres'
import { chooseRunner, findBinaries, giveTo, type Supervised, supervise } from '@vigia/postgres/process'
import { unpackTar } from '@vigia/postgres/tar'
import pg from 'pg'

/** A server that follows the log of another one. */
export interface Standby {
  url: string
  /** As the superuser of the server. */
  execute(sql: string): Promise<unknown[]>
  /** Without a checkpoint, as a crash. */
  kill(): Promise<void>
  /** Where it was before. */
  start(): Promise<void>
}

export interface Replicated extends AsyncDisposable {
  /** Of the owner, on the server that is written to; its database is empty. */
  url: string
  standby: Standby
}

const ofBoth = { shared_buffers: '32MB', scram_iterations: '1', max_wal_size: '256MB' }

/** Two servers with a database, the second as a hot standby of the first; unless they are durable, a crash of the machine costs everything. */
export async function startReplicated({ durable = false } = {}): Promise<Replicated> {
  const settings = durable ? ofBoth : { ...ofBoth, fsync: 'off' }
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-replica-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const cluster = join(directory, 'postgres')
  const primary = stack.use(await startPostgres({ directory: cluster, settings }))
  await admitSuperuser(cluster)
  const standby = stack.use(await startStandby(primary.url, join(directory, 'standby'), settings))
  const owned = stack.move()
  return { url: primary.url, standby, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

// Only who may do everything may hold a standby back or promote it.
async function admitSuperuser(cluster: string): Promise<void> {
  const path = join(cluster, 'pg_hba.conf')
  await writeFile(path, `host all postgres 127.0.0.1/32 trust\n${await readFile(path, 'utf8')}`)
  process.kill(Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n', 1)[0]), 'SIGHUP')
}

/** A hot standby of the embedded PostgreSQL of `primaryUrl`, in a new folder. */
async function startStandby(
  primaryUrl: string,
  directory: string,
  settings: Record<string, string>,
): Promise<Standby & AsyncDisposable> {
  const { tar, ended } = await takeBaseBackup(primaryUrl)
  await unpackTar(tar, directory)
  await ended
  const { hostname: host, port: primaryPort, password } = new URL(primaryUrl)
  const secret = backupPassword(decodeURIComponent(password))
  await appendFile(join(directory, 'standby.signal'), '')
  // What the log removes is not kept for who reads it; a test may change that in this file, and not what the command line says.
  await appendFile(join(directory, 'postgresql.conf'), "\nmax_standby_streaming_delay = '100ms'\n")
  const binaries = await findBinaries()
  const runner = await chooseRunner(binaries, directory, null, ['namespace', 'account'])
  await giveTo(runner, directory)
  const port = await freePort()
  const url = new URL(primaryUrl)
  url.port = String(port)
  const admin = new URL(url)
  admin.username = 'postgres'
  admin.password = ''
  const assignments = {
    ...settings,
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    jit: 'off',
    timezone: 'UTC',
    primary_conninfo: `host=${host} port=${primaryPort} user=${backupRole} password=${secret}`,
    wal_retrieve_retry_interval: '200ms',
  }
  const command = [
    binaries.postgres,
    '-D',
    directory,
    ...Object.entries(assignments).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  const ask = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: admin.href })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  const execute = async (sql: string): Promise<unknown[]> => {
    for (;;)
      try {
        return await ask(sql)
      } catch (error) {
        // What lets the log go on may be the first to be cancelled for it.
        if ((error as { code?: string }).code !== '40001') throw error
      }
  }
  let server: Supervised | null = null
  const start = async () => {
    const begun = supervise(runner, command)
    server = begun
    let over = false
    void begun.ended.then(() => {
      over = true
    })
    while (!(await execute('select 1').catch(() => null))) {
      if (over) throw new Error(begun.lines.join('\n'))
      await setTimeout(20)
    }
  }
  const end = (abort: boolean) => server?.stop({ abort }) ?? Promise.resolve()
  await start()
  return { url: url.href, execute, start, kill: () => end(true), [Symbol.asyncDispose]: () => end(true) }
}
