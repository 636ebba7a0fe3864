import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { newClient } from '../../tests/support/client.ts'
import { execute } from '../../tests/support/database.ts'
import { startInstallation } from '../../tests/support/installation.ts'
import { withTestKeys } from '../../tests/support/keys.ts'
import { type Replicated, startReplicated } from '../../tests/support/servers/replica.ts'
import { readZip } from '../../tests/support/zip.ts'
import type { Database } from './platform/context.ts'
import { inWorkspace, limitTo, openDatabase, pools, readWorkspace } from './platform/database.ts'
import { AppError } from './platform/errors.ts'
import { createLogger } from './platform/log.ts'
import { followReplica, type Horizon, shared, standingOf } from './platform/replica.ts'
import { migrate } from './platform/schema/migrate.ts'
import { insertCompany, newWorkspace } from './platform/testing.ts'
import { endTrouble, listTroubles } from './platform/trouble.ts'
import { start } from './start.ts'

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
  await migrate(servers.url)
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
afterEach(() => void vi.useRealTimers())

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
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rush' as const), process }) },
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
          const { db } = processes[step.process]!
          let over = false
          const readers = [...processes, ...processes, ...processes].map(async ({ reading }) => {
            while (!over) {
              const before = done
              expect(await read(reading)).toBeGreaterThanOrEqual(before)
            }
          })
          for (let n = 0; n < 5; n++) done = await write(db)
          over = true
          await Promise.all(readers)
        }
      }
      await Promise.all(held)
    }),
    { numRuns: 8 },
  )
  // It was the replica that was asked.
  for (const one of processes) expect(await one.served()).toBeGreaterThan(0)
})

test('who may see some companies sees no other one there', async () => {
  const [one] = processes
  // A replica that is behind for a moment is not asked.
  await until(async () => {
    await ready(one!)
    const before = await one!.served()
    expect(await readAll(one!.limited)).toHaveLength(1)
    expect(await readAll(one!.reading)).toHaveLength(2)
    return (await one!.served()) === before + 2
  })
})

test('a replica that stays behind is not waited for by each call, tells how far, and is read from again', async () => {
  const [one] = processes
  await ready(one!)
  await servers.standby.execute('select pg_wal_replay_pause()')
  const done = await write(one!.db)
  expect(await read(one!.reading)).toBe(done)
  await gone(one!)
  const [served, behind] = [await one!.served(), await one!.refused('behind')]
  for (let n = 0; n < 20; n++) expect(await read(one!.reading)).toBe(done)
  expect(await one!.served()).toBe(served)
  expect(await one!.refused('behind')).toBeGreaterThan(behind)
  await until(async () => (await one!.lag()) > 0)
  await servers.standby.execute('select pg_wal_replay_resume()')
  await ready(one!)
  await until(async () => (await one!.lag()) === 0)
  expect(await read(one!.reading)).toBe(done)
})

test('what is wrong with a call stays so, and what goes wrong on the replica begins anew on the primary', async ({
  signal,
}) => {
  const [one] = processes
  await ready(one!)
  const failing = (error: unknown) => readWorkspace({ db: one!.reading }, workspaceId, () => Promise.reject(error))
  let before = await one!.refused('failed')
  await expect(failing(new AppError('not-found', 'Não há.'))).rejects.toThrow('Não há.')
  await expect(
    readWorkspace({ db: one!.reading }, workspaceId, ({ db }) => sql`select 1 / 0`.execute(db)),
  ).rejects.toMatchObject({ code: '22012' })
  expect(await one!.refused('failed')).toBe(before)
  // Rows that a transaction there still sees are removed.
  const places: boolean[] = []
  let over = false
  // Not before nobody sees them on the primary either.
  const remove = async () => {
    for (; !over && !signal.aborted; await setTimeout(200)) {
      await write(one!.db)
      await execute(servers.url, 'vacuum company')
    }
  }
  const slowly = () =>
    readWorkspace({ db: one!.reading }, workspaceId, async ({ db }) => {
      const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db)
      places.push(rows[0]!.standby)
      return sql`select pg_sleep(case when pg_is_in_recovery() then 600 else 0 end), name from company`.execute(db)
    })
  await until(async () => {
    await ready(one!)
    places.length = 0
    over = false
    before = await one!.refused('failed')
    const reading = slowly().finally(() => {
      over = true
    })
    await remove()
    expect((await reading).rows).toHaveLength(2)
    return places[0]!
  })
  expect(places).toEqual([true, false])
  expect(await one!.refused('failed')).toBe(before + 1)
})

// Reads go on while `work` does something to the replica.
async function underReads(one: Process, work: () => Promise<unknown>): Promise<void> {
  const done = await read(one.db)
  let over = false
  const readers = [one.reading, one.limited, one.reading, one.limited].map(async (db) => {
    while (!over) expect(await read(db)).toBe(done)
  })
  await work().finally(() => {
    over = true
  })
  await Promise.all(readers)
}

test('a replica that is killed fails no read, and serves again when it is back', async () => {
  const [one] = processes
  await ready(one!)
  await underReads(one!, async () => {
    await servers.standby.kill()
    await gone(one!)
    await servers.standby.start()
    await ready(one!)
    const before = await one!.served()
    await until(async () => (await one!.served()) > before)
  })
})

