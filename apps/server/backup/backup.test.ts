import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { listTroubles } from '../platform/trouble.ts'
import {
  type Base,
  claimPlace,
  fetchWal,
  findHole,
  keepWal,
  listBases,
  listBaseTimes,
  prune,
  requireClaim,
} from './folder.ts'
import { claimLine, type Line, lineAt, preferLine, readLines, segmentOf } from './lines.ts'
import { type BackupPlace, storeOf } from './place.ts'
import { seal, unseal } from './sealed.ts'
import { shipWal } from './shipping.ts'
import { shipAndTell } from './worker.ts'

let folder: string
const key = Buffer.alloc(32, 1)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vigia-backup-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([0, 1, (1 << 20) - 1, 1 << 20, 3 * (1 << 20) + 5])(
  '%i bytes that were sealed come back as they were',
  async (size) => {
    const plain = Buffer.alloc(size)
    // Nothing that gzip makes smaller.
    for (let at = 0; at < size; at++) plain[at] = (at * 2_654_435_761) >>> 13
    const store = await storeOf({ directory: folder })
    const [file, path] = [`file${size}`, join(folder, `file${size}`)]
    expect(await seal(store, Readable.from([plain]), file, key, 'name')).toBe(true)
    const open = (opening: Buffer, name: string) => unseal(store, file, opening, name, buffer)
    expect((await open(key, 'name'))!.equals(plain)).toBe(true)
    await expect(open(key, 'other name')).rejects.toThrow('não abre')
    await expect(open(Buffer.alloc(32, 2), 'name')).rejects.toThrow('não abre')
    // What is there stays, whatever comes.
    expect(await seal(store, Readable.from([Buffer.from('other')]), file, key, 'name')).toBe(false)
    const sealed = await readFile(path)
    for (const changed of [sealed.subarray(0, -1), sealed.subarray(0, 20), Buffer.concat([sealed, Buffer.alloc(1)])]) {
      await writeFile(path, changed)
      await expect(open(key, 'name')).rejects.toThrow('não abre')
    }
  },
)

test('what fails in the middle leaves no file', async () => {
  const failing = new Readable({
    read() {
      this.destroy(new Error('no more'))
    },
  })
  await expect(seal(await storeOf({ directory: folder }), failing, 'half', key, 'half')).rejects.toThrow('no more')
  expect((await readdir(folder)).filter((name) => name.startsWith('half'))).toEqual([])
})

const pathsOf = ({ directory }: BackupPlace) => ({
  key: join(directory, 'key'),
  bases: join(directory, 'bases'),
  wal: join(directory, 'wal'),
})
const place = (name: string): BackupPlace => ({ directory: join(folder, name), key, days: 30 })

// One that does not open.
async function putBase(own: BackupPlace, name: string): Promise<void> {
  await mkdir(join(pathsOf(own).bases, name), { recursive: true })
  await writeFile(join(pathsOf(own).bases, name, 'record'), 'x')
}

const lineOf = (timeline: number, history: string | null = null, since = new Date(0)): Line => ({
  timeline,
  id: `id of ${timeline}`,
  since,
  history,
})
const identity = (systemIdentifier: string, line = lineOf(1)) => ({ systemIdentifier, line })

test('a folder is of one database', async () => {
  await claimPlace(place('claimed'), '1')
  await claimPlace(place('claimed'), '1')
  await expect(claimPlace(place('claimed'), '2')).rejects.toThrow('guarda as cópias de outro banco de dados')
})

