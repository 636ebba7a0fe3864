import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vigia/postgres/port'
import { adapt, reached } from './proxy.ts'

// The PgBouncer of deploy/pgbouncer.ini, as it is shipped but for addresses and paths.

const program = process.env.PGBOUNCER ?? 'pgbouncer'
const isRoot = process.getuid?.() === 0
// It refuses to run as root.
const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

/** Whether there is one on this machine that can be started by who runs this. */
export const hasPooler = () =>
  spawnSync(program, ['--version']).status === 0 && (!isRoot || spawnSync('setpriv', ['--version']).status === 0)

interface Pooler {
  /** The address of the owner of the database, at the pooler. */
  url: string
  /** What it wrote until now. */
  log(): string
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts one in front of the database at `url`, with so few sessions that transactions of a client are carried out by several of them. */
export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'vigia-pooler-'))
  const { hostname, port, pathname } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const own = await freePort()
  const shipped = await readFile(new URL('../../../deploy/pgbouncer.ini', import.meta.url), 'utf8')
  const settings = adapt(shipped, {
    'vigia = host=': `${name} = host=`,
    'vigia_worker = host=': `${name}_worker = host=`,
    'host=10.0.0.5 port=5432 dbname=vigia': `host=${hostname} port=${port} dbname=${name}`,
    'listen_port = 6432': `listen_port = ${own}`,
    'auth_file = /etc/pgbouncer/userlist.txt': `auth_file = ${folder}/userlist.txt`,
    'default_pool_size = 30': 'default_pool_size = 4',
    'logfile = /var/log/postgresql/pgbouncer.log\n': '',
    'pidfile = /var/run/postgresql/pgbouncer.pid\n': '',
  })
  await writeFile(join(folder, 'pgbouncer.ini'), `${settings}unix_socket_dir =\n`)
  const password = decodeURIComponent(new URL(databaseUrl).password)
  // As the shipped file says how to derive them.
  const users = ['vigia_app', 'vigia_limited'].map(
    (role) => `"${role}" "${createHmac('sha256', password).update(role).digest('base64url')}"\n`,
  )
  await writeFile(join(folder, 'userlist.txt'), users.join(''))
  await chmod(folder, 0o755)
  const [first = '', ...rest] = [...(isRoot ? nobody : []), program, join(folder, 'pgbouncer.ini')]
  const child = spawn(first, rest, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await reached(() => log.includes('process up')).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw new Error(`the pooler does not start: ${log}`, { cause })
  })
  const url = new URL(databaseUrl)
  url.port = String(own)
  return {
    url: url.href,
    log: () => log,
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
      await rm(folder, { recursive: true, force: true })
    },
  }
}
