import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '@vigia/postgres/durable'
import { InstallationError } from '../platform/installation.ts'
import { keepWal, requireClaim, walName } from './folder.ts'
import { claimLine, type Identity } from './lines.ts'
import type { BackupPlace } from './place.ts'

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

/** Moves what the server has put aside in `archive` to the copies, encrypted; returns how many files. Without a line it is what a lost one left. */
export async function shipWal(
  archive: string,
  place: BackupPlace,
  { systemIdentifier, line }: Pick<Identity, 'systemIdentifier'> & Partial<Identity>,
  most = Infinity,
): Promise<number> {
  const names = (await listWaiting(archive)).slice(0, most)
  if (names.length > 0) {
    await requireClaim(place, systemIdentifier)
    if (line) await claimLine(place, line)
  }
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

const discardedMark = (archive: string) => `${archive}.discarded`

/** Throws what waits away: from a copy that is there no later moment can be reached then, and `readDiscarded` says so. */
export async function discardWaiting(archive: string): Promise<void> {
  const mark = async () => {
    await writeFile(discardedMark(archive), `${new Date().toISOString()}\n`, { mode: 0o600, flush: true })
    await syncFolder(dirname(archive))
  }
  // A disk without any room takes the mark only afterwards.
  const isMarked = await mark().then(
    () => true,
    () => false,
  )
  for (const name of await listWaiting(archive)) await rm(join(archive, name), { force: true })
  if (!isMarked) await mark()
}

/** When something was last thrown away that no copy made since makes up for; null: never. */
export async function readDiscarded(archive: string, newestBase: Date | undefined): Promise<Date | null> {
  const mark = discardedMark(archive)
  const text = await readFile(mark, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const written = new Date(text.trim())
  // Half a mark, from a full disk, is one.
  const at = Number.isNaN(written.getTime()) ? (await stat(mark)).mtime : written
  if (!newestBase || newestBase <= at) return at
  await rm(mark, { force: true })
  return null
}

// The first page of a part says of which server it is (XLogLongPageHeaderData).
const identifierAt = 24

async function requireOf(file: string, systemIdentifier: string): Promise<void> {
  await using handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, identifierAt)
  if (buffer.readBigUInt64LE().toString() !== systemIdentifier)
    throw new InstallationError(`${file} é de outro banco de dados: apague a pasta em que está e faça uma cópia nova.`)
}
