import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { quantile, report } from '../../../../bench/measure.ts'
import { startReplicated } from '../../../../tests/support/servers/replica.ts'
import { fill } from '../../../../tests/support/volume.ts'
import type { Database } from '../../platform/context.ts'
import { openDatabase, pools } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { followReplica } from '../../platform/replica.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { searchDocuments } from '../list.ts'

// Page 1 of a list from a replica against the same from the primary, turn by turn: while nothing is written, and while another client writes on the
// primary. Both servers are on this machine, so this shows what a replica costs, not what it takes off a primary.
const volume = { documents: 100_000, companies: 5, suppliers: 20_000, currentMonth: 4_000, lastMonth: 19_000 }
const turns = 300
const workspaceId = 1

await using servers = await startReplicated({ durable: true })
await migrate(servers.url)
const owner = new pg.Client({ connectionString: servers.url })
await owner.connect()
await owner.query("insert into workspace (id, name, plan) values (1, 'bench', 3)")
await fill(owner, [{ workspaceId, ...volume }])
await owner.query('create table written (id bigint generated always as identity, content bytea not null)')
const db = openDatabase(servers.url, pools.api)
const replica = followReplica({ db, log: createLogger('silent') }, servers.url, servers.standby.url)
const { reading } = replica.reading(db, { whole: pools.replica, limited: pools.limitedReplica })
try {
  await until(async () => (await metricOf('vigia_replica_ready')) === 1)
  report('replica', { written: 'nothing', ...(await measure()) })
  for (const bytes of [10_000, 200_000]) {
    const stop = new AbortController()
    const writing = write(bytes, stop.signal)
    const measured = await measure()
    stop.abort()
    const commits = await writing
    report('replica', { written: `${bytes} bytes in each commit, one commit after the other`, ...measured, ...commits })
    await until(async () => (await metricOf('vigia_replica_ready')) === 1)
  }
} finally {
  await replica[Symbol.asyncDispose]()
  await db.destroy()
  await owner.end()
}

async function measure() {
  const list = (from: Database) => searchDocuments({ db: from }, workspaceId, { type: 0, page: 1 })
  const times = { primary: [] as number[], replica: [] as number[] }
  const before = await metricOf('vigia_reads_total', 'replica')
  for (let turn = -20; turn < turns; turn++)
    for (const [name, from] of [['primary', db] as const, ['replica', reading] as const]) {
      const began = performance.now()
      await list(from)
      if (turn >= 0) times[name].push(performance.now() - began)
    }
  const served = (await metricOf('vigia_reads_total', 'replica')) - before
  const [primary, other] = [times.primary, times.replica].map((ms) => ({
    p50Ms: round(quantile(ms, 0.5)),
    p95Ms: round(quantile(ms, 0.95)),
  }))
  return {
    primary,
    replica: other,
    ratio: round(other!.p50Ms / primary!.p50Ms),
    servedThere: round(served / (turns + 20)),
  }
}

// As ingestion does, on a connection of its own.
async function write(bytes: number, signal: AbortSignal) {
  const began = performance.now()
  let commits = 0
  while (!signal.aborted) {
    await owner.query("insert into written (content) select decode(repeat(md5($1), $2), 'hex')", [
      String(commits),
      bytes / 16,
    ])
    commits++
  }
  return { commitsPerSecond: Math.round((commits * 1000) / (performance.now() - began)) }
}

async function metricOf(name: string, place?: string): Promise<number> {
  const { values } = await replica.metrics.getSingleMetric(name)!.get()
  return values.reduce((sum, { value, labels }) => (!place || labels.place === place ? sum + value : sum), 0)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(50)
}

function round(value: number): number {
  return Number(value.toFixed(2))
}
