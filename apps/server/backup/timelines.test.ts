import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedPostgres, startPostgres } from '@vigia/postgres/postgres'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { thorough } from '../../../tests/support/seed.ts'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../platform/database.ts'
import { embeddedCluster, prepareInstallation } from '../platform/installation.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { backUp, beginCopies, listCopies, restore, type Target, tryRestore } from './backup.ts'
import { identify } from './lines.ts'
import { shipWal } from './shipping.ts'
import { findArchiverFailure } from './worker.ts'

// Databases that come from the same copies, each of which goes on by itself; what each wrote when, and what the copies lead to.

let directory: string
const key = randomBytes(32)
const running: Machine[] = []

interface Machine {
  config: Config
  server: EmbeddedPostgres
}

const configOf = (name: string): Config =>
  readConfig(
    {
      DATA_DIR: join(directory, name),
      BACKUP_DIR: join(directory, 'copies'),
      BACKUP_KEY: key.toString('base64'),
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
    directory,
  )

async function startMachine(name: string): Promise<Machine> {
  const config = configOf(name)
  const machine = { config, server: await startPostgres(embeddedCluster(config)) }
  running.push(machine)
  return machine
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-lines-'))
})
afterAll(async () => {
  for (const { server } of running) await server[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

async function ask<Row extends object>({ server }: Machine, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** What was written where, and a moment at which that was all. */
async function write(machine: Machine, mark: number): Promise<Date> {
  await ask(machine, `update installation set mark = ${mark}, marked_at = clock_timestamp()`)
  await sleep(5)
  const [row] = await ask<{ now: Date }>(machine, 'select clock_timestamp() as now')
  await sleep(5)
  return row!.now
}

async function closeSegment(machine: Machine): Promise<string> {
  const segment = async () =>
    (await ask<{ at: string }>(machine, 'select pg_walfile_name(pg_current_wal_lsn()) as at'))[0]!.at
  const before = await segment()
  while ((await segment()) === before)
    await ask(machine, `select pg_logical_emit_message(false, 'filler', repeat('x', 4000000))`)
  return before
}

async function ship(machine: Machine): Promise<void> {
  // A moment is reached when something was committed behind it.
  await ask(machine, 'update installation set marked_at = marked_at')
  const { directory, archive } = embeddedCluster(machine.config)
  const closed = await closeSegment(machine)
  await expect.poll(() => readdir(archive!), { timeout: 30_000 }).toContain(closed)
  await shipWal(archive!, machine.config.backup!, await identify(machine.server.url, directory))
}

const reached = async (target: Target) => {
  const { contents, line } = await tryRestore(configOf('trial'), target)
  return [line, contents.mark]
}

async function restored(name: string, target: Target, mark: number): Promise<Machine> {
  const { masterKey, contents } = await restore(configOf(name), target)
  expect([masterKey, contents.mark]).toEqual(['not-needed', mark])
  return startMachine(name)
}

test('each moment leads to what the installation had then, whatever was restored before and after it', async () => {
  const first = await startMachine('first')
  await migrate(first.server.url)
  await prepareInstallation(first.server.url, 'simulador')
  await expect(beginCopies(first.config, { sameDisk: false })).rejects.toThrow('no mesmo disco que o banco de dados')
  await expect(backUp(first.config)).rejects.toThrow('backup iniciar')
  await beginCopies(first.config, { sameDisk: true })
  await backUp(first.config)
  const [one, two, three] = [await write(first, 1), await write(first, 2), await write(first, 3)]
  await ship(first)

  // Before the last there was; and the one that was left goes on, too.
  const second = await restored('second', { until: two }, 2)
  const aside = await write(first, 4)
  await ship(first)
  const branched = await write(second, 101)
  // What the second has written is not there yet, and what the first wrote since does not take its place.
  expect(await reached({})).toEqual([2, 2])
  await write(second, 102)
  await ship(second)
  // When it was the first that counted.
  expect(await reached({ until: three })).toEqual([1, 3])

  // Before the moment of the first restore, with a copy of the second line in the folder, which does not lead there.
  await backUp(second.config)
  const third = await restored('third', { until: one }, 1)
  const { lines, bases } = await listCopies(third.config)
  expect(lines.map(({ timeline }) => timeline)).toEqual([1, 2, 3])
  expect(bases.map(({ timeline }) => timeline)).toEqual([1, 2])
  if (!thorough) return

  await write(third, 201)
  await ship(third)
  expect(await reached({})).toEqual([3, 201])
  expect(await reached({ until: branched })).toEqual([2, 101])
  expect(await reached({ line: 1 })).toEqual([1, 4])
  expect(await reached({ line: 1, until: aside })).toEqual([1, 4])
  expect(await reached({ line: 2 })).toEqual([2, 102])
  expect(await reached({ until: three })).toEqual([1, 3])
  // On the second line, from its own copy, and on that once more.
  await write(second, 103)
  await ship(second)
  const fourth = await restored('fourth', { line: 2 }, 103)
  await write(fourth, 301)
  await backUp(fourth.config)
  await ship(fourth)
  const fifth = await restored('fifth', {}, 301)
  await write(fifth, 401)
  await ship(fifth)
  expect(await reached({})).toEqual([5, 401])
  expect(await reached({ line: 4 })).toEqual([4, 301])
  expect(await reached({ line: 3 })).toEqual([3, 201])
  // A person says that an earlier one counts again.
  await beginCopies(third.config, { sameDisk: false })
  await write(third, 202)
  await ship(third)
  expect(await reached({})).toEqual([3, 202])
}, 400_000)

test('two databases that were restored from the same copies apart from each other are told from each other', async () => {
  const [machine] = running
  const { directory: cluster } = embeddedCluster(machine!.config)
  const { systemIdentifier, line } = await identify(machine!.server.url, cluster)
  const other = { systemIdentifier, line: { ...line, timeline: 2, id: 'another' } }
  const waiting = embeddedCluster(machine!.config).archive!
  await write(machine!, 5)
  const closed = await closeSegment(machine!)
  await expect.poll(() => readdir(waiting), { timeout: 30_000 }).toContain(closed)
  await expect(shipWal(waiting, machine!.config.backup!, other)).rejects.toThrow('a linha 2 é de outro banco de dados')
  expect(await readdir(waiting)).toContain(closed)
}, 60_000)

test('a server that cannot put its log aside is found, until it can', async () => {
  const [machine] = running
  const db = openDatabase(machine!.server.url)
  const archive = embeddedCluster(machine!.config).archive!
  expect(await findArchiverFailure({ db })).toBeNull()
  await rename(archive, `${archive}-away`)
  await writeFile(archive, 'no folder')
  const closed = await closeSegment(machine!)
  await expect.poll(() => findArchiverFailure({ db }), { timeout: 30_000 }).toMatchObject({ wal: closed })
  await rm(archive)
  await rename(`${archive}-away`, archive)
  // It tries again when the next part is full.
  await closeSegment(machine!)
  await expect.poll(() => findArchiverFailure({ db }), { timeout: 90_000 }).toBeNull()
  await db.destroy()
}, 120_000)
