import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { PostgresError } from './error.ts'
import { joinPostgres, sharePostgres, startPostgres } from './postgres.ts'

const root = process.getuid?.() === 0
// As root, runs programs that own root's files but lack its permissions, like an ordinary user.
const asUser = root ? ['unshare', '--user', '--map-user=1', '--map-group=1', '--'] : []
const namespaces = spawnSync(asUser[0] ?? 'true', [...asUser.slice(1), 'true']).status === 0
const canMount = root && spawnSync('unshare', ['--mount', 'true']).status === 0

let base: string
let template: string
let children: ChildProcess[] = []

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'vigia postgres é '))
  template = join(base, 'template', 'postgres')
  await using server = await startPostgres({ directory: template })
  await query(server.url, 'create table kept (n int); insert into kept values (42)')
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
})

afterAll(async () => {
  await rm(base, { recursive: true, force: true })
})

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const result = await client.query(sql)
    return Array.isArray(result) ? [] : result.rows
  } finally {
    await client.end()
  }
}

async function copyOfTemplate(): Promise<string> {
  return copy('-a')
}

// Faster copies for clusters without a server: files must be replaced, never written into.
function linkOfTemplate(): Promise<string> {
  return copy(process.platform === 'linux' ? '-al' : '-a')
}

async function copy(how: string): Promise<string> {
  const home = await mkdtemp(join(base, 'copy-'))
  await promisify(execFile)('cp', [how, template, `${template}.password`, home])
  return join(home, 'postgres')
}

async function replace(file: string, content: string): Promise<void> {
  await rm(file)
  await writeFile(file, content)
}

async function emptyHome(): Promise<string> {
  return join(await mkdtemp(join(base, 'empty-')), 'postgres')
}

// Runs a separate program that starts PostgreSQL in `directory`, reports it, and waits forever.
async function program(directory: string, prefix: string[] = []): Promise<{ child: ChildProcess; said: string }> {
  const code = `
    import { startPostgres } from ${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)}
    process.on('SIGINT', () => {})
    try {
      const { url } = await startPostgres({ directory: process.argv[1] })
      console.log(url)
      setInterval(() => {}, 1000)
    } catch (error) {
      console.log(error.code, error.message)
    }`
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', code, directory]
  const child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface(child.stdout)
  const said = await Promise.race([once(lines, 'line').then(([line]) => String(line)), sleep(20_000, 'nothing')])
  return { child, said }
}

async function serverPid(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0])
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<boolean> {
  for (let i = 0; i < 100 && alive(pid); i++) await sleep(100)
  return !alive(pid)
}

// Files that a server writes for itself at start or during a query.
const noteOfServer = /^(postmaster\.opts|postmaster\.pid|pg_internal\.init|pgstat\.stat)$/

async function contents(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && !noteOfServer.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  return (await Promise.all(files.map(async (file) => `${file} ${(await stat(file)).size}`))).sort()
}

async function refusal(directory: string, options: { asRoot?: [] } = {}): Promise<PostgresError> {
  const before = existsSync(directory) && (await stat(directory)).isDirectory() ? await contents(directory) : null
  const error = await startPostgres({ directory, ...options }).then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof PostgresError)) throw new Error('it did not refuse', { cause: error })
  if (before) expect(await contents(directory)).toEqual(before)
  expect(error.message).toMatch(/Nada foi|não foram alterados|a salvo|Rode /)
  expect(error.message).not.toContain('\n')
  return error
}

test('the data of the first start are there at the second, in a directory closed to others, and nothing is left running', async () => {
  const directory = await copyOfTemplate()
  await chmod(directory, 0o777)
  let pid: number
  {
    await using server = await startPostgres({ directory })
    pid = await serverPid(directory)
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
  }
  expect(alive(pid)).toBe(false)
  expect(existsSync(join(directory, 'postmaster.pid'))).toBe(false)
})

