import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { takeBaseBackup } from '@vigia/postgres/backup'
import { startPostgres } from '@vigia/postgres/postgres'
import { unzipDocument } from '@vigia/sefaz/distribution'
import pg from 'pg'
import { median, quantile, report } from '../../bench/measure.ts'
import { terms } from '../../tests/support/volume.ts'
import { listAlerts } from './alerts/list.ts'
import { startAlertWorker } from './alerts/worker.ts'
import { readConfig } from './config.ts'
import { startContentWorker } from './contents/worker.ts'
import { readDashboard } from './dashboard/dashboard.ts'
import { readInBatches } from './documents/export/rows.ts'
import { type Filter, searchDocuments } from './documents/list.ts'
import { readAndPack } from './documents/packing/packer.ts'
import { prove } from './documents/proving/prover.ts'
import { rebuildProjection } from './documents/rebuild.ts'
import { receive } from './documents/receive.ts'
import {
  leaveOriginals,
  multiply,
  type Place,
  reserveIds,
  type Share,
  takeOriginals,
  wrongCounters,
} from './multiply.testing.ts'
import type { Context } from './platform/context.ts'
import { inWorkspace, openDatabase, readWorkspace } from './platform/database.ts'
import { createPublicIds } from './platform/ids.ts'
import { createLogger } from './platform/log.ts'
import { openReceived } from './platform/received/bytes.ts'
import { receivedContent } from './platform/received/column.ts'
import { migrate } from './platform/schema/migrate.ts'
import { readReport } from './reports/reports.ts'

// How a workspace with very many documents answers, beside one with a thousand in the same database, and what such a database takes to be kept. DOCUMENTS, of which a
// million at most are in the largest workspace and the rest in many smaller ones; FOLDER is where the database is made, and removed at the end.
const documents = Number(process.env.DOCUMENTS ?? 100_000)
const largestMax = 1_000_000
const rounds = 20
const batch = 50
// Connections that write at the same time.
const loaders = 3
const folder = process.env.FOLDER ?? tmpdir()
const service = { nfe: 0, cte: 2 } as const
/** A docZip of the simulator, as `bench/corpus.ts` writes it. */
interface CorpusDocZip {
  service: 'nfe' | 'cte'
  nsu: string
  schema: string
  base64: string
}
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const originals = JSON.parse(await readFile(corpora.generated!, 'utf8')) as CorpusDocZip[]
const cnpjs = ['44555666000181', '12ABC34501DE35']
const log = createLogger('error')
const ids = { originals: 1, small: 2, large: 3 }

await requireRoom()
const directory = await mkdtemp(join(folder, 'vigia-bench-'))

