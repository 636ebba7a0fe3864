import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

interface Postmaster {
  pid: number
  port: number
  status: 'starting' | 'ready' | 'stopping'
}

/** Parses `postmaster.pid` (PostgreSQL, src/include/utils/pidfile.h); null if it is unusable. */
export async function readPostmaster(directory: string): Promise<Postmaster | null> {
  const lines = (await lockFile(directory))?.split('\n') ?? []
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return null
  const status = lines[7]?.trim()
  return {
    pid,
    port: Number(lines[3] ?? 0),
    status: status === 'ready' || status === 'stopping' ? status : 'starting',
  }
}

/** Whether an unusable lock file is older than ten seconds; left by a crash, it blocks starts. */
export async function bogusLockIsOld(directory: string): Promise<boolean> {
  const found = await stat(join(directory, 'postmaster.pid')).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > 10_000
}

async function lockFile(directory: string): Promise<string | null> {
  try {
    return await readFile(join(directory, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whether `pid` is a live server of `directory`, and not another program with a reused pid. */
export async function isPostmaster(pid: number, directory: string): Promise<boolean> {
  const place = await realpath(directory)
  if (process.platform !== 'linux') {
    const ps = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => null)
    return ps?.stdout.includes('postgres') === true && ps.stdout.includes(place)
  }
  // A server works in its data directory; the link is readable to its own user, the command line to everybody.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const [program = '', ...args] = command.split('\0')
  if (!basename(program).startsWith('postgres')) return false
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null)
  return cwd === null ? args.includes(place) || args.includes(directory) : cwd === place
}
