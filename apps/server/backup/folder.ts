import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { InstallationError } from '../platform/installation.ts'
import type { Contents } from './contents.ts'
import { chainOf, type Line, nextSegment, partName, positionOf, segmentOf } from './lines.ts'
import { type BackupPlace, storeOf } from './place.ts'
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

// The copies: `installation.json` says of which database they are, `key` opens with their key alone, `lines` has the timelines, `bases` copies of the whole,
// `wal` the parts of the log, each under the name that the server gave it.
const claimName = 'installation.json'
const keyName = 'key'

const baseName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}$/
/** A part of the log, the history of a timeline, or the mark of a copy of the whole. */
export const walName = /^([0-9A-F]{24}(\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$/

/** Makes the place one of copies of this database; then as `requireClaim`. */
export async function claimPlace(place: BackupPlace, systemIdentifier: string): Promise<void> {
  const store = await storeOf(place)
  const claim = Buffer.from(`${JSON.stringify({ systemIdentifier })}\n`)
  await store.write(claimName, Readable.from([claim]))
  if (!(await store.look(keyName))) {
    // Made before there was a check of the key: this key must open what is there.
    const { bases, damaged } = await listBases(place)
    if (damaged.length > 0 && bases.length === 0) throw new InstallationError(otherKey(place))
    await seal(store, Readable.from([Buffer.from(systemIdentifier)]), keyName, place.key, keyName)
  }
  await requireClaim(place, systemIdentifier)
}

/** Makes sure that the place is of this database, and its key the one of the settings: nothing is written to an empty folder where it was mounted. */
export async function requireClaim(place: BackupPlace, systemIdentifier: string): Promise<void> {
  const claimed = await readClaim(place)
  if (claimed === null)
    throw new InstallationError(
      `Em ${place.directory} não estão as cópias desta instalação: ou o disco delas não está montado, ou elas ainda não começaram (na primeira vez: npm run admin -- backup iniciar). Nada foi levado para lá, e o que o banco de dados separou continua guardado.`,
    )
  if (claimed !== systemIdentifier)
    throw new InstallationError(
      `A pasta ${place.directory} guarda as cópias de outro banco de dados. Nada foi alterado: use em BACKUP_DIR uma pasta para cada instalação.`,
    )
  await unseal(await storeOf(place), keyName, place.key, keyName, buffer).catch((cause: NodeJS.ErrnoException) => {
    // A disk that does not read says nothing of the key.
    throw cause instanceof InstallationError ? new InstallationError(otherKey(place), { cause }) : cause
  })
}

const otherKey = ({ directory }: BackupPlace) =>
  `BACKUP_KEY não é a chave das cópias que estão em ${directory}. Nada foi alterado: use a chave com que foram feitas, ou outra pasta em BACKUP_DIR.`

/** The number of the database whose copies are there; null: there are none. */
export async function readClaim(place: BackupPlace): Promise<string | null> {
  const source = await (await storeOf(place)).read(claimName)
  if (!source) return null
  const { systemIdentifier } = JSON.parse((await buffer(source)).toString()) as { systemIdentifier: string }
  return systemIdentifier
}

/** Keeps a copy of the whole: `tar` first, then what `record` says when it has ended, without which it is none. */
export async function writeBase(place: BackupPlace, tar: Readable, record: () => Promise<BaseRecord>): Promise<Base> {
  const store = await storeOf(place)
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const name = `${time}-${randomBytes(4).toString('hex')}`
  try {
    await seal(store, tar, `bases/${name}/cluster`, place.key, `${name}/cluster`)
    const written = await record()
    const text = Readable.from([Buffer.from(JSON.stringify(written, null, 1))])
    await seal(store, text, `bases/${name}/record`, place.key, `${name}/record`)
    return { name, bytes: (await store.look(`bases/${name}/cluster`))!.bytes, ...written }
  } catch (error) {
    await store.remove(`bases/${name}`).catch(() => {})
    throw error
  }
}

/** When the copies of the whole began, as their names say, the oldest first. */
export async function listBaseTimes(place: BackupPlace): Promise<{ name: string; at: Date }[]> {
  const names = await (await storeOf(place)).list('bases')
  return names
    .filter((name) => name.endsWith('/record'))
    .map((name) => name.slice(0, -'/record'.length))
    .sort()
    .flatMap(timed)
}

const timed = (name: string) =>
  baseName.test(name) ? [{ name, at: new Date(name.replace(baseName, '$1-$2-$3T$4:$5:$6Z')) }] : []

/** The copies of the whole, the oldest first; `damaged` has the names of those that do not open. */
export async function listBases(place: BackupPlace): Promise<{ bases: Base[]; damaged: string[] }> {
  const store = await storeOf(place)
  const found: { bases: Base[]; damaged: string[] } = { bases: [], damaged: [] }
  for (const { name } of await listBaseTimes(place)) {
    try {
      const read = await unseal(store, `bases/${name}/record`, place.key, `${name}/record`, buffer)
      const cluster = await store.look(`bases/${name}/cluster`)
      if (!read || !cluster) throw new Error('a part of it is missing')
      const record = JSON.parse(read.toString()) as BaseRecord
      const times = { startedAt: new Date(record.startedAt), endedAt: new Date(record.endedAt) }
      found.bases.push({ ...record, ...times, name, bytes: cluster.bytes })
    } catch {
      found.damaged.push(name)
    }
  }
  return found
}

/** Hands the archive of a copy to `read`. */
export async function readCluster<T>(
  place: BackupPlace,
  { name }: Pick<Base, 'name'>,
  read: (tar: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const path = `bases/${name}/cluster`
  const result = await unseal(await storeOf(place), path, place.key, `${name}/cluster`, read)
  if (result === null) throw new InstallationError(`Em ${place.directory} falta ${path}. Nada foi alterado.`)
  return result
}

/** Keeps a part of the log. One of this name that is there already must be the same. */
export async function keepWal(place: BackupPlace, name: string, file: string): Promise<void> {
  const store = await storeOf(place)
  const path = `wal/${name}`
  if (!(await store.look(path)) && (await seal(store, createReadStream(file), path, place.key, path))) return
  const kept = await unseal(store, path, place.key, path, buffer)
  if (!kept?.equals(await readFile(file)))
    throw new InstallationError(
      `Em ${place.directory}/${path} está outro trecho do registro do banco de dados com o mesmo nome: duas instalações gravam na mesma pasta, ou um banco restaurado por fora do programa. Nada foi sobrescrito: use outra pasta em BACKUP_DIR.`,
    )
}

/** Writes a part of the log to `to`; false: it is not there. */
export async function fetchWal(place: BackupPlace, name: string, to: string): Promise<boolean> {
  if (!walName.test(name)) return false
  const path = `wal/${name}`
  const write = async (content: AsyncIterable<Buffer>) => {
    await writeFile(to, content, { mode: 0o600 })
    return true
  }
  return (await unseal(await storeOf(place), path, place.key, path, write)) ?? false
}

/** The names of the whole parts of the log, in their order. */
export async function listWal(place: BackupPlace): Promise<string[]> {
  const names = await (await storeOf(place)).list('wal')
  return names.filter((name) => /^[0-9A-F]{24}$/.test(name)).sort()
}

/**
 * What `names` have behind the position `lsn`, to which a line was followed: the first part that is missing (null: none is), and the last there is; null: it was followed to
 * its end. A timeline before it must have led to where it was left.
 */
export function findHole(
  names: readonly string[],
  line: Line,
  lsn: string,
): { missing: string | null; last: string } | null {
  const there = new Set(names)
  const reached = segmentOf(lsn)
  const { timeline } = line
  // A part in which one timeline was left for another is of both.
  const chain = chainOf(line)
  const left = chain.findIndex(({ until }) => until !== null && positionOf(lsn) < positionOf(until))
  if (left >= 0)
    for (let segment = reached; ; segment = nextSegment(segment)) {
      const { until } = chain[left]!
      const isLast = segment >= segmentOf(until!)
      const own = partName(chain[left]!.timeline, segment)
      if (!there.has(own) || isLast) return { missing: there.has(own) ? null : own, last: names.at(-1) ?? own }
    }
  const prefix = partName(timeline, '')
  const later = names.filter((name) => name.startsWith(prefix) && name.slice(8) >= reached)
  const last = later.at(-1)
  if (!last || last.slice(8) === reached) return null
  let segment = reached
  while (there.has(prefix + segment)) segment = nextSegment(segment)
  return { missing: prefix + segment < last ? prefix + segment : null, last }
}

/** When the newest part of the log was kept; null: there is none. */
export async function newestWal(place: BackupPlace): Promise<Date | null> {
  const newest = (await listWal(place)).at(-1)
  if (!newest) return null
  const found = await (await storeOf(place)).look(`wal/${newest}`)
  return found?.at ?? null
}

/** The last of `bases` from which `line` is reached, at a moment or at all. */
export function baseFor(bases: readonly Base[], line: Line, until: Date | undefined): Base | undefined {
  const chain = chainOf(line)
  return bases.findLast(({ timeline, endLsn, endedAt }) => {
    const part = chain.find((one) => one.timeline === timeline)
    if (!part || (part.until !== null && positionOf(endLsn) > positionOf(part.until))) return false
    return until === undefined || endedAt <= until
  })
}

const dayMs = 86_400_000

/** Removes what no moment of the last `days` needs, of any line that counted in them; the newest copy always stays. */
export async function prune(place: BackupPlace, bases: readonly Base[], lines: readonly Line[]): Promise<string[]> {
  const store = await storeOf(place)
  const now = Date.now()
  const since = now - place.days * dayMs
  const needed = lines
    .filter((_, n) => (lines[n + 1]?.since.getTime() ?? now) >= since)
    .map((line) => baseFor(bases, line, new Date(Math.max(since, line.since.getTime()))))
  // What a line needs that has none so early is not known.
  const first = Math.max(0, Math.min(...needed.map((base) => (base ? bases.indexOf(base) : 0))))
  const removed = bases.slice(0, first).map(({ name }) => name)
  for (const name of removed) await removeBase(place, name)
  // What was cut off while it was made.
  const whole = new Set((await listBaseTimes(place)).map(({ name }) => name))
  const others = new Set((await store.list('bases')).map((name) => name.split('/')[0]!))
  for (const { name, at } of [...others].flatMap(timed))
    if (!whole.has(name) && now - at.getTime() > 2 * dayMs) await removeBase(place, name)
  const starts = bases.slice(first).map(({ startLsn }) => segmentOf(startLsn))
  const oldest = starts.sort()[0]
  for (const name of oldest === undefined ? [] : await store.list('wal')) {
    const segment = /^[0-9A-F]{8}([0-9A-F]{16})/.exec(name)?.[1]
    if (segment && segment < oldest!) await store.remove(`wal/${name}`)
  }
  return removed
}

async function removeBase(place: BackupPlace, name: string): Promise<void> {
  const store = await storeOf(place)
  // Without it there is no copy, whatever happens next.
  await store.remove(`bases/${name}/record`)
  await store.remove(`bases/${name}`)
}
