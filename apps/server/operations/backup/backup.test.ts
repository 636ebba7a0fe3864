import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { startPostgres } from '@vigia/embedded-postgres/postgres'
import { expect, test } from 'vitest'
import { useFolder } from '../../../../tests/support/folder.ts'
import { type Config, readConfig } from '../../config.ts'
import { openDatabase } from '../../platform/database.ts'
import { embeddedCluster, prepareInstallation, withOwner } from '../../platform/installation.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { newWorkspace } from '../../platform/testing.ts'
import { listTroubles } from '../../platform/trouble.ts'
import { backUp, beginCopies, listCopies, requireRoom, restore, tryRestore } from './backup.ts'
import type { Contents } from './contents.ts'
import { type BackupPlace, claimPlace, listCopiesIn, listCopyTimes, prune, requireClaim, writeCopy } from './copies.ts'
import { seal, unseal } from './sealed.ts'
import { backupMetrics, keepCopies } from './worker.ts'

const folder = await useFolder()
const key = Buffer.alloc(32, 1)

test.each([0, 1, (1 << 20) - 1, 1 << 20, 3 * (1 << 20) + 5])(
  '%i bytes that were sealed come back as they were',
  async (size) => {
    const plain = Buffer.alloc(size)
    // Nothing that gzip makes smaller.
    for (let at = 0; at < size; at++) plain[at] = (at * 2_654_435_761) >>> 13
    const path = join(folder, `file${size}`)
    await seal(Readable.from([plain]), path, key, 'name')
    const open = (opening: Buffer, name: string) => unseal(path, opening, name, buffer)
    expect((await open(key, 'name')).equals(plain)).toBe(true)
    await expect(open(key, 'other name')).rejects.toThrow('não abre')
    await expect(open(Buffer.alloc(32, 2), 'name')).rejects.toThrow('não abre')
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
  await expect(seal(failing, join(folder, 'half'), key, 'half')).rejects.toThrow('no more')
  expect((await readdir(folder)).filter((name) => name.startsWith('half'))).toEqual([])
})

const place = (name: string): BackupPlace => ({ directory: join(folder, name), key })

test('nothing is written to a folder that no copy was made in, of another installation, or with another key', async () => {
  // As the empty folder where a disk is not mounted.
  await expect(requireClaim(place('empty'), 'one')).rejects.toThrow('o disco delas não está montado')
  expect(await stat(place('empty').directory).catch(() => null)).toBeNull()
  await claimPlace(place('claimed'), 'one')
  await claimPlace(place('claimed'), 'one')
  await requireClaim(place('claimed'), 'one')
  await expect(claimPlace(place('claimed'), 'two')).rejects.toThrow('guarda as cópias de outra instalação')
  const other = { ...place('claimed'), key: Buffer.alloc(32, 9) }
  await expect(claimPlace(other, 'one')).rejects.toThrow('BACKUP_KEY não é a chave das cópias')
})

test('thirty copies are kept, and what was cut off goes after two days', async () => {
  const own = place('pruned')
  await claimPlace(own, 'one')
  const record = async () => ({ endedAt: new Date(), contents: { installation: 'one' } as Contents })
  for (let n = 0; n < 32; n++) await writeCopy(own, Readable.from([Buffer.from('x')]), record)
  const names = (await listCopyTimes(own)).copies.map(({ name }) => name)
  for (const name of ['20260101T000000Z-00000000', `${names[0]!.slice(0, 16)}-00000000`])
    await writeFile(join(own.directory, `${name}.cluster.part`), 'x')
  // One that does not open is neither counted nor removed.
  await writeFile(join(own.directory, `${names[31]}.record`), 'damaged')
  expect(await prune(own)).toEqual([names[0]])
  const { copies, damaged } = await listCopiesIn(own)
  expect(copies.map(({ name }) => name)).toEqual(names.slice(1, 31))
  expect(damaged).toEqual([names[31]])
  expect((await readdir(own.directory)).filter((name) => name.endsWith('.part'))).toHaveLength(1)
})

