import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { syncFolder } from '@vigia/postgres/durable'
import type { Config } from '../config.ts'
import { InstallationError } from '../platform/installation.ts'
import type { Contents } from './contents.ts'
import { seal, unseal } from './sealed.ts'

/** What is written down beside a copy of the whole cluster. Times are those of the clock of the database. */
export interface BaseRecord {
  systemIdentifier: string
  startedAt: Date
  /** No earlier moment can be reached from it. */
  endedAt: Date
  timeline: number
  startLsn: string
  endLsn: string
  /** What it had when the copy began. */
  contents: Contents
}

export interface Base extends BaseRecord {
  name: string
  bytes: number
}

export type BackupPlace = NonNullable<Config['backup']>

/**
 * The folder of copies: `installation.json` says of which database they are, `key` opens with their key alone, `bases` has copies of the whole,
 * `wal` the parts of its log, each under the name that the server gave it.
 */
export function pathsOf({ directory }: Pick<BackupPlace, 'directory'>) {
  return {
    claim: join(directory, 'installation.json'),
    key: join(directory, 'key'),
    bases: join(directory, 'bases'),
    wal: join(directory, 'wal'),
  }
}

const baseName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}$/
/** A part of the log, the history of a timeline, or the last part of a timeline that was left. */
export const walName = /^([0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$/

/** Makes the folder on first use, for the first copy; then as `requireClaim`. */
export async function claimFolder(place: BackupPlace, systemIdentifier: string): Promise<void> {
  const paths = pathsOf(place)
  await mkdir(paths.bases, { recursive: true, mode: 0o700 })
  await mkdir(paths.wal, { recursive: true, mode: 0o700 })
  const temporary = `${paths.claim}.${randomBytes(6).toString('hex')}`
  await writeFile(temporary, `${JSON.stringify({ systemIdentifier })}\n`, { mode: 0o600, flush: true })
  // A link replaces nothing.
  await link(temporary, paths.claim).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(temporary, { force: true })
  if (!(await stat(paths.key).catch(absent))) {
    // Made before there was a check of the key: this key must open what is there.
    const { bases, damaged } = await listBases(place)
    if (damaged.length > 0 && bases.length === 0) throw new InstallationError(otherKey(place))
    await seal(Readable.from([Buffer.from(systemIdentifier)]), paths.key, place.key, keyName)
  }
  await requireClaim(place, systemIdentifier)
}

const keyName = 'key'

/** Makes sure that the folder is of this database, and its key the one of the settings: nothing is written to an empty place where it was mounted. */
export async function requireClaim(place: BackupPlace, systemIdentifier: string): Promise<void> {
  const claimed = await readClaim(place)
  if (claimed === null)
    throw new InstallationError(
      `Em ${place.directory} não estão as cópias desta instalação: ou o disco delas não está montado, ou falta a primeira cópia (npm run admin -- backup). Nada foi levado para lá, e o que o banco de dados separou continua guardado.`,
    )
  if (claimed !== systemIdentifier)
    throw new InstallationError(
      `A pasta ${place.directory} guarda as cópias de outro banco de dados. Nada foi alterado: use em BACKUP_DIR uma pasta para cada instalação.`,
    )
  const { key } = pathsOf(place)
  if (!(await stat(key).catch(absent))) return
  await unseal(key, place.key, keyName, buffer).catch((cause: NodeJS.ErrnoException) => {
    // A disk that does not read says nothing of the key.
    throw cause instanceof InstallationError ? new InstallationError(otherKey(place), { cause }) : cause
  })
}

const otherKey = ({ directory }: BackupPlace) =>
  `BACKUP_KEY não é a chave das cópias que estão em ${directory}. Nada foi alterado: use a chave com que foram feitas, ou outra pasta em BACKUP_DIR.`

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** The number of the database whose copies are there; null: there are none. */
export async function readClaim(place: BackupPlace): Promise<string | null> {
  try {
    const { systemIdentifier } = JSON.parse(await readFile(pathsOf(place).claim, 'utf8')) as {
      systemIdentifier: string
    }
    return systemIdentifier
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Keeps a copy of the whole: `tar` first, then what `record` says when it has ended. Whole, or not there. */
export async function writeBase(place: BackupPlace, tar: Readable, record: () => Promise<BaseRecord>): Promise<Base> {
  const { bases } = pathsOf(place)
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const name = `${time}-${randomBytes(4).toString('hex')}`
  const partial = join(bases, `${name}.part-${process.pid}`)
  try {
    await mkdir(partial, { mode: 0o700 })
    await seal(tar, join(partial, 'cluster'), place.key, `${name}/cluster`)
    const written = await record()
    const text = JSON.stringify(written, null, 1)
    await seal(Readable.from([Buffer.from(text)]), join(partial, 'record'), place.key, `${name}/record`)
    await rename(partial, join(bases, name))
    await syncFolder(bases)
    return { name, bytes: (await stat(join(bases, name, 'cluster'))).size, ...written }
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** When the copies of the whole began, as their names say, the oldest first. */
export async function listBaseTimes(place: Pick<BackupPlace, 'directory'>): Promise<{ name: string; at: Date }[]> {
  const names = await readdir(pathsOf(place).bases).catch(none)
  return names
    .sort()
    .flatMap((name) =>
      baseName.test(name) ? [{ name, at: new Date(name.replace(baseName, '$1-$2-$3T$4:$5:$6Z')) }] : [],
    )
}

/** The copies of the whole, the oldest first; `damaged` has the names of those that do not open. */
export async function listBases(place: BackupPlace): Promise<{ bases: Base[]; damaged: string[] }> {
  const found: { bases: Base[]; damaged: string[] } = { bases: [], damaged: [] }
  for (const { name } of await listBaseTimes(place)) {
    const folder = join(pathsOf(place).bases, name)
    try {
      const read = await unseal(join(folder, 'record'), place.key, `${name}/record`, buffer)
      const record = JSON.parse(read.toString()) as BaseRecord
      const { size } = await stat(join(folder, 'cluster'))
      const times = { startedAt: new Date(record.startedAt), endedAt: new Date(record.endedAt) }
      found.bases.push({ ...record, ...times, name, bytes: size })
    } catch {
      found.damaged.push(name)
    }
  }
  return found
}

/** Hands the archive of a copy to `read`. */
export function readCluster<T>(
  place: BackupPlace,
  { name }: Pick<Base, 'name'>,
  read: (tar: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  return unseal(join(pathsOf(place).bases, name, 'cluster'), place.key, `${name}/cluster`, read)
}

/** Keeps a part of the log. One of this name that is there already must be the same. */
export async function keepWal(place: BackupPlace, name: string, file: string): Promise<void> {
  const path = join(pathsOf(place).wal, name)
  if (!(await stat(path).catch(() => null))) return seal(createReadStream(file), path, place.key, `wal/${name}`)
  const kept = await unseal(path, place.key, `wal/${name}`, buffer)
  if (!kept.equals(await readFile(file)))
    throw new InstallationError(
      `Em ${path} está outro trecho do registro do banco de dados com o mesmo nome: duas instalações gravam na mesma pasta, ou um banco restaurado por fora do programa. Nada foi sobrescrito: use outra pasta em BACKUP_DIR.`,
    )
}

/** Writes a part of the log to `to`; false: it is not there. */
export async function fetchWal(place: BackupPlace, name: string, to: string): Promise<boolean> {
  if (!walName.test(name)) return false
  const path = join(pathsOf(place).wal, name)
  if (!(await stat(path).catch(absent))) return false
  await unseal(path, place.key, `wal/${name}`, async (content) => writeFile(to, content, { mode: 0o600 }))
  return true
}

/** The names of the whole parts of the log, in their order. */
export async function listWal(place: Pick<BackupPlace, 'directory'>): Promise<string[]> {
  const names = await readdir(pathsOf(place).wal).catch(none)
  return names.filter((name) => /^[0-9A-F]{24}$/.test(name)).sort()
}

/** When `names` go on behind the position `lsn` of a timeline: the first part that is missing (null: none is), and the last there is. */
export function findHole(
  names: readonly string[],
  timeline: number,
  lsn: string,
): { missing: string | null; last: string } | null {
  const prefix = timeline.toString(16).toUpperCase().padStart(8, '0')
  const reached = segmentOf(lsn)
  const later = names.filter((name) => name.startsWith(prefix) && name.slice(8) >= reached)
  const last = later.at(-1)
  if (!last || last.slice(8) === reached) return null
  const there = new Set(later)
  let name = prefix + reached
  while (there.has(name)) name = prefix + nextSegment(name.slice(8))
  return { missing: name < last ? name : null, last }
}

// 256 parts to a number of the first half.
function nextSegment(segment: string): string {
  const number = (BigInt(`0x${segment.slice(0, 8)}`) << 8n) + BigInt(`0x${segment.slice(8)}`) + 1n
  const hex = (value: bigint) => value.toString(16).toUpperCase().padStart(8, '0')
  return hex(number >> 8n) + hex(number & 0xffn)
}

/** The newest part of the log that is kept, and when; null: none. */
export async function newestWal(place: Pick<BackupPlace, 'directory'>): Promise<Date | null> {
  const newest = (await listWal(place)).at(-1)
  return newest ? (await stat(join(pathsOf(place).wal, newest))).mtime : null
}

const dayMs = 86_400_000

/** Removes what no moment of the last `days` needs; the newest copy always stays. */
export async function prune(place: BackupPlace, bases: readonly Base[]): Promise<string[]> {
  const since = Date.now() - place.days * dayMs
  // The last one from which the first of these days is reached.
  const first = Math.max(
    0,
    bases.findLastIndex(({ endedAt }) => endedAt.getTime() <= since),
  )
  const removed = bases.slice(0, first)
  for (const { name } of removed) await rm(join(pathsOf(place).bases, name), { recursive: true, force: true })
  const oldest = bases[first]
  const { wal } = pathsOf(place)
  if (oldest)
    for (const name of await readdir(wal)) {
      const segment = /^[0-9A-F]{8}([0-9A-F]{16})/.exec(name)?.[1]
      if (segment && segment < segmentOf(oldest.startLsn)) await rm(join(wal, name), { force: true })
    }
  return removed.map(({ name }) => name)
}

/** The end of the name of the part of the log that has a position: parts have 16 MiB. */
export function segmentOf(lsn: string): string {
  const [high = '0', low = '0'] = lsn.split('/')
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0')
  return hex(Number.parseInt(high, 16)) + hex(Number.parseInt(low, 16) >>> 24)
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