test('nothing is taken to a folder that no copy was made in, or with another key', async () => {
  // As the empty folder where a disk is not mounted.
  await expect(requireClaim(place('empty'), '1')).rejects.toThrow('o disco delas não está montado')
  expect(await stat(place('empty').directory).catch(() => null)).toBeNull()
  await claimPlace(place('keyed'), '1')
  await requireClaim(place('keyed'), '1')
  const other = { ...place('keyed'), key: Buffer.alloc(32, 9) }
  await expect(requireClaim(other, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
  await expect(claimPlace(other, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
})

test('a folder from before the check of the key takes no other key', async () => {
  const own = place('unchecked')
  await claimPlace(own, '1')
  await rm(pathsOf(own).key)
  await putBase(own, '20260101T000000Z-00000000')
  await expect(claimPlace(own, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
})

test('a part of the log that is missing is none at the end, and a hole before later ones', () => {
  const names = [
    '0000000100000000000000FE',
    '0000000100000000000000FF',
    '000000010000000100000001',
    '000000020000000200000001',
  ]
  expect(findHole(names, lineOf(1), '0/FF000100')).toEqual({
    missing: '000000010000000100000000',
    last: '000000010000000100000001',
  })
  expect(findHole(names, lineOf(1), '1/0')).toEqual({
    missing: '000000010000000100000000',
    last: '000000010000000100000001',
  })
  expect(findHole(names, lineOf(1), '1/1000028')).toBeNull()
  expect(findHole(names, lineOf(1), '1/2000000')).toBeNull()
  expect(findHole(names, lineOf(3), '0/1000000')).toBeNull()
  // The second was left before the first had come to its end: what the first has behind that is not of it.
  const second = lineOf(2, '1\t0/FF000100\tbefore\n')
  expect(findHole(names, second, '0/FF000100')).toEqual({
    missing: '0000000200000000000000FF',
    last: '000000020000000200000001',
  })
  expect(findHole(names.slice(1), second, '0/FE000100')).toEqual({
    missing: '0000000100000000000000FE',
    last: '000000020000000200000001',
  })
  expect(findHole(names.slice(0, 2), lineOf(1), '0/FE000028')).toEqual({
    missing: null,
    last: '0000000100000000000000FF',
  })
})

test('a part of the log that cannot be read is not one that is missing', async () => {
  const own = place('unreadable')
  await claimPlace(own, '1')
  await mkdir(pathsOf(own).wal)
  const name = '000000010000000000000001'
  expect(await fetchWal(own, name, join(folder, 'fetched'))).toBe(false)
  await writeFile(join(pathsOf(own).wal, name), 'damaged')
  await expect(fetchWal(own, name, join(folder, 'fetched'))).rejects.toThrow('não abre')
})

test('the last copy before the days that are kept stays, and the log from there on', async () => {
  const own = place('pruned')
  await claimPlace(own, '1')
  const days = (count: number) => new Date(Date.now() - count * 86_400_000)
  const bases = [50, 40, 20, 1].map((age, n) => ({
    name: `base${n}`,
    endedAt: days(age),
    startLsn: `0/${n + 1}000028`,
    endLsn: `0/${n + 1}000128`,
    timeline: 1,
  })) as unknown as Base[]
  for (const { name } of bases) await putBase(own, name)
  await mkdir(pathsOf(own).wal)
  const lines = [lineOf(1)]
  const wal = ['000000010000000000000000', '000000010000000000000001', '000000010000000000000002', '00000002.history']
  for (const name of wal) await writeFile(join(pathsOf(own).wal, name), 'x')
  expect(segmentOf('1A/2B000028')).toBe('0000001A0000002B')
  // A line that began ten days ago from the second copy has none of its own.
  const branched = [lineOf(1), lineOf(2, '1\t0/2000200\tbefore\n', days(10))]
  const all = bases.map(({ endedAt, ...base }, n) => ({ ...base, endedAt: n === 2 ? days(31) : endedAt }))
  expect(await prune(own, all, branched)).toEqual(['base0'])
  expect(await prune(own, bases.slice(1), lines)).toEqual([])
  expect((await readdir(pathsOf(own).bases)).sort()).toEqual(['base1', 'base2', 'base3'])
  // In the second copy's part, and in what follows, nothing is missing.
  expect((await readdir(pathsOf(own).wal)).sort()).toEqual(['000000010000000000000002', '00000002.history'])
  expect(await prune(own, bases.slice(-1), lines)).toEqual([])
})

test('two processes that take the log at once take all of it once', async () => {
  const own = place('twice')
  await claimPlace(own, '77')
  const archive = join(folder, 'twice-archive')
  await mkdir(archive)
  const names = Array.from({ length: 12 }, (_, n) => `0000000100000000000000${(n + 16).toString(16).toUpperCase()}`)
  for (const name of names) {
    const segment = Buffer.alloc(100_000, name)
    segment.writeBigUInt64LE(77n, 24)
    await writeFile(join(archive, name), segment)
  }
  const ship = () => shipWal(archive, own, identity('77'))
  await Promise.all([ship(), ship(), ship()])
  expect(await readdir(archive)).toEqual([])
  expect((await readdir(pathsOf(own).wal)).sort()).toEqual(names)
})

test('the log is taken to the copies; where it cannot be, the operator is told, and a full disk loses the copies before the capture', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url)
  const own = place('shipped')
  const config: Config = { ...readConfig({ DATA_DIR: folder }, '/'), backup: own }
  const log = createLogger('silent')
  const ctx = { db, config, log }
  const warnings = vi.spyOn(log, 'warn')
  const archive = join(folder, 'archive')
  await mkdir(archive)
  const segment = Buffer.alloc(64)
  segment.writeBigUInt64LE(77n, 24)
  const put = (name: string, bytes = segment) => writeFile(join(archive, name), bytes)
  let free = 10e9
  const shipping = {
    place: own,
    archive,
    identify: async () => identity('77'),
    free: async () => free,
    patienceMs: 60_000,
  }
  const told = async () => (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`).join()

  await put('000000010000000000000001')
  await put('archtemp.000000010000000000000002.1')
  await shipAndTell(ctx, shipping)
  expect(await readdir(archive)).toHaveLength(2)
  expect(await told()).toMatch(/^copia: .*elas ainda não começaram.*Ainda não foi feita nenhuma cópia inteira/)
  // The log has it once, however many turns it lasts.
  const once = warnings.mock.calls.length
  expect(once).toBeGreaterThan(0)
  await shipAndTell(ctx, shipping)
  expect(warnings).toHaveBeenCalledTimes(once)
  await claimPlace(own, '77')
  await shipAndTell(ctx, shipping)
  expect(await readdir(archive)).toEqual(['archtemp.000000010000000000000002.1'])
  expect(await readdir(pathsOf(own).wal)).toEqual(['000000010000000000000001'])
  expect(await told()).toMatch(/^copia: .*Ainda não foi feita nenhuma cópia inteira/)

  await putBase(own, `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-00000000`)
  expect(await listBaseTimes(own)).toHaveLength(1)
  await shipAndTell(ctx, shipping)
  expect(await told()).toBe('')

  // The same once more is the same; another one under its name, or of another server, is refused.
  await put('000000010000000000000001')
  await shipAndTell(ctx, shipping)
  expect(await told()).toBe('')
  await put('000000010000000000000001', Buffer.concat([segment, Buffer.alloc(1)]))
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('outro trecho do registro')
  await put('000000010000000000000001')
  await put('000000010000000000000002', Buffer.alloc(64))
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('é de outro banco de dados')
  const past = new Date(Date.now() - 3_600_000)
  await utimes(join(archive, '000000010000000000000002'), past, past)
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('ainda não está nelas')

  expect(await readdir(archive)).toHaveLength(2)
  free = 1e8
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('foi descartado')
  expect(await readdir(archive)).toEqual(['archtemp.000000010000000000000002.1'])
  // Until a whole copy was begun after that, also when all else is well again.
  free = 10e9
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('foi descartado')
  const later = new Date(Date.now() + 2_000).toISOString().replace(/[-:]|\.\d+/g, '')
  await putBase(own, `${later}-00000001`)
  await shipAndTell(ctx, shipping)
  expect(await told()).toBe('')

  // Somebody restored it elsewhere: this one goes on apart, and both are told which counts.
  const other = lineOf(2, '1\t0/2000200\tbefore\n', new Date())
  await claimLine(own, other)
  await put('000000010000000000000003')
  await shipAndTell(ctx, shipping)
  expect(await readdir(archive)).toEqual(['archtemp.000000010000000000000002.1'])
  expect(await told()).toMatch(/conta nelas a linha 2.*este é a linha 1.*backup iniciar/)
  await preferLine(own, lineOf(1))
  await shipAndTell(ctx, shipping)
  expect(await told()).toBe('')
  await shipAndTell(ctx, { ...shipping, identify: async () => identity('77', other) })
  expect(await told()).toContain('conta nelas a linha 1')
  // What cannot be read or measured is told too.
  await rename(pathsOf(own).bases, `${pathsOf(own).bases}-away`)
  await writeFile(pathsOf(own).bases, 'no folder')
  await shipAndTell(ctx, shipping)
  expect(await told()).toContain('não pôde ser lida (ENOTDIR)')
  await put('000000010000000000000003', Buffer.alloc(64))
  const failing = { ...shipping, free: () => Promise.reject(Object.assign(new Error('no'), { code: 'EIO' })) }
  await shipAndTell(ctx, failing)
  expect(await told()).toMatch(/é de outro banco de dados.*não pôde ser lida ou gravada \(EIO\)/)
  await db.destroy()
})

test('a line is of the database that began it, and a moment of the line that counted then', async () => {
  const own = place('lines')
  await claimPlace(own, '1')
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))
  const unknown = { timeline: 1, id: null, since: new Date(0), history: null }
  expect(await readLines(own)).toEqual({ lines: [unknown], damaged: [] })
  const first = lineOf(1, null, at(1))
  const second = lineOf(2, '1\t0/2000200\tbefore\n', at(5))
  await claimLine(own, first)
  // Two that were restored at once have the same number, and one of them the right to it.
  const claims = [second, { ...second, id: 'another' }].map((line) => claimLine(own, line))
  const outcomes = await Promise.allSettled(claims)
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
  expect(String(refused.reason)).toContain('a linha 2 é de outro banco de dados')
  const { lines } = await readLines(own)
  expect(lines.map(({ timeline }) => timeline)).toEqual([1, 2])
  expect([at(0), at(4), at(6), undefined].map((until) => lineAt(lines, until).timeline)).toEqual([1, 1, 2, 2])
  await preferLine(own, first)
  await preferLine(own, first)
  const { lines: later } = await readLines(own)
  expect(later.map(({ timeline }) => timeline)).toEqual([1, 2, 1])
  expect([at(6), undefined].map((until) => lineAt(later, until).timeline)).toEqual([2, 1])
})

test('the lines of a folder from before they were written down are those of its log', async () => {
  const own = place('unlined')
  await claimPlace(own, '1')
  const history = join(folder, 'history')
  await writeFile(history, '1\t0/2000200\tbefore\n')
  await keepWal(own, '00000002.history', history)
  const second = { timeline: 2, id: null, history: '1\t0/2000200\tbefore\n' }
  expect(await readLines(own)).toMatchObject({ lines: [{ timeline: 1 }, second], damaged: [] })
  // As where what was written down does not open any more.
  await mkdir(join(own.directory, 'lines'))
  await writeFile(join(own.directory, 'lines', '000001'), 'x')
  expect(await readLines(own)).toMatchObject({ lines: [{ timeline: 1 }, second], damaged: ['lines/000001'] })
  await expect(claimLine(own, lineOf(1))).rejects.toThrow('não abre')
})

test('a copy that was cut off while it was made is none, and goes after two days', async () => {
  const own = place('cut')
  await claimPlace(own, '1')
  const cut = (age: number) => {
    const time = new Date(Date.now() - age * 86_400_000).toISOString().replace(/[-:]|\.\d+/g, '')
    return join(pathsOf(own).bases, `${time}-00000000`)
  }
  for (const path of [cut(3), cut(1)]) {
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'cluster'), 'x')
  }
  expect(await listBases(own)).toEqual({ bases: [], damaged: [] })
  await prune(own, [], [lineOf(1)])
  expect(await readdir(pathsOf(own).bases)).toHaveLength(1)
})
