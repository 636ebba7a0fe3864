import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { listTroubles } from '../platform/trouble.ts'
import {
  type BackupPlace,
  type Base,
  claimFolder,
  fetchWal,
  findHole,
  listBaseTimes,
  pathsOf,
  prune,
  requireClaim,
  segmentOf,
} from './folder.ts'
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
    const path = join(folder, 'file')
    await seal(Readable.from([plain]), path, key, 'name')
    expect((await unseal(path, key, 'name', buffer)).equals(plain)).toBe(true)
    await expect(unseal(path, key, 'other name', buffer)).rejects.toThrow('não abre')
    await expect(unseal(path, Buffer.alloc(32, 2), 'name', buffer)).rejects.toThrow('não abre')
    const sealed = await readFile(path)
    for (const changed of [sealed.subarray(0, -1), sealed.subarray(0, 20), Buffer.concat([sealed, Buffer.alloc(1)])]) {
      await writeFile(path, changed)
      await expect(unseal(path, key, 'name', buffer)).rejects.toThrow('não abre')
    }
  },
)

test('what fails in the middle leaves no file', async () => {
  const failing = new Readable({
    read() {
      this.destroy(new Error('no more'))
    },
  })
  await expect(seal(failing, join(folder, 'half'), key, 'half')).rejects.toThrow('no more')
  expect((await readdir(folder)).filter((name) => name.startsWith('half'))).toEqual([])
})

const place = (name: string): BackupPlace => ({ directory: join(folder, name), key, days: 30 })

test('a folder is of one database', async () => {
  await claimFolder(place('claimed'), '1')
  await claimFolder(place('claimed'), '1')
  await expect(claimFolder(place('claimed'), '2')).rejects.toThrow('guarda as cópias de outro banco de dados')
})

test('nothing is taken to a folder that no copy was made in, or with another key', async () => {
  // As the empty folder where a disk is not mounted.
  await expect(requireClaim(place('empty'), '1')).rejects.toThrow('o disco delas não está montado')
  expect(await stat(place('empty').directory).catch(() => null)).toBeNull()
  await claimFolder(place('keyed'), '1')
  await requireClaim(place('keyed'), '1')
  const other = { ...place('keyed'), key: Buffer.alloc(32, 9) }
  await expect(requireClaim(other, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
  await expect(claimFolder(other, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
})

test('a folder from before the check of the key takes no other key', async () => {
  const own = place('unchecked')
  await claimFolder(own, '1')
  await rm(pathsOf(own).key)
  await mkdir(join(pathsOf(own).bases, '20260101T000000Z-00000000'))
  await expect(claimFolder(own, '1')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
})

test('a part of the log that is missing is none at the end, and a hole before later ones', () => {
  const names = [
    '0000000100000000000000FE',
    '0000000100000000000000FF',
    '000000010000000100000001',
    '000000020000000200000001',
  ]
  expect(findHole(names, 1, '0/FF000100')).toEqual({
    missing: '000000010000000100000000',
    last: '000000010000000100000001',
  })
  expect(findHole(names, 1, '1/0')).toEqual({ missing: '000000010000000100000000', last: '000000010000000100000001' })
  expect(findHole(names, 1, '1/1000028')).toBeNull()
  expect(findHole(names, 1, '1/2000000')).toBeNull()
  expect(findHole(names, 3, '0/1000000')).toBeNull()
  expect(findHole(names.slice(0, 2), 1, '0/FE000028')).toEqual({ missing: null, last: '0000000100000000000000FF' })
})

test('a part of the log that cannot be read is not one that is missing', async () => {
  const own = place('unreadable')
  await claimFolder(own, '1')
  const name = '000000010000000000000001'
  expect(await fetchWal(own, name, join(folder, 'fetched'))).toBe(false)
  await writeFile(join(pathsOf(own).wal, name), 'damaged')
  await expect(fetchWal(own, name, join(folder, 'fetched'))).rejects.toThrow('não abre')
})

test('the last copy before the days that are kept stays, and the log from there on', async () => {
  const own = place('pruned')
  await claimFolder(own, '1')
  const days = (count: number) => new Date(Date.now() - count * 86_400_000)
  const bases = [50, 40, 20, 1].map((age, n) => ({
    name: `base${n}`,
    endedAt: days(age),
    startLsn: `0/${n + 1}000028`,
  })) as unknown as Base[]
  for (const { name } of bases) await mkdir(join(pathsOf(own).bases, name))
  const wal = ['000000010000000000000000', '000000010000000000000001', '000000010000000000000002', '00000002.history']
  for (const name of wal) await writeFile(join(pathsOf(own).wal, name), 'x')
  expect(segmentOf('1A/2B000028')).toBe('0000001A0000002B')
  expect(await prune(own, bases)).toEqual(['base0'])
  expect((await readdir(pathsOf(own).bases)).sort()).toEqual(['base1', 'base2', 'base3'])
  // In the second copy's part, and in what follows, nothing is missing.
  expect((await readdir(pathsOf(own).wal)).sort()).toEqual(['000000010000000000000002', '00000002.history'])
  expect(await prune(own, bases.slice(-1))).toEqual([])
})

test('two processes that take the log at once take all of it once', async () => {
  const own = place('twice')
  await claimFolder(own, '77')
  const archive = join(folder, 'twice-archive')
  await mkdir(archive)
  const names = Array.from({ length: 12 }, (_, n) => `0000000100000000000000${(n + 16).toString(16).toUpperCase()}`)
  for (const name of names) {
    const segment = Buffer.alloc(100_000, name)
    segment.writeBigUInt64LE(77n, 24)
    await writeFile(join(archive, name), segment)
  }
  await Promise.all([shipWal(archive, own, '77'), shipWal(archive, own, '77'), shipWal(archive, own, '77')])
  expect(await readdir(archive)).toEqual([])
  expect((await readdir(pathsOf(own).wal)).sort()).toEqual(names)
})

test('the log is taken to the copies; where it cannot be, the operator is told, and a full disk loses the copies before the capture', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url)
  const own = place('shipped')
  const config: Config = { ...readConfig({ DATA_DIR: folder }, '/'), backup: own }
  const ctx = { db, config, log: createLogger('silent') }
  const archive = join(folder, 'archive')
  await mkdir(archive)
  const segment = Buffer.alloc(64)
  segment.writeBigUInt64LE(77n, 24)
  const put = (name: string, bytes = segment) => writeFile(join(archive, name), bytes)
  let free = 10e9
  const shipping = { place: own, archive, identify: async () => '77', free: async () => free }
  const told = async () => (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`).join()

  await put('000000010000000000000001')
  await put('archtemp.000000010000000000000002.1')
  await shipAndTell(ctx, shipping)
  expect(await readdir(archive)).toHaveLength(2)
  expect(await told()).toMatch(/^copia: .*falta a primeira cópia.*Ainda não foi feita nenhuma cópia inteira/)
  await claimFolder(own, '77')
  await shipAndTell(ctx, shipping)
  expect(await readdir(archive)).toEqual(['archtemp.000000010000000000000002.1'])
  expect(await readdir(pathsOf(own).wal)).toEqual(['000000010000000000000001'])
  expect(await told()).toMatch(/^copia: .*Ainda não foi feita nenhuma cópia inteira/)

  await mkdir(join(pathsOf(own).bases, `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-00000000`))
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
  await mkdir(join(pathsOf(own).bases, `${later}-00000001`))
  await shipAndTell(ctx, shipping)
  expect(await told()).toBe('')

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