// 2.6 kB of each, twice as much where what is inside is known, and 4 GB of log.
async function requireRoom(): Promise<void> {
  const tmpfs = 0x01021994
  const { type, bavail, bsize } = await statfs(folder)
  if (type === tmpfs) throw new Error(`${folder} is memory; FOLDER names a folder on a disk`)
  const needed = documents * 3_000 + Math.min(documents, largestMax) * 3_000 + 5e9
  const free = bavail * bsize
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(0)} GB`
  if (free < needed) throw new Error(`${gigabytes(needed)} are needed in ${folder}, and ${gigabytes(free)} are free`)
}

/** Few large workspaces and many small ones. */
function shares(): Share[] {
  const small = { workspaceId: ids.small, documents: 1_000, companies: 2, suppliers: 300 }
  const others = Math.max(0, documents - largestMax)
  // Of nine millions.
  const sizes = [
    ...Array.from({ length: 6 }, () => 500_000),
    ...Array.from({ length: 20 }, () => 150_000),
    ...Array.from({ length: 60 }, () => 40_000),
    ...Array.from({ length: 100 }, () => 5_000),
    ...Array.from({ length: 100 }, () => 1_000),
  ].map((size) => Math.round((size * others) / 9_000_000))
  const of = (size: number, index: number): Share => ({
    workspaceId: ids.large + index,
    documents: size,
    companies: Math.max(2, Math.min(200, Math.floor(size / 5_000))),
    suppliers: Math.max(100, Math.floor(size / 50)),
  })
  const large = { ...of(Math.min(documents, largestMax), 0), companies: 10 }
  return [small, large, ...sizes.map((size, index) => of(size, index + 1)).filter((share) => share.documents > 0)]
}

// Nothing is kept of a load that fails: what makes writing safe is off meanwhile.
async function load(): Promise<void> {
  await using postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      max_wal_size: '2GB',
      shared_buffers: '1GB',
      maintenance_work_mem: '512MB',
    },
  })
  await migrate(postgres.url)
  await using owner = await connect(postgres.url)
  const { client } = owner
  await receiveOriginals(postgres.url, client)
  const all = shares()
  const begun = performance.now()
  await multiplyAll(postgres.url, client, all)
  const multiplied = performance.now()
  await leaveOriginals(client)
  await client.query('vacuum analyze')
  const { rows: tables } = await client.query(
    `select relname as name, round(pg_table_size(oid) / 1e6)::int as "tableMegabytes", round(pg_indexes_size(oid) / 1e6)::int as "indexesMegabytes"
       from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_total_relation_size(oid) > 10e6 order by pg_total_relation_size(oid) desc`,
  )
  const { rows } = await client.query<{ n: number; bytes: number }>(
    `select (select count(*) from document)::float8 as n, pg_database_size(current_database())::float8 as bytes`,
  )
  const { rows: received } = await client.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
      where relnamespace = 'public'::regnamespace
        and relname = any ('{receipt,issuer_certificate,document,document_event,supplier,count_year,count_month,count_day,document_change}')`,
  )
  report('volume', {
    documents: rows[0]!.n,
    workspaces: all.length,
    databaseGigabytes: Number((rows[0]!.bytes / 1e9).toFixed(2)),
    bytesPerDocument: Math.round(received[0]!.bytes / rows[0]!.n),
    seconds: { multiplying: seconds(begun, multiplied), vacuumAnalyze: seconds(multiplied) },
    tables,
  })
}

async function multiplyAll(url: string, owner: pg.Client, all: Share[]): Promise<void> {
  let base = await reserveIds(
    owner,
    all.reduce((sum, share) => sum + share.documents, 0),
  )
  const waiting = all.map((share) => {
    const one = { share, base }
    base += BigInt(share.documents)
    return one
  })
  const fill = async () => {
    await using own = await connect(url)
    for (let one = waiting.shift(); one; one = waiting.shift())
      await multiply(own.client, one.share, one.base, one.share.workspaceId <= ids.large)
  }
  await Promise.all(Array.from({ length: loaders }, fill))
}

/** What the simulator has for its two companies, taken in, read and judged by the product. */
async function receiveOriginals(url: string, owner: pg.Client): Promise<void> {
  const ctx = openContext(url)
  await owner.query(`insert into workspace (id, name, plan) values ($1, 'bench', 3)`, [ids.originals])
  const places: Place[] = []
  for (const [cnpj, docZips] of originalsByCompany()) {
    const companyId = await addCompany(owner, ids.originals, cnpj)
    for (const [name, some] of Map.groupBy(docZips, ({ service }) => service)) {
      const zips = some.map(({ nsu, schema, base64 }) => ({
        nsu: BigInt(nsu),
        schema,
        content: Buffer.from(base64, 'base64'),
      }))
      const read = prove({ log }, await readAndPack(zips), { patient: true })
      await inWorkspace(ctx, ids.originals, (inside) =>
        receive(inside, { workspaceId: ids.originals, companyId, cnpj }, name, read),
      )
      for (const { nsu, facts } of read)
        if (facts) places.push({ companyId, service: service[name], nsu, chave: facts.chave })
    }
  }
  {
    await using _alerts = startAlertWorker(ctx, { judged: async () => 0 })
    await using _contents = startContentWorker(ctx)
    for (const table of ['alert_position', 'content_position']) await waitFor(owner, table)
  }
  await takeOriginals(owner, ids.originals, places)
  await ctx.db.destroy()
}

