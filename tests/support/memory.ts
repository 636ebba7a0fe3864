import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Directory of Linux for files in memory.
const shared = '/dev/shm'
const ours = /^vigia-run-(\d+)$/
const roomMin = 4 * 2 ** 30
const memoryMin = 2 * roomMin
const hourMs = 3_600_000

/**
 * Puts the temporary files of this process and of its children into memory until it ends, where there is plenty of it. A database is hundreds of
 * files: on a disk it takes ten times as long to copy one for each test file.
 */
export function keepFilesInMemory(): void {
  if (process.env.TMPDIR?.startsWith(shared) || !hasRoom()) return
  removeAbandoned()
  const folder = join(shared, `vigia-run-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** Called by Vitest once for each project that names this file. */
export function setup(): void {
  keepFilesInMemory()
  // Products start threads and tests start programs: compiling is half of such a start.
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < memoryMin) return false
  const [, , , options = 'noexec'] =
    readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, folder]) => folder === shared) ?? []
  if (/\b(noexec|ro)\b/.test(options)) return false
  const { bavail, bsize } = statfsSync(shared)
  return bavail * bsize >= roomMin
}

// Removes folders of killed runs. A young folder may belong to a process that is invisible from here.
function removeAbandoned(): void {
  for (const name of readdirSync(shared)) {
    const pid = ours.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    const folder = join(shared, name)
    // Another run may be removing it, too.
    const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs
    if (changedAt !== undefined && Date.now() - changedAt > hourMs) rmSync(folder, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
