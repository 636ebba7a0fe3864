import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { type Replicated, startReplicated } from '../../../tests/support/replica.ts'
import type { Database } from './context.ts'
import { inWorkspace, limitTo, openDatabase, pools, readWorkspace } from './database.ts'
import { AppError } from './errors.ts'
import { createLogger } from './log.ts'
import { followReplica } from './replica.ts'
import { insertCompany, newWorkspace } from './testing.ts'

let servers: Replicated
let relay: Relay
let stack: AsyncDisposableStack
let processes: Process[]
let workspaceId: number
let companyId: number

type Process = ReturnType<typeof startProcess>

// What a process of the product has.
function startProcess(replicaUrl: string) {
  const db = stack.adopt(openDatabase(servers.url, pools.api), (db) => db.destroy())
  const limited = stack.adopt(openDatabase(servers.url, pools.limited), (db) => db.destroy())
  const replica = stack.use(followReplica({ db, log: createLogger('silent') }, servers.url, replicaUrl))
  const { reading } = replica.reading(db, { whole: pools.replica, limited: pools.limitedReplica })
  const metricOf = async (name: string, labels: object = {}) => {
    const metric = await replica.metrics.getSingleMetric(name)!.get()
    const found = metric.values.filter(({ labels: given }) =>
      Object.entries(labels).every(([key, value]) => (given as Record<string, unknown>)[key] === value),
    )
    return found.reduce((sum, { value }) => sum + value, 0)
  }
  return {
    db,
    reading,
    limited: limitTo(limited, [companyId], reading),
    served: () => metricOf('vigia_reads_total', { place: 'replica' }),
    refused: (reason: string) => metricOf('vigia_reads_total', { reason }),
    isReady: async () => (await metricOf('vigia_replica_ready')) === 1,
    lag: () => metricOf('vigia_replica_lag_seconds'),
  }
}

interface Relay {
  url: string
  freeze(): void
  thaw(): void
}

// Stands between a process and the replica, and can stop passing on without ending a connection.
async function startRelay(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let frozen = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(one)
      if (frozen) one.pause()
      one.on('data', (chunk) => other.write(chunk))
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    if (frozen) for (const one of [near, far]) one.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const near = new URL(url)
  near.port = String((server.address() as AddressInfo).port)
  return {
    url: near.href,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20)
}
const ready = (one: Process) => until(one.isReady)
const gone = (one: Process) => until(async () => !(await one.isReady()))

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  servers = stack.use(await startReplicated())
  relay = await startRelay(servers.standby.url)
  const db = openDatabase(servers.url)
  workspaceId = await newWorkspace(db)
  const company = await insertCompany(db, workspaceId, { cnpj: '12ABC34501DE35', name: '0' })
  await insertCompany(db, workspaceId, { cnpj: '44555666000181', name: 'OUTRA' })
  await db.destroy()
  companyId = company.id
  processes = [startProcess(servers.standby.url), startProcess(relay.url)]
  await Promise.all(processes.map(ready))
})
afterAll(() => stack.disposeAsync())

const write = (db: Database) =>
  inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ name: string }>`
      update company set name = (name::int + 1)::text where id = ${companyId} returning name`.execute(db)
    return Number(rows[0]!.name)
  })
const readAll = (db: Database) =>
  readWorkspace({ db }, workspaceId, ({ db }) => db.selectFrom('company').select('name').orderBy('id').execute())
const read = async (db: Database) => Number((await readAll(db))[0]!.name)

test('nobody ever reads less than what was done before, in any process, while the replica is held back and comes along', async () => {
  const { standby } = servers
  const process = fc.nat({ max: 1 })
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), process }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), process, limited: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('both' as const), process }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold' as const), ms: fc.constantFrom(5, 40, 40, 250) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
  )
  let done = await read(processes[0]!.db)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await Promise.all(processes.map(ready))
      const held: Promise<unknown>[] = []
      for (const step of steps) {
        if (step.kind === 'hold') {
          await standby.execute('select pg_wal_replay_pause()')
          held.push(setTimeout(step.ms).then(() => standby.execute('select pg_wal_replay_resume()')))
        } else if (step.kind === 'cut')
          await standby.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename in ('vigia_app', 'vigia_limited')",
          )
        else if (step.kind === 'write') done = await write(processes[step.process]!.db)
        else if (step.kind === 'read') {
          const { limited, reading } = processes[step.process]!
          expect(await read(step.limited ? limited : reading)).toBe(done)
        } else {
          const reads = processes.map(({ reading }) => read(reading))
          const next = await write(processes[step.process]!.db)
          for (const found of await Promise.all(reads)) expect([done, next]).toContain(found)
          done = next
        }
      }
      await Promise.all(held)
    }),
    { numRuns: 12 },
  )
  // It was the replica that was asked.
  for (const one of processes) expect(await one.served()).toBeGreaterThan(0)
})

test('who may see some companies sees no other one there', async () => {
  const [one] = processes
  await ready(one!)
  const before = await one!.served()
  expect(await readAll(one!.limited)).toHaveLength(1)
  expect(await readAll(one!.reading)).toHaveLength(2)
  expect(await one!.served()).toBe(before + 2)
})

test('a replica that stays behind is not waited for by each call, tells how far, and is read from again', async () => {
  const [one] = processes
  await ready(one!)
  await servers.standby.execute('select pg_wal_replay_pause()')
  const done = await write(one!.db)
  expect(await read(one!.reading)).toBe(done)
  await gone(one!)
  const before = await one!.refused('behind')
  for (let n = 0; n < 20; n++) expect(await read(one!.reading)).toBe(done)
  expect(await one!.refused('behind')).toBe(before + 20)
  await until(async () => (await one!.lag()) > 0)
  await servers.standby.execute('select pg_wal_replay_resume()')
  await ready(one!)
  expect(await one!.lag()).toBe(0)
  expect(await read(one!.reading)).toBe(done)
})

test('what is wrong with a call stays so, and what goes wrong on the replica begins anew on the primary', async () => {
  const [one] = processes
  await ready(one!)
  const failing = (error: unknown) => readWorkspace({ db: one!.reading }, workspaceId, () => Promise.reject(error))
  const before = await one!.refused('failed')
  await expect(failing(new AppError('not-found', 'Não há.'))).rejects.toThrow('Não há.')
  await expect(
    readWorkspace({ db: one!.reading }, workspaceId, ({ db }) => sql`select 1 / 0`.execute(db)),
  ).rejects.toMatchObject({ code: '22012' })
  expect(await one!.refused('failed')).toBe(before)
  // Rows that a transaction there still sees are removed.
  const places: boolean[] = []
  const rows = await readWorkspace({ db: one!.reading }, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db)
    places.push(rows[0]!.standby)
    if (rows[0]!.standby) {
      await write(one!.db)
      await execute(servers.url, 'vacuum company')
    }
    return sql`select pg_sleep(case when pg_is_in_recovery() then 600 else 0 end), name from company`.execute(db)
  })
  expect(rows.rows).toHaveLength(2)
  expect(places).toEqual([true, false])
  expect(await one!.refused('failed')).toBe(before + 1)
})