// Positions of the second company begin anew.
function originalsByCompany(): [cnpj: string, docZips: CorpusDocZip[]][] {
  const seen = new Map<string, number>()
  const nth = (docZip: CorpusDocZip) => {
    const place = `${docZip.service} ${docZip.nsu}`
    seen.set(place, (seen.get(place) ?? -1) + 1)
    return seen.get(place)!
  }
  const groups = Map.groupBy(originals, nth)
  return cnpjs.map((cnpj, index) => [cnpj, groups.get(index) ?? []])
}

async function waitFor(owner: pg.Client, table: string): Promise<void> {
  const left = async () => {
    const { rows } = await owner.query<{ n: number }>(
      `select count(*)::int as n from change_position p left join ${table} f using (workspace_id) where f.version is distinct from p.version or f.walked_type is not null`,
    )
    return rows[0]!.n
  }
  while ((await left()) > 0) await setTimeout(200)
}

async function measure(): Promise<void> {
  const starting = performance.now()
  await using postgres = await startPostgres({ directory: join(directory, 'postgres') })
  const started = performance.now()
  await migrate(postgres.url)
  const start = {
    database: seconds(starting, started),
    nothingToMigrate: seconds(started),
  }
  await using owner = await connect(postgres.url)
  const ctx = openContext(postgres.url)
  try {
    for (const [name, calls] of Object.entries(await questions(ctx)))
      report('volume', { asked: name, ...(await both(calls)) })
    report('volume', { start, ...(await keeping(ctx, postgres.url, owner.client)) })
  } finally {
    await ctx.db.destroy()
  }
}

type Ask = (workspaceId: number) => Promise<unknown>

async function questions(ctx: Context): Promise<Record<string, Ask>> {
  const month = new Date().toISOString().slice(0, 7)
  const [year, ago] = [month.slice(0, 4), Number(month.slice(0, 4)) - 3]
  const list = (filter: Partial<Filter>) => (workspaceId: number) =>
    searchDocuments(ctx, workspaceId, { type: 0, page: 1, ...filter })
  // What is looked for is in both workspaces.
  const known = new Map<number, Awaited<ReturnType<typeof searchDocuments>>>()
  for (const workspaceId of [ids.small, ids.large])
    known.set(workspaceId, await searchDocuments(ctx, workspaceId, { type: 0, page: 3 }))
  const of = (workspaceId: number) => known.get(workspaceId)!.rows[7]!
  const middle = (workspaceId: number) => Math.max(1, Math.floor(known.get(workspaceId)!.total / 100))
  const order = (by: 'amount' | 'arrived' | 'due' | 'issuer') => ({ by, ascending: by === 'due' || by === 'issuer' })
  const aMonth = { from: `${ago}-05-01T00:00:00`, to: `${ago}-05-31T23:59:59` }
  const found = (text: (row: ReturnType<typeof of>) => string) => (workspaceId: number) =>
    list({ text: text(of(workspaceId)) })(workspaceId)
  const asked = (group: 'participante' | 'produto') => async (workspaceId: number) => {
    // Answers are kept for each database that is opened.
    const db = openDatabase(ctx.config.databaseUrl!, { connections: 1 })
    const question = {
      subject: 'compras' as const,
      group,
      from: `${year}-01`,
      to: `${year}-12`,
      companyId: undefined,
      text: '',
    }
    await readReport({ db }, workspaceId, question, 1)
    await db.destroy()
  }
  return {
    'list of this month': list({
      from: `${month}-01T00:00:00`,
      to: `${month}-31T23:59:59`.replace(/-31T/, `-${lastDay(month)}T`),
    }),
    'list of a month three years ago': list(aMonth),
    'list without dates': list({}),
    'page in the middle': (workspaceId) => list({ page: middle(workspaceId) })(workspaceId),
    'by value': list({ order: order('amount') }),
    'by arrival': list({ order: order('arrived') }),
    'by deadline': list({ order: order('due') }),
    'by issuer': list({ order: order('issuer') }),
    'by value, page in the middle': (workspaceId) =>
      list({ order: order('amount'), page: middle(workspaceId) })(workspaceId),
    dashboard: (workspaceId) => readDashboard(ctx, workspaceId),
    'search of a rare name': list({ text: terms.rare }),
    'search of a name of 3 %': list({ text: terms.some }),
    'search of a name of a quarter': list({ text: terms.many }),
    'the same, in a month': list({ text: terms.many, ...aMonth }),
    'search of a number': found(({ number }) => String(number)),
    'search of a value': found(({ amount }) => amount.replace('.', ',')),
    'search of a chave': found(({ chave }) => chave),
    'search of a part of a chave': found(({ chave }) => chave.slice(-12)),
    alerts: (workspaceId) =>
      readWorkspace(ctx, workspaceId, (inside) => listAlerts({ ...ctx, ...inside }, workspaceId, { state: 'abertos' })),
    'report of a year by supplier': asked('participante'),
    'report of a year by product': asked('produto'),
  }
}

