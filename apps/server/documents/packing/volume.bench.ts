import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { unzipDocument } from '@vigia/sefaz/distribution'
import pg from 'pg'
import { median, report } from '../../../../bench/measure.ts'
import { startDatabase } from '../../../../tests/support/postgres.ts'
import { startAlertWorker } from '../../alerts/worker.ts'
import { readConfig } from '../../config.ts'
import { startContentWorker } from '../../contents/worker.ts'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { openReceived } from '../../platform/received/bytes.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { readPage } from '../arrival.ts'
import { readInBatches } from '../export/rows.ts'
import { prove } from '../proving/prover.ts'
import { rebuildProjection } from '../rebuild.ts'
import { receive } from '../receive.ts'
import { readAndPack } from './packer.ts'
import { packSome } from './packing.ts'

// What a document costs on disk with everything that is made of it: measured with SAMPLE documents of two years of steady trade that come in as in a capture
// and are read and judged, and beside it with as many copies of a few, whose signatures therefore do not fit and of which all are alerts.
// large.bench.ts measures how a workspace with very many answers.
const sample = Number(process.env.SAMPLE ?? 3_000)
const batch = 50
const cnpj = '44555666000181'
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const corpus = JSON.parse(await readFile(corpora.generated!, 'utf8')) as { schema: string; base64: string }[]
const received = corpus.map(({ schema, base64 }) => ({ nsu: 1n, schema, content: Buffer.from(base64, 'base64') }))
const templates = (await readPage(received)).flatMap(({ facts, schema, content }) => {
  if (facts?.kind !== 'document' || !facts.complete || !/procNFe|procCTe_/.test(schema)) return []
  // Of production, because of others nothing is judged but that they are none.
  const xml = unzipDocument(content).toString().replaceAll('<tpAmb>2<', '<tpAmb>1<')
  return { service: facts.type, schema, xml, chave: facts.chave as string }
})

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
await migrate(postgres.url)
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
const log = createLogger('error')
const config = readConfig({ PORT: '0', DATABASE_URL: postgres.url, LOG_LEVEL: 'error' }, process.cwd())
const ctx = { db: openDatabase(postgres.url), config, log } as Context
const ids = { sampled: 1, received: 2, copied: 3 }

/** As many notes and bills of freight, without their events, each with its own goods, values and signature. */
async function tradedDocZips() {
  const traded = JSON.parse(await readFile(corpora.trade!, 'utf8')) as {
    service: 'nfe' | 'cte'
    nsu: string
    schema: string
    base64: string
  }[]
  if (traded.length < sample) throw new Error(`there are only ${traded.length} documents of the trade`)
  return traded.slice(0, sample).map(({ service, nsu, schema, base64 }) => ({
    service,
    nsu: 2_000_000_000n + BigInt(nsu),
    schema,
    content: Buffer.from(base64, 'base64'),
  }))
}

let next = 0
/** As many docZips, each with a chave of its own. */
function docZips(count: number) {
  return Array.from({ length: count }, () => {
    const { service, xml, schema, chave } = templates[next % templates.length]!
    const first = chave.slice(0, 25) + String(500_000_000 + ++next) + chave.slice(34, 43)
    const renumbered = xml.replaceAll(chave, first + chaveCheckDigit(first))
    return { service, nsu: BigInt(next), schema, content: gzipSync(renumbered) }
  })
}

async function keep(workspaceId: number, companyId: number, page: ReturnType<typeof docZips>, packed: boolean) {
  let ms = 0
  for (const [service, some] of Map.groupBy(page, ({ service }) => service)) {
    const read = prove({ log }, await (packed ? readAndPack(some) : readPage(some)), { patient: true })
    const from = performance.now()
    await inWorkspace(ctx, workspaceId, (inside) => receive(inside, { workspaceId, companyId, cnpj }, service, read))
    ms += performance.now() - from
  }
  return ms / page.length
}

async function addCompany(workspaceId: number): Promise<number> {
  await owner.query(`insert into workspace (id, name, plan) values ($1, 'bench', 3)`, [workspaceId])
  const { rows } = await owner.query<{ id: number }>(
    `insert into company (workspace_id, cnpj, name, search, uf) values ($1, $2, $3, lower($3), 42) returning id`,
    [workspaceId, cnpj, 'EMPRESA DESTINATARIA LTDA'],
  )
  return rows[0]!.id
}