test('the cluster is UTF-8 with a locale of its own, listens on loopback only, and its owner is no superuser but may create databases and roles', async () => {
  const directory = await copyOfTemplate()
  await using server = await startPostgres({ directory, settings: { fsync: 'off' } })
  expect(server.url).toMatch(/^postgres:\/\/vigia:[\w-]{32}@127\.0\.0\.1:\d+\/vigia$/)
  expect(
    await query(
      server.url,
      `select pg_encoding_to_char(encoding) as encoding, datlocprovider as provider, datlocale as locale,
              current_setting('listen_addresses') as addresses,
              current_setting('fsync') as fsync, current_setting('wal_compression') as wal, rolsuper as super
         from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
    ),
  ).toEqual([
    {
      encoding: 'UTF8',
      provider: 'b',
      locale: 'C.UTF-8',
      addresses: '127.0.0.1',
      fsync: 'off',
      wal: 'off',
      super: false,
    },
  ])
  expect((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[4]).toBe('')
  await expect(query(server.url.replace(/:[\w-]{32}@/, ':wrong@'), 'select 1')).rejects.toThrow(/authentication/)
  await expect(query(server.url.replace('/vigia:', '/postgres:'), 'select 1')).rejects.toThrow()
  expect((await stat(`${directory}.password`)).mode & 0o777).toBe(0o600)
  await query(server.url, 'create database other')
  await query(server.url, 'create role reader nologin')
  await query(server.url, 'set role reader')
})

test('the PostgreSQL of a killed program ends with it, and the next start works at once', async () => {
  const directory = await copyOfTemplate()
  const { child, said } = await program(directory)
  await query(said, 'insert into kept values (43)')
  const pid = await serverPid(directory)
  child.kill('SIGKILL')
  await using server = await startPostgres({ directory })
  expect(await query(server.url, 'select n from kept order by n')).toEqual([{ n: 42 }, { n: 43 }])
  expect(await gone(pid)).toBe(true)
})

test('the interrupt key of a terminal does not reach PostgreSQL, and a killed program leaves no process behind', async () => {
  const directory = await copyOfTemplate()
  const { child, said } = await program(directory)
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await sleep(500)
  expect(await query(said, 'select n from kept')).toEqual([{ n: 42 }])
  const pid = await serverPid(directory)
  child.kill('SIGKILL')
  expect(await gone(pid)).toBe(true)
  const left = async () => {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args'])
    return stdout.split('\n').filter((line) => line.includes(directory))
  }
  await expect.poll(left).toEqual([])
})

test('a server that ends unasked is started again at the same address, three times in ten minutes', async () => {
  const directory = await copyOfTemplate()
  const said: string[] = []
  await using server = await startPostgres({ directory, log: (line) => said.push(line) })
  let isDead = false
  void server.died.then(() => {
    isDead = true
  })
  const answers = async () => expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
  for (let time = 1; time <= 3; time++) {
    const pid = await serverPid(directory)
    process.kill(pid, 'SIGKILL')
    expect(await gone(pid)).toBe(true)
    await vi.waitFor(answers, { timeout: 25_000 }).catch((cause) => {
      throw new Error(said.join('\n'), { cause })
    })
    expect(isDead).toBe(false)
  }
  process.kill(await serverPid(directory), 'SIGKILL')
  await server.died
  await expect(query(server.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/)
})

test('a second instance is refused, and may join instead', async () => {
  const directory = await copyOfTemplate()
  await using server = await startPostgres({ directory })
  const [error, joined] = await Promise.all([refusal(directory), joinPostgres({ directory })])
  expect(error.code).toBe('locked')
  expect(error.message).toContain(`processo ${await serverPid(directory)}`)
  expect(joined?.url).toBe(server.url)
  await joined?.[Symbol.asyncDispose]()
  expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
})

test('there is nothing to join where nothing runs', async () => {
  expect(await joinPostgres({ directory: await emptyHome() })).toBeNull()
  expect(await joinPostgres({ directory: await copyOfTemplate() })).toBeNull()
})

test('a lock file of before a crash does not block, though another program bears its number now', async () => {
  const directory = await copyOfTemplate()
  const lock = (pid: number) => `${pid}\n${directory}\n1700000000\n5432\n\n127.0.0.1\n  123456   7\nready   \n`
  await writeFile(join(directory, 'postmaster.pid'), lock(process.pid))
  expect(await joinPostgres({ directory })).toBeNull()
  {
    await using server = await startPostgres({ directory })
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
  }
  await writeFile(join(directory, 'postmaster.pid'), lock(999_999_999))
  await using server = await startPostgres({ directory })
  expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
})

test('an empty lock file of before a crash does not block', async () => {
  const directory = await copyOfTemplate()
  const file = join(directory, 'postmaster.pid')
  await writeFile(file, '')
  await utimes(file, 1_700_000_000, 1_700_000_000)
  await using server = await startPostgres({ directory })
  expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
})

test('a first start that is killed leaves nothing in its place, and the next one cleans up', async () => {
  const directory = await emptyHome()
  void program(directory)
  const child = children.at(-1)
  while (!(await readdir(dirname(directory))).some((name) => name.includes('.new-'))) await sleep(10)
  child?.kill('SIGKILL')
  if (child?.signalCode === null) await once(child, 'exit')
  expect(existsSync(directory)).toBe(false)
  await using server = await startPostgres({ directory })
  await query(server.url, 'select 1')
  expect((await readdir(dirname(directory))).sort()).toEqual(['postgres', 'postgres.password'])
})

test('two first starts at once in a directory that is there and empty end with one server', async () => {
  const directory = await emptyHome()
  await mkdir(directory)
  const [a, b] = await Promise.allSettled([startPostgres({ directory }), startPostgres({ directory })])
  const [won, lost] = a.status === 'fulfilled' ? [a, b] : [b, a]
  if (won.status !== 'fulfilled' || lost.status !== 'rejected') throw new Error('not one of each')
  expect(lost.reason).toMatchObject({ code: 'locked' })
  await query(won.value.url, 'select 1')
  await won.value[Symbol.asyncDispose]()
})

test('two roles that start at the same time share one server', async () => {
  const directory = await copyOfTemplate()
  const [one, other] = await Promise.all([sharePostgres({ directory }), sharePostgres({ directory })])
  expect(one.url).toBe(other.url)
  await using _server = one
  await using _joined = other
  expect(await query(one.url, 'select n from kept')).toEqual([{ n: 42 }])
})

test('a lost or foreign password is replaced', async () => {
  const directory = await copyOfTemplate()
  const before = await readFile(`${directory}.password`, 'utf8')
  await rm(`${directory}.password`)
  {
    await using server = await startPostgres({ directory })
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
  }
  expect(await readFile(`${directory}.password`, 'utf8')).not.toBe(before)
  await writeFile(`${directory}.password`, 'of-another-cluster')
  await using server = await startPostgres({ directory })
  expect(await query(server.url, 'select n from kept')).toEqual([{ n: 42 }])
})

test('a file in place of the directory is refused', async () => {
  const directory = await emptyHome()
  await writeFile(directory, 'something of mine')
  expect((await refusal(directory)).code).toBe('corrupted')
  expect((await refusal(join(directory, 'postgres'))).code).toBe('corrupted')
  expect(await readFile(directory, 'utf8')).toBe('something of mine')
})

test('a directory with something else in it is refused', async () => {
  const directory = await emptyHome()
  await mkdir(directory)
  await writeFile(join(directory, 'thesis.txt'), 'something of mine')
  const error = await refusal(directory)
  expect(error).toMatchObject({ code: 'corrupted', message: expect.stringContaining('PG_VERSION') })
})

test('the data of another version are refused', async () => {
  const directory = await linkOfTemplate()
  await replace(join(directory, 'PG_VERSION'), '17\n')
  expect(await refusal(directory)).toMatchObject({ code: 'version', message: expect.stringContaining('PostgreSQL 17') })
})

test.each<[string, (directory: string) => Promise<void>]>([
  ['a lost control file', (directory) => rm(join(directory, 'global/pg_control'))],
  ['an empty control file', (directory) => replace(join(directory, 'global/pg_control'), '')],
  ['an empty PG_VERSION', (directory) => replace(join(directory, 'PG_VERSION'), '')],
  ['a senseless PG_VERSION', (directory) => replace(join(directory, 'PG_VERSION'), 'oito')],
  ['a lost configuration', (directory) => rm(join(directory, 'postgresql.conf'))],
  ['a lost write-ahead log', (directory) => rm(join(directory, 'pg_wal'), { recursive: true })],
  ['a lost catalogue', (directory) => rm(join(directory, 'global'), { recursive: true })],
  ['a lost map of the catalogue', (directory) => rm(join(directory, 'global/pg_filenode.map'))],
  ['lost tables', (directory) => rm(join(directory, 'base'), { recursive: true })],
])('%s is told and nothing is changed', async (_, damage) => {
  const directory = await linkOfTemplate()
  await damage(directory)
  expect((await refusal(directory)).code).toBe('corrupted')
})

test.each<[string, (directory: string) => Promise<void>]>([
  ['a senseless control file', (directory) => replace(join(directory, 'global/pg_control'), 'x'.repeat(8192))],
  ['a broken configuration', (directory) => replace(join(directory, 'postgresql.conf'), 'what is this')],
  ['a list of databases that is lost', (directory) => rm(join(directory, 'global/1262'))],
])('%s is told by the server, and nothing is lost', async (_, damage) => {
  const directory = await copyOfTemplate()
  await damage(directory)
  expect((await refusal(directory)).code).toBe('corrupted')
})

test.runIf(namespaces)('a directory without permission is refused', async () => {
  const home = await mkdtemp(join(base, 'closed-'))
  await chmod(home, 0o500)
  expect((await program(join(home, 'postgres'), asUser)).said).toMatch(/^permission Sem permissão .*DATA_DIR/)
  expect((await program(join(home, 'data', 'postgres'), asUser)).said).toMatch(/^permission /)

  const directory = await copyOfTemplate()
  await chmod(join(directory, 'global/pg_control'), 0o000)
  expect((await program(directory, asUser)).said).toMatch(/^permission /)
  await chmod(join(directory, 'global/pg_control'), 0o600)
  await chmod(directory, 0o000)
  expect((await program(directory, asUser)).said).toMatch(/^permission /)
  for (const closed of [home, directory]) await chmod(closed, 0o700)
})

test.runIf(canMount)('a full disk is reported, and the unfinished cluster removed', async () => {
  const home = await mkdtemp(join(base, 'small-'))
  const mount = 'mount -t tmpfs -o size=20m tmpfs "$0" && "$@"; ls -A "$0" >&2'
  const prefix = ['unshare', '--mount', '--', 'sh', '-c', mount, home]
  expect((await program(join(home, 'postgres'), prefix)).said).toMatch(/^start Não há espaço no disco/)
})

test.runIf(root && namespaces)('root needs no other account and keeps owning the files', async () => {
  const directory = await emptyHome()
  await using server = await startPostgres({ directory, asRoot: ['namespace'] })
  await query(server.url, 'select 1')
  expect((await stat(join(directory, 'PG_VERSION'))).uid).toBe(0)
})

test.runIf(root)('root without namespaces hands the data and later starts to an ordinary account', async ({ skip }) => {
  const open = await mkdtemp(join(tmpdir(), 'vigia-open-'))
  try {
    await chmod(open, 0o755)
    const directory = join(open, 'postgres')
    try {
      await using server = await startPostgres({ directory, asRoot: ['account'] })
      await query(server.url, 'create table kept (n int)')
    } catch (error) {
      if (error instanceof PostgresError && error.code === 'root')
        skip('this clone stands in a folder that is private to root, out of the reach of every account')
      throw error
    }
    const { uid } = await stat(join(directory, 'PG_VERSION'))
    expect(uid).not.toBe(0)
    await using server = await startPostgres({ directory })
    await query(server.url, 'select n from kept')
    expect((await stat(join(directory, 'postmaster.pid'))).uid).toBe(uid)
  } finally {
    await rm(open, { recursive: true, force: true })
  }
})

test.runIf(root)('root without any means says what to do', async () => {
  expect(await refusal(await emptyHome(), { asRoot: [] })).toMatchObject({
    code: 'root',
    message: expect.stringContaining('DATABASE_URL'),
  })
})