function lastDay(month: string): number {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
}

/** Of the largest workspace and of that with a thousand documents, turn by turn. */
async function both(ask: Ask) {
  const times = { large: [] as number[], small: [] as number[] }
  let first = 0
  for (let round = -1; round < rounds; round++)
    for (const name of ['large', 'small'] as const) {
      const from = performance.now()
      await ask(ids[name])
      const ms = performance.now() - from
      if (round >= 0) times[name].push(ms)
      else if (name === 'large') first = ms
      // What takes seconds need not be asked so often.
      if (round >= 2 && name === 'small' && median(times.large) > 1_000) round = rounds
    }
  const [large, small] = [median(times.large), median(times.small)]
  return {
    firstMs: round(first),
    ms: round(large),
    p95: round(quantile(times.large, 0.95)),
    smallMs: round(small),
    ratio: round(large / small),
  }
}

/** What is written and kept. */
async function keeping(ctx: Context, url: string, owner: pg.Client) {
  const capture = { large: [] as number[], small: [] as number[] }
  const companies = {
    large: await addCompany(owner, ids.large, cnpjs[0]!),
    small: await addCompany(owner, ids.small, cnpjs[0]!),
  }
  for (let page = -1; page < 20; page++)
    for (const name of ['large', 'small'] as const) {
      const ms = await capturePage(ctx, ids[name], companies[name])
      if (page >= 0) capture[name].push(ms)
    }
  const rebuilt = { workspaceId: ids.large, companyId: companies.large, cnpj: cnpjs[0]! }
  const rebuilding = performance.now()
  const { documents: again } = await rebuildProjection(ctx, rebuilt)
  const rebuildSeconds = seconds(rebuilding)
  const opened = await openSample(ctx)
  const exportedPerSecond = [] as number[]
  for (let turn = 0; turn < 3; turn++) exportedPerSecond.push(await exportSome(ctx))
  const changing = await owner.query('update document set status = status where workspace_id = $1 and id % 100 = 0', [
    ids.large,
  ])
  const vacuuming = performance.now()
  await owner.query('vacuum document')
  const vacuumed = seconds(vacuuming)
  const copying = performance.now()
  const copiedBytes = await copyBase(url)
  const copied = seconds(copying)
  const counting = performance.now()
  const wrong = await wrongCounters(owner)
  if (wrong > 0) throw new Error(`${wrong} counters are not what the documents say`)
  return {
    captureMsPerDocument: { large: round(median(capture.large)), small: round(median(capture.small)) },
    rebuiltPerSecond: Math.round(again / rebuildSeconds),
    exportedPerSecond: median(exportedPerSecond),
    openedAndCompared: opened,
    seconds: { vacuumAfterChanges: vacuumed, baseCopy: copied, recount: seconds(counting) },
    changed: changing.rowCount,
    baseCopyGigabytes: round(copiedBytes / 1e9),
  }
}

