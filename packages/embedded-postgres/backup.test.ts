import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeBaseBackup } from './backup.ts'
import { type EmbeddedPostgres, startPostgres } from './postgres.ts'
import { unpackTar } from './tar.ts'

let base: string
let server: EmbeddedPostgres

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "vigia cópia's 100% "))
  server = await startPostgres({ directory: join(base, 'postgres') })
  await query(server.url, 'create table kept (n int primary key, filler text)')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(base, { recursive: true, force: true })
})

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const insert = (from: number, to: number) =>
  query(server.url, `insert into kept select n, repeat(md5(n::text), 20) from generate_series(${from}, ${to}) n`)
const newest = async (url: string) => (await query<{ n: number }>(url, 'select max(n) as n from kept'))[0]!.n

test('a running server is copied, and goes on from the copy', async () => {
  await insert(1, 20_000)
  const { tar, ended } = await takeBaseBackup(server.url)
  const writing = insert(20_001, 30_000)
  const copy = join(base, 'copy')
  await mkdir(copy)
  const { files, bytes } = await unpackTar(tar, copy)
  expect(files).toBeGreaterThan(500)
  expect(bytes).toBeGreaterThan(20_000_000)
  await ended
  await writing
  // With a password of its own, as where the one of the cluster was lost.
  await using whole = await startPostgres({ directory: copy })
  expect([20_000, 30_000]).toContain(await newest(whole.url))
  await query(whole.url, 'insert into kept values (0)')
  // Nothing is left of how it got there.
  expect((await readdir(base)).filter((name) => name.includes('.new-'))).toEqual([])
}, 120_000)

test('a copy that nobody reads to its end does not hold the server', async () => {
  const { tar, ended } = await takeBaseBackup(server.url)
  await once(tar, 'readable')
  tar.destroy()
  await expect(ended).rejects.toThrow()
})

test('a login of copies enters no database', async () => {
  const address = new URL(server.url)
  const { backupPassword } = await import('./backup.ts')
  address.password = backupPassword(decodeURIComponent(address.password))
  address.username = 'vigia_backup'
  await expect(query(address.href, 'select 1')).rejects.toThrow('pg_hba.conf')
})

const header = (name: string, type: string, size = 0) => {
  const block = Buffer.alloc(512)
  block.write(name)
  block.write('0000600\0', 100)
  block.write(`${size.toString(8).padStart(11, '0')} `, 124)
  block.write('        ', 148)
  block.write(type, 156)
  const sum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

test.each([
  ['../outside', '0'],
  ['/outside', '0'],
  ['a/../../outside', '0'],
  ['pg_tblspc/16384', '2'],
  ['device', '3'],
])('%s (%s) is in no archive of a server', async (name, type) => {
  const directory = await mkdtemp(join(base, 'tar-'))
  await expect(unpackTar(Readable.from([header(name, type)]), directory)).rejects.toThrow('no such entry')
  expect(await readdir(directory)).toEqual([])
})

test('an archive that is cut off, or was changed, is refused', async () => {
  const directory = await mkdtemp(join(base, 'tar-'))
  await expect(unpackTar(Readable.from([header('file', '0', 600), Buffer.alloc(10)]), directory)).rejects.toThrow(
    'ends in the middle',
  )
  const changed = header('other', '0')
  changed[0] = 0x41
  await expect(unpackTar(Readable.from([changed]), directory)).rejects.toThrow('not a header')
  // Nothing is written over.
  await writeFile(join(directory, 'there'), 'as it was')
  await expect(unpackTar(Readable.from([header('there', '0')]), directory)).rejects.toThrow('EEXIST')
})
