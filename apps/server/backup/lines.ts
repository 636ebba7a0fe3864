import { randomBytes } from 'node:crypto'
import { chown, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { identifySystem } from '@vigia/postgres/backup'
import { readOrCreateSecret } from '@vigia/postgres/secret-file'
import { InstallationError } from '../platform/installation.ts'
import { type BackupPlace, storeOf } from './place.ts'
import { seal, unseal } from './sealed.ts'
import type { Store } from './store.ts'

/**
 * A database that is restored goes on as a timeline of its own: a line. The copies write down which line counts since when, so that a moment means what the
 * installation had then: a restore leads to the line that counted at it, also where a later one began before it.
 */
export interface Line {
  timeline: number
  /** Whose it is: two databases that were restored apart from each other have the same number, but not the same id. Null: not known, of before. */
  id: string | null
  /** It counts since then. */
  since: Date
  /** Where the timelines before it were left, as the server writes it. */
  history: string | null
}

/** A running cluster, as the copies know it. */
export interface Identity {
  systemIdentifier: string
  line: Line
}

const idName = 'vigia-line'

/** The file in a cluster that says whose its line is. One that was restored gets another, so that it is removed from a copy. */
export const idPathOf = (directory: string) => join(directory, idName)

/** Identifies the cluster of `directory` that runs at `url`. */
export async function identify(url: string, directory: string): Promise<Identity> {
  const { systemIdentifier, timeline, history } = await identifySystem(url)
  const path = idPathOf(directory)
  const { secret: id, created } = await readOrCreateSecret(path, () => randomBytes(16).toString('hex'))
  if (created && process.getuid?.() === 0) {
    const { uid, gid } = await stat(directory)
    await chown(path, uid, gid)
  }
  const since =
    timeline === 1 ? madeAt(systemIdentifier) : (await stat(join(directory, 'pg_wal', historyName(timeline)))).mtime
  return { systemIdentifier, line: { timeline, id, since, history } }
}

// Its first half is when the cluster was made, in seconds.
const madeAt = (systemIdentifier: string) => new Date(Number(BigInt(systemIdentifier) >> 32n) * 1_000)

const hex8 = (value: number | bigint) => value.toString(16).toUpperCase().padStart(8, '0')
export const historyName = (timeline: number) => `${hex8(timeline)}.history`

const folder = 'lines'

/**
 * The lines, in the order in which they counted; one may come again. Where what was written down of one does not open (`damaged`), or of before it was written down, the log has
 * its history, and when it came.
 */
export async function readLines(place: BackupPlace): Promise<{ lines: Line[]; damaged: string[] }> {
  const store = await storeOf(place)
  const damaged: string[] = []
  const opened = <T>(reading: Promise<T>, name: string) =>
    reading.catch((error: unknown) => {
      if (!(error instanceof InstallationError)) throw error
      damaged.push(name)
      return null
    })
  const written: Line[] = []
  for (const name of await listNames(store)) {
    const line = await opened(readLine(place, store, name), name)
    if (line) written.push(line)
  }
  const known = new Set(written.map(({ timeline }) => timeline))
  const before: Line[] = known.has(1) ? [] : [{ timeline: 1, id: null, since: new Date(0), history: null }]
  for (const name of await store.list('wal')) {
    const timeline = Number.parseInt(/^([0-9A-F]{8})\.history$/.exec(name)?.[1] ?? '', 16)
    if (Number.isNaN(timeline) || known.has(timeline)) continue
    const path = `wal/${name}`
    const content = await opened(unseal(store, path, place.key, path, buffer), path)
    const found = await store.look(path)
    if (content && found) before.push({ timeline, id: null, since: found.at, history: content.toString() })
  }
  const lines = [...before, ...written].sort((a, b) => a.since.getTime() - b.since.getTime())
  return { lines, damaged }
}

async function listNames(store: Store): Promise<string[]> {
  const names = await store.list(folder)
  return names
    .filter((name) => /^\d{6}$/.test(name))
    .sort()
    .map((name) => `${folder}/${name}`)
}

async function readLine(place: BackupPlace, store: Store, name: string): Promise<Line | null> {
  const content = await unseal(store, name, place.key, name, buffer)
  if (!content) return null
  const line = JSON.parse(content.toString()) as Omit<Line, 'since'> & { since: string }
  return { ...line, since: new Date(line.since) }
}

/** Makes sure that the timeline is this cluster's and no other's. */
export async function claimLine(place: BackupPlace, line: Line): Promise<void> {
  const store = await storeOf(place)
  for (;;) {
    const names = await listNames(store)
    let owner: Line | undefined
    for (const name of names) {
      const one = await readLine(place, store, name)
      if (one?.timeline === line.timeline) owner ??= one
    }
    if (owner?.id === line.id) return
    if (owner)
      throw new InstallationError(
        `Em ${place.directory} a linha ${line.timeline} é de outro banco de dados, que voltou das mesmas cópias. Nada foi levado para lá: use em BACKUP_DIR outra pasta para este.`,
      )
    if (await append(place, store, names.length, line)) return
  }
}

/** From now on it is this line that counts. */
export async function preferLine(place: BackupPlace, line: Line): Promise<void> {
  await claimLine(place, line)
  const store = await storeOf(place)
  for (;;) {
    const { timeline, since } = (await readLines(place)).lines.at(-1)!
    if (timeline === line.timeline) return
    const now = new Date(Math.max(Date.now(), since.getTime() + 1))
    await append(place, store, (await listNames(store)).length, { ...line, since: now })
  }
}

// Another process may add one at this moment.
function append(place: BackupPlace, store: Store, count: number, line: Line): Promise<boolean> {
  const path = `${folder}/${String(count + 1).padStart(6, '0')}`
  return seal(store, Readable.from([Buffer.from(JSON.stringify(line))]), path, place.key, path)
}

/** The line that counted at `until`; absent: the one that counts now. */
export function lineAt(lines: readonly Line[], until: Date | undefined): Line {
  return (until && lines.findLast(({ since }) => since <= until)) ?? (until ? lines[0]! : lines.at(-1)!)
}

/** The timelines that lead to a line, the first first, each with the position where it was left; null: the line itself. */
export function chainOf({ timeline, history }: Line): { timeline: number; until: string | null }[] {
  const before = [...(history ?? '').matchAll(/^(\d+)\t([0-9A-F]+\/[0-9A-F]+)/gm)]
  return [
    ...before.map(([, number, position]) => ({ timeline: Number(number), until: position! })),
    { timeline, until: null },
  ]
}

/** A position in the log as a number. */
export function positionOf(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** The end of the name of the part of the log that has a position: parts have 16 MiB, 256 of them to a number of the first half. */
export function segmentOf(lsn: string): string {
  const position = positionOf(lsn)
  return hex8(position >> 32n) + hex8((position & 0xffff_ffffn) >> 24n)
}

export function nextSegment(segment: string): string {
  const number = (BigInt(`0x${segment.slice(0, 8)}`) << 8n) + BigInt(`0x${segment.slice(8)}`) + 1n
  return hex8(number >> 8n) + hex8(number & 0xffn)
}

export const partName = (timeline: number, segment: string) => hex8(timeline) + segment