test('the database is copied each night, restored for a trial each week, and comes back; what fails is told', async () => {
  const settings = { BACKUP_DIR: join(folder, 'copies'), BACKUP_KEY: key.toString('base64') }
  const config: Config = readConfig({ ...settings, DATA_DIR: join(folder, 'data') }, folder)
  await mkdir(config.dataDir)
  await using server = await startPostgres(embeddedCluster(config))
  await migrate(server.url)
  await prepareInstallation(server.url, 'simulado')
  const db = openDatabase(server.url)
  const ctx = { db, config }
  await newWorkspace(db)
  const told = async () => (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`).join()
  const count = async () => (await listCopyTimes(config.backup!)).copies.length
  const turn = (now: Date) => keepCopies(ctx, new AbortController().signal, now)
  // From here on the clock of the turns; the names of copies have the real one.
  const hourMs = 3_600_000
  const later = (hours: number) => new Date(Date.now() + hours * hourMs)

  await expect(turn(later(0))).rejects.toThrow('elas ainda não começaram')
  expect(await told()).toMatch(/^copia: .*elas ainda não começaram.*Ainda não foi feita nenhuma cópia/)
  expect(await backupMetrics(ctx).metrics()).toMatch(/^vigia_backup_base_age_seconds \+Inf$/m)
  await beginCopies(config, { sameDisk: true })
  await turn(later(0))
  expect(await told()).toBe('')
  expect(await count()).toBe(1)
  const first = (await listCopyTimes(config.backup!)).tried[0]!.name
  expect(await backupMetrics(ctx).metrics()).toMatch(/^vigia_backup_base_age_seconds \d/m)

  // The night after, and none of the same night twice.
  await turn(later(24))
  expect(await count()).toBe(2)
  expect((await listCopyTimes(config.backup!)).tried).toHaveLength(1)

  expect((await listCopies(config)).copies).toHaveLength(2)
  const newest = (await listCopyTimes(config.backup!)).copies.at(-1)!
  const file = join(config.backup!.directory, `${newest.name}.cluster`)
  const bytes = await readFile(file)
  const damaged = Buffer.from(bytes)
  damaged[bytes.length >> 1]! ^= 1
  await writeFile(file, damaged)
  await expect(tryRestore(config)).rejects.toThrow('não abre')
  // As if it had been a week ago.
  await rm(join(config.backup!.directory, `${first}.tried`))
  await expect(turn(newest.at)).rejects.toThrow('não abre')
  expect(await told()).toMatch(/A última cópia não pôde ser restaurada: .*não abre/)
  await writeFile(file, bytes)

  // An earlier one by its name, into an empty folder: events are held, and programs that follow the changes miss none.
  const elsewhere: Config = { ...config, dataDir: join(folder, 'elsewhere') }
  const restored = await restore(elsewhere, first)
  expect(restored.copy.name).toBe(first)
  expect((await readdir(elsewhere.dataDir)).sort()).toEqual(['postgres', 'postgres.password'])
  await using back = await startPostgres(embeddedCluster(elsewhere))
  const { rows } = await withOwner(back.url, (client) =>
    client.query(
      `select held_why as why, version > extract(epoch from now() - interval '1 hour') * 1000 as lifted from installation, change_position`,
    ),
  )
  expect(rows).toEqual([
    { why: expect.stringMatching(/^O sistema voltou de uma cópia de segurança de \d\d\/\d\d\/\d{4}/), lifted: true },
  ])
  await expect(restore(elsewhere, first)).rejects.toThrow('não substitui nenhum')
  const nowhere: Config = { ...config, dataDir: join(folder, 'nowhere') }
  await expect(restore(nowhere, 'no-name')).rejects.toThrow('não há uma cópia no-name')
  const { copy } = await backUp(config)
  await writeFile(join(config.backup!.directory, `${copy.name}.record`), 'damaged')
  await expect(restore(nowhere)).rejects.toThrow(`a mais nova, ${copy.name}, não abre`)
  await expect(restore({ ...nowhere, backup: { ...config.backup!, key: Buffer.alloc(32, 2) } })).rejects.toThrow(
    'nenhuma das 3 que há ali abre',
  )
  // A program that ends does not wait for a copy, and leaves nothing of it.
  await expect(backUp(config, undefined, AbortSignal.abort())).rejects.toThrow('the program ends')
  expect(await count()).toBe(3)
  // Do not begin a copy that would fill the disk of the data.
  const large = { ...newest, bytes: 0, endedAt: new Date(), contents: { ...restored.contents, bytes: 2 ** 60 } }
  await expect(requireRoom(config, large)).rejects.toThrow('precisa de')
  await db.destroy()
}, 240_000)