let next = 500_000_000
const templates = originals
  .filter(({ schema }) => /^(procNFe|procCTe_)/.test(schema))
  .map(({ service, schema, base64 }) => ({
    service,
    schema,
    xml: unzipDocument(Buffer.from(base64, 'base64')).toString(),
  }))

/** One page of documents that are new to it; ms of the transaction for each of them. */
async function capturePage(ctx: Context, workspaceId: number, companyId: number): Promise<number> {
  const page = Array.from({ length: batch }, () => {
    const { service, schema, xml } = templates[++next % templates.length]!
    const chave = /Id="(?:NFe|CTe)([0-9A-Z]{44})"/.exec(xml)![1]!
    const first = chave.slice(0, 25) + next + chave.slice(34, 43)
    return {
      service,
      nsu: BigInt(next),
      schema,
      content: gzipSync(xml.replaceAll(chave, first + chaveCheckDigit(first))),
    }
  })
  let ms = 0
  for (const [service, some] of Map.groupBy(page, ({ service }) => service)) {
    const read = prove({ log }, await readAndPack(some), { patient: true })
    await Promise.all(read.map(({ proof }) => proof))
    const from = performance.now()
    await inWorkspace(ctx, workspaceId, (inside) =>
      receive(inside, { workspaceId, companyId, cnpj: cnpjs[0]! }, service, read),
    )
    ms += performance.now() - from
  }
  return ms / page.length
}

/** Opens what is kept of documents anywhere in the largest workspace: it throws unless the XML is what its checksum says. */
async function openSample(ctx: Context): Promise<number> {
  const rows = await readWorkspace(ctx, ids.large, ({ db }) =>
    db
      .selectFrom('receipt')
      .select(receivedContent(ids.large, 'receipt').as('content'))
      .where('workspace_id', '=', ids.large)
      .where(({ eb }) =>
        eb(
          'nsu',
          'in',
          Array.from({ length: 4_000 }, () =>
            BigInt(1 + 16 * Math.floor(Math.random() * Math.min(documents, largestMax))),
          ),
        ),
      )
      .execute(),
  )
  for (const { content } of rows) openReceived(content)
  // Of each document the first docZip.
  if (rows.length < 1_000) throw new Error(`only ${rows.length} receipts were found`)
  return rows.length
}

async function exportSome(ctx: Context): Promise<number> {
  let count = 0
  const from = performance.now()
  for await (const rows of readInBatches(ctx, ids.large, 'everything', { withContent: true })) {
    for (const { content } of rows) count += openReceived(content!).length > 0 ? 1 : 0
    if (performance.now() - from > 5_000) break
  }
  return Math.round(count / ((performance.now() - from) / 1_000))
}

async function copyBase(url: string): Promise<number> {
  const { tar } = await takeBaseBackup(url)
  let bytes = 0
  for await (const chunk of tar) bytes += (chunk as Buffer).length
  return bytes
}

function openContext(url: string): Context {
  const config = readConfig({ PORT: '0', DATABASE_URL: url, LOG_LEVEL: 'error' }, process.cwd())
  return { db: openDatabase(url), config, log, ids: createPublicIds(Buffer.alloc(16, 1)) } as Context
}

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

async function addCompany(owner: pg.Client, workspaceId: number, cnpj: string): Promise<number> {
  const { rows } = await owner.query<{ id: number }>(
    `insert into company (workspace_id, cnpj, name, search, uf) values ($1, $2, 'E', 'e', 35) returning id`,
    [workspaceId, cnpj],
  )
  return rows[0]!.id
}

function seconds(from: number, until = performance.now()): number {
  return Math.round(until - from) / 1_000
}

function round(value: number): number {
  return Number(value.toFixed(2))
}

try {
  await load()
  await measure()
} finally {
  await rm(directory, { recursive: true })
}