test('a replica that says nothing any more fails no read', async () => {
  const [, other] = processes
  await ready(other!)
  await underReads(other!, async () => {
    relay.freeze()
    await gone(other!)
    const before = await other!.refused('away')
    await until(async () => (await other!.refused('away')) > before)
    relay.thaw()
    await ready(other!)
  })
})

test('one question at a time answers all who wanted one before it was asked, and nobody who came later', async () => {
  const asked: PromiseWithResolvers<number>[] = []
  const ask = shared(() => {
    const question = Promise.withResolvers<number>()
    asked.push(question)
    return question.promise
  })
  const first = ask()
  await setTimeout()
  const later = [ask(), ask()]
  await setTimeout()
  expect(asked).toHaveLength(1)
  asked[0]!.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await setTimeout()
  expect(asked).toHaveLength(2)
  asked[1]!.resolve(2)
  expect(await Promise.all(later)).toEqual([2, 2])
})

test('only a standby of the same cluster, timeline and time that has replayed enough is read from', () => {
  const horizon: Horizon = { cluster: '7', timeline: 2, lsn: 100n, clockMs: 60_000, at: 0 }
  const found = { standby: true, cluster: '7', timeline: 2, replayed: 100n, clockMs: 61_000, at: 1_000 }
  const standing = (change: Partial<typeof found>) => standingOf(horizon, { ...found, ...change })
  expect(standing({})).toBe('ready')
  expect(standing({ replayed: 99n })).toBe('behind')
  expect(standing({ timeline: 1, replayed: 200n })).toBe('other-timeline')
  expect(standing({ standby: false })).toBe('no-standby')
  expect(standing({ cluster: '8' })).toBe('other-cluster')
  for (const clockMs of [55_000, 67_000]) expect(standing({ clockMs })).toBe('other-clock')
})

test('lists, numbers and exports of the product come from the replica, also through another process than the one that was written through', async () => {
  const databaseReplicaUrl = servers.standby.url
  // None is cancelled for what the workers remove.
  await servers.standby.execute("alter system set max_standby_streaming_delay = '5min'")
  await servers.standby.execute('select pg_reload_conf()')
  const metricsToken = 'a-token-for-prometheus'
  await using product = await startInstallation(servers.url, {
    prepareSimulator: withTestKeys,
    simulator: { seed: 3, documentsEach: 12, companies: [{ cnpj: '12ABC34501DE35', nome: 'EMPRESA', uf: 'SP' }] },
    hourMs: 600_000,
    config: { databaseReplicaUrl, metricsToken },
  })
  await using second = await start({ ...product.config, port: 0 }, { roles: ['api'] })
  const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
  const client = await newClient(product, account)
  const there = await newClient({ ...product, url: second.url }, account)
  const readsOf = async (url: string, place: string, reason: string) => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
    const line = `vigia_reads_total{place="${place}",reason="${reason}"} `
    return Number(
      (await response.text())
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.slice(line.length) ?? 0,
    )
  }
  for (let n = 0; n < 20; n++) {
    const view = { tipoDFe: 0, nome: `Visão ${n}`, endereco: 'status=8', inicial: false }
    expect(await client.call('PUT', '/v1/api/DocumentosFiscais/visoes', view)).toMatchObject({ status: 200 })
    const { body } = await there.call<unknown[]>('GET', '/v1/api/DocumentosFiscais/visoes')
    expect(body.data).toHaveLength(n + 1)
  }
  await client.register('12ABC34501DE35')
  await client.captured({ timeoutMs: 50_000, everyMs: 100 })
  expect(await there.list('TipoDFe=0')).not.toHaveLength(0)
  expect((await there.call('GET', '/v1/api/Dashboard')).status).toBe(200)
  const request = { filtro: { TipoDFe: 0 }, xml: true, pdf: false, planilha: false }
  const link = await client.call<{ endereco: string }>('POST', '/v1/api/DocumentosFiscais/exportar', request)
  const exported = await there.call('GET', link.body.data.endereco)
  expect(readZip(exported.bytes).size).toBeGreaterThan(1)
  for (const url of [product.url, second.url]) {
    expect(await readsOf(url, 'replica', '')).toBeGreaterThan(0)
    expect(await readsOf(url, 'primary', 'failed')).toBe(0)
  }
})

test('one that was promoted is not read from any more, and the operator is told, also of one that was never there', async () => {
  const [one] = processes
  await ready(one!)
  vi.useFakeTimers({ toFake: ['performance'] })
  const lonely = startProcess('postgres://127.0.0.1:1')
  expect(await read(lonely.reading)).toBe(await read(one!.db))
  vi.advanceTimersByTime(61_000)
  const isTold = async () => (await listTroubles(one!)).some(({ sentence }) => / não responde\. /.test(sentence))
  await until(isTold)
  // A process that has it ends the trouble, as when it starts.
  await endTrouble(one!, 'replica')
  await until(isTold)
  vi.useRealTimers()
  await underReads(one!, async () => {
    await servers.standby.execute('select pg_promote()')
    await until(async () => (await one!.refused('no-standby')) > 0)
  })
  const done = await write(one!.db)
  expect(await read(one!.reading)).toBe(done)
  vi.useFakeTimers({ toFake: ['performance'] })
  // Its time begins anew.
  vi.advanceTimersByTime(3_600_000)
  await until(async () => (await listTroubles(one!)).some(({ sentence }) => / não é réplica: /.test(sentence)))
  expect(await listTroubles(one!)).toHaveLength(1)
})
