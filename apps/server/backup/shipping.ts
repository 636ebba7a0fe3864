import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { InstallationError } from '../platform/installation.ts'
import { type BackupPlace, keepWal, requireClaim, walName } from './folder.ts'

/** What the server has put aside of its log and the copies do not have yet. */
export interface Waiting {
  files: number
  bytes: number
  /** Of the oldest. */
  since: Date | null
}

/** The files of `archive`, in the order in which they were written. */
async function listWaiting(archive: string): Promise<string[]> {
  const names = await readdir(archive).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter((name) => walName.test(name)).sort()
}

export async function measureWaiting(archive: string): Promise<Waiting> {
  const waiting: Waiting = { files: 0, bytes: 0, since: null }
  for (const name of await listWaiting(archive)) {
    const found = await stat(join(archive, name)).catch(() => null)
    if (!found) continue
    waiting.files++
    waiting.bytes += found.size
    if (!waiting.since || found.mtime < waiting.since) waiting.since = found.mtime
  }
  return waiting
}

/** Moves what the server has put aside in `archive` to the copies, encrypted; returns how many files. */
export async function shipWal(
  archive: string,
  place: BackupPlace,
  systemIdentifier: string,
  most = Infinity,
): Promise<number> {
  const names = (await listWaiting(archive)).slice(0, most)
  if (names.length > 0) await requireClaim(place, systemIdentifier)
  for (const name of names) {
    const file = join(archive, name)
    try {
      if (/^[0-9A-F]{24}/.test(name) && !name.endsWith('.backup')) await requireOf(file, systemIdentifier)
      await keepWal(place, name, file)
      await rm(file, { force: true })
    } catch (error) {
      // A task ships beside the worker, and was faster with this one.
      if (await stat(file).catch(() => null)) throw error
    }
  }
  return names.length
}

/** Throws what waits away: from a copy that is there no later moment can be reached then. */
export async function discardWaiting(archive: string): Promise<void> {
  for (const name of await listWaiting(archive)) await rm(join(archive, name), { force: true })
}

// The first page of a part says of which server it is (XLogLongPageHeaderData).
const identifierAt = 24

async function requireOf(file: string, systemIdentifier: string): Promise<void> {
  await using handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, identifierAt)
  if (buffer.readBigUInt64LE().toString() !== systemIdentifier)
    throw new InstallationError(`${file} é de outro banco de dados: apague a pasta em que está e faça uma cópia nova.`)
}