/** Bytes of each table and of its indexes, written anew: without what updates left behind. */
async function sizes() {
  await owner.query('vacuum (full, analyze)')
  const { rows } = await owner.query<{ name: string; table: number; indexes: Record<string, number> }>(
    `select relname as name, pg_table_size(oid)::float8 as table,
            (select coalesce(jsonb_object_agg(i.indexrelid::regclass, pg_relation_size(i.indexrelid)), '{}') from pg_index i where i.indrelid = c.oid) as indexes
       from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  return new Map(rows.map(({ name, ...size }) => [name, size]))
}

async function waitFor(workspaceId: number, table: string): Promise<void> {
  const left = async () => {
    const { rows } = await owner.query<{ n: number }>(
      `select (case when f.walked_type is not null then 1 else p.version - coalesce(f.version, 0) end)::int as n from change_position p left join ${table} f using (workspace_id) where p.workspace_id = $1`,
      [workspaceId],
    )
    return rows[0]!.n
  }
  while ((await left()) > 0) await setTimeout(200)
}

type DocZips = ReturnType<typeof docZips>

/** What documents take that come into a workspace of their own, are read and judged, in bytes for each. */
async function weigh(workspaceId: number, companyId: number, docZips: DocZips) {
  const before = await sizes()
  for (let at = 0; at < docZips.length; at += batch)
    await keep(workspaceId, companyId, docZips.slice(at, at + batch), true)
  {
    await using _alerts = startAlertWorker(ctx, { judged: async () => 0 })
    await using _contents = startContentWorker(ctx)
    await waitFor(workspaceId, 'alert_position')
    await waitFor(workspaceId, 'content_position')
  }
  const after = await sizes()
  const tables = [...after]
    .map(([name, { table, indexes }]) => ({
      name,
      table: Math.round((table - before.get(name)!.table) / docZips.length),
      indexes: Object.fromEntries(
        Object.entries(indexes).map(([index, bytes]) => [
          index,
          Math.round((bytes - before.get(name)!.indexes[index]!) / docZips.length),
        ]),
      ),
    }))
    .map((one) => ({ ...one, bytes: one.table + Object.values(one.indexes).reduce((sum, bytes) => sum + bytes, 0) }))
    .filter(({ bytes }) => bytes > 5)
    .sort((one, other) => other.bytes - one.bytes)
  const total = (names?: string[]) =>
    tables.filter(({ name }) => !names || names.includes(name)).reduce((sum, { bytes }) => sum + bytes, 0)
  const { rows } = await owner.query(
    `select (select count(*)::int from alert where workspace_id = $1 and rules <> '{}') as alerts, (select count(*)::int from supplier where workspace_id = $1) as suppliers,
            (select jsonb_object_agg(rule, n) from (select rule, count(*) as n from alert, unnest(rules) rule where workspace_id = $1 group by rule) x) as rules,
            round(avg(octet_length(r.content)))::int as packed, count(distinct r.issuer_certificate_id)::int as certificates,
            (select round(avg(octet_length(der)))::int from issuer_certificate where workspace_id = $1) as "certificateBytes"
       from receipt r where r.workspace_id = $1`,
    [workspaceId],
  )
  const { alerts, ...rest } = rows[0]!
  return {
    documents: docZips.length,
    gzipBytes: Math.round(docZips.reduce((sum, { content }) => sum + content.length, 0) / docZips.length),
    alertsPerDocument: Number((alerts / docZips.length).toFixed(3)),
    ...rest,
    bytesPerDocument: {
      documents: total([
        ...['receipt', 'issuer_certificate', 'document', 'document_event', 'supplier'],
        ...['count_year', 'count_month', 'count_day', 'document_change'],
      ]),
      everything: total(),
    },
    tables,
  }
}

const seconds = async (work: () => Promise<unknown>) => {
  const from = performance.now()
  await work()
  return Math.round(performance.now() - from) / 1_000
}

try {
  const sampledCompany = await addCompany(ids.sampled)
  report('volume', {
    goals: { bytesPerDocument: 2_500 },
    ...(await weigh(ids.sampled, sampledCompany, await tradedDocZips())),
  })
  report('volume', { copies: true, ...(await weigh(ids.copied, await addCompany(ids.copied), docZips(sample))) })

  const receivedCompany = await addCompany(ids.received)
  const asReceived = Math.min(sample, 1_000)
  for (let at = 0; at < asReceived; at += batch) await keep(ids.received, receivedCompany, docZips(batch), false)
  // Each document is read from the database and opened, as for a ZIP.
  const exported = async (workspaceId: number) => {
    let count = 0
    const from = performance.now()
    for await (const rows of readInBatches(ctx, workspaceId, 'everything', { withContent: true }))
      for (const { content } of rows) count += openReceived(content!).length > 0 ? 1 : 0
    return Math.round(count / ((performance.now() - from) / 1_000))
  }
  const alternately = async (workspaceId: number) => {
    const speeds: number[] = []
    for (let round = 0; round < 5; round++) speeds.push(await exported(workspaceId))
    return median(speeds)
  }
  const opened = {
    asReceivedPerSecond: await alternately(ids.received),
    packedPerSecond: await alternately(ids.sampled),
  }
  const packing = await seconds(async () => {
    while ((await packSome(ctx, ids.received)).looked > 0);
  })
  const rebuild = await seconds(() =>
    rebuildProjection(ctx, { workspaceId: ids.sampled, companyId: sampledCompany, cnpj }),
  )
  report('volume', {
    opened,
    packedAfterwardsPerSecond: Math.round(asReceived / packing),
    rebuiltPerSecond: Math.round(sample / rebuild),
  })
} finally {
  await ctx.db.destroy()
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}
