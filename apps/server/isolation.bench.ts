import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { report } from '../../bench/measure.ts'
import {
  addNodes,
  createDatabaseOnNodes,
  hasCitus,
  startCluster,
  withoutCitus,
} from '../../tests/support/servers/cluster.ts'
import { fill } from '../../tests/support/volume.ts'
import { migrate } from './platform/schema/migrate.ts'

// How long a workspace that gets a shard of its own with `block_writes`, and those that share its shard, may not write, by how much it has: on a coordinator with two
// servers on this machine, all durable.
const sizes = [1_000, 10_000, 100_000]
// With the documents about as many bytes as a document takes with everything that is made of it.
const receiptBytes = 3_500

if (!hasCitus) {
  console.log(withoutCitus)
  process.exit(0)
}
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
await using stack = new AsyncDisposableStack()
stack.defer(() => rm(directory, { recursive: true, force: true }))
const cluster = stack.use(await startCluster(directory, { durable: true, shards: 32 }))
const ports = [cluster.coordinator, ...cluster.workers].map(({ port }) => port)

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stack.defer(() => client.end())
  return client
}

for (const documents of sizes) {
  const name = `of_${documents}`
  await createDatabaseOnNodes(ports, name)
  const at = (url: string) => new URL(`/${name}`, url).href
  const superuser = await connect(at(cluster.superUrl))
  // Filled before it is distributed, as one that grew on a single server.
  await migrate(at(cluster.url))
  await superuser.query("insert into workspace (id, name, plan) select n, 'bench', 3 from generate_series(1, 200) n")
  const volume = { workspaceId: 1, documents, companies: 10, suppliers: 500, currentMonth: 100, lastMonth: 100 }
  await fill(superuser, [volume])
  // Bytes that do not pack, as those that are packed already.
  await superuser.query('create table bytes as select $1::bytea as all_bytes', [randomBytes(1_000_000)])
  await superuser.query(
    `insert into receipt (workspace_id, company_id, service, codec, nsu, schema, unread, content)
     select workspace_id, company_id, type, 0, nsu, 'procNFe', false, substr(all_bytes, 1 + (nsu * 4799 % 990000)::int, ${receiptBytes}) from document, bytes`,
  )
  await superuser.query('drop table bytes')
  await addNodes(ports, name)
  await migrate(at(cluster.url))
  await superuser.query('vacuum analyze')
  const { rows: shards } = await superuser.query<{ id: number; beside: boolean }>(
    `select id, get_shard_id_for_distribution_column('workspace', id) = get_shard_id_for_distribution_column('workspace', 1) as beside from workspace`,
  )
  const { rows: sizesOfShards } = await superuser.query<{ bytes: number }>(
    `select sum(result::bigint)::float8 as bytes from run_command_on_placements('document', 'select pg_total_relation_size(''%s'')')
      union all select sum(result::bigint)::float8 from run_command_on_placements('receipt', 'select pg_total_relation_size(''%s'')')`,
  )
  const of = (wanted: (row: (typeof shards)[number]) => boolean) =>
    shards.find((row) => row.id !== 1 && wanted(row))!.id
  const writers = { itself: 1, beside: of(({ beside }) => beside), elsewhere: of(({ beside }) => !beside) }
  const longestMs: Record<string, number> = {}
  let refused = 0
  let isOver = false
  const write = async (who: string, workspaceId: number) => {
    const client = await connect(at(cluster.superUrl))
    while (!isOver) {
      const begun = performance.now()
      await client
        .query('insert into notice (workspace_id, key) values ($1, $2)', [workspaceId, crypto.randomUUID()])
        .catch(() => void refused++)
      longestMs[who] = Math.max(longestMs[who] ?? 0, Math.round(performance.now() - begun))
      await sleep(20)
    }
  }
  const writing = Object.entries(writers).map(([who, id]) => write(who, id))
  await sleep(1_000)
  const before = { ...longestMs }
  for (const who of Object.keys(longestMs)) longestMs[who] = 0
  const begun = performance.now()
  await superuser.query(
    "select isolate_tenant_to_new_shard('workspace', 1, 'CASCADE', shard_transfer_mode => 'block_writes')",
  )
  const tookMs = Math.round(performance.now() - begun)
  isOver = true
  await Promise.all(writing)
  const { rows } = await superuser.query<{ n: number }>(
    'select count(*)::int as n from document where workspace_id = 1',
  )
  if (rows[0]!.n !== documents) throw new Error('documents are missing')
  report(`isolation of ${documents} documents`, {
    megabytes: Math.round(sizesOfShards.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6),
    tookMs,
    longestWriteMs: longestMs,
    longestWriteBeforeMs: before,
    refused,
  })
}
