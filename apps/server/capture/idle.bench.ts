import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '@vigia/postgres/postgres'
import pg from 'pg'
import { compare, median, report } from '../../../bench/measure.ts'
import { readConfig } from '../config.ts'
import { openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { roomyStorage } from '../platform/testing.ts'
import { testSigner } from '../signer/testing.ts'
import { claimLine, releaseLine } from './lease.ts'
import type { Decision } from './rules.ts'
import { startCaptureWorker } from './worker.ts'

// What a scheduler with nothing to do costs, and how fast it hands out work: 100,000 companies against an empty database.
const companies = 100_000
const claimsAtOnce = 50
const windows = 5
const windowMs = 4_000
const dueLines = 4_000
const done: Decision = {
  nextPage: false,
  state: 'waiting',
  message: '',
  nextInMs: 3_600_000,
  allowedInMs: 3_600_000,
  failures: 0,
  succeeded: true,
}

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startPostgres({ directory: join(directory, 'postgres') })
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
try {
  const empty = await open('nobody', 0)
  const full = await open('companies', companies)

  const claim = await compare(9, [
    { name: 'empty', run: () => claimNothing(empty) },
    { name: 'full', run: () => claimNothing(full) },
  ])
  const idle = { empty: [] as Idle[], full: [] as Idle[] }
  for (let window = 0; window < windows; window++) {
    idle.empty.push(await watch(empty))
    idle.full.push(await watch(full))
  }
  const [ofEmpty, ofFull] = [summary(idle.empty), summary(idle.full)]
  report('idle', {
    companies,
    lines: 2 * companies,
    goal: 'twice the empty database at most',
    claimMs: {
      empty: round(1000 / claim.empty!.perSecond),
      full: round(1000 / claim.full!.perSecond),
      ratio: round(1 / claim.full!.ratio),
    },
    worker: {
      empty: ofEmpty,
      full: ofFull,
      cpuRatio: round(ofFull.cpuMsPerSecond / ofEmpty.cpuMsPerSecond),
      transactionsRatio: round(ofFull.transactionsPerSecond / ofEmpty.transactionsPerSecond),
    },
    cpuNsPerSecondAndCompany: Math.round((ofFull.cpuMsPerSecond * 1_000_000) / companies),
    claimsPerSecond: { due: dueLines, of: 2 * companies, rate: await claimRate(full) },
  })
  await empty.db.destroy()
  await full.db.destroy()
} finally {
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}

type Opened = Awaited<ReturnType<typeof open>>

async function open(name: string, count: number) {
  await owner.query(`create database ${name}`)
  const url = new URL(`/${name}`, postgres.url).href
  await migrate(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await fill(client, count)
  const config = readConfig({ DATA_DIR: directory, LOG_LEVEL: 'error' }, directory)
  const ctx = {
    db: openDatabase(url),
    // Nothing is asked here: no authority is there to be trusted.
    config: { ...config, sefaz: { ...config.sefaz, caFiles: [] } },
    log: createLogger('error'),
    signer: testSigner(url, { config: { sefaz: { ...config.sefaz, caFiles: [] } } }),
    storage: roomyStorage,
  }
  await client.end()
  return { ...ctx, name }
}

// As after the first answer: spread over the hour that comes, none due for as long as this runs.
async function fill(client: pg.Client, count: number): Promise<void> {
  await client.query(`insert into workspace (id, name, plan) values (1, 'bench', 1)`)
  await client.query(
    `insert into company (workspace_id, cnpj, name, search, uf)
     select 1, lpad(i::text, 14, '0'), 'EMPRESA ' || i, 'empresa ' || i, 35 from generate_series(1, $1::int) i`,
    [count],
  )
  await client.query(
    `insert into capture_line (service, cnpj, last_nsu, max_nsu, next_at, allowed_at, last_success_at, message)
     select s, lpad(i::text, 14, '0'), 500, 500, now() + interval '1 hour' * (1 + random()), now() + interval '1 hour', now(),
            'Em dia. Nenhum documento novo na última consulta.'
       from generate_series(1, $1::int) i, (values (0), (2)) v (s)`,
    [count],
  )
  await client.query(
    `insert into capture_subscription (line_id, workspace_id, company_id, delivered_nsu, proved_at)
     select l.id, 1, c.id, 500, now() from capture_line l join company c on c.workspace_id = 1 and c.cnpj = l.cnpj`,
  )
  await client.query('vacuum analyze')
}

async function claimNothing(ctx: Opened): Promise<number> {
  for (let turn = 0; turn < claimsAtOnce; turn++) {
    if (await claimLine(ctx)) throw new Error('something was due')
  }
  return claimsAtOnce
}

interface Idle {
  cpuMsPerSecond: number
  transactionsPerSecond: number
}

async function watch(ctx: Opened): Promise<Idle> {
  await using _worker = await startCaptureWorker(ctx)
  await sleep(500)
  const [cpu, before, began] = [process.cpuUsage(), await transactions(ctx.name), performance.now()]
  await sleep(windowMs)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return {
    cpuMsPerSecond: (user + system) / 1000 / seconds,
    transactionsPerSecond: ((await transactions(ctx.name)) - before) / seconds,
  }
}

// A session tells its transactions after a second or when it is idle for a while: over some seconds that does not matter.
async function transactions(name: string): Promise<number> {
  const { rows } = await owner.query('select xact_commit::int as n from pg_stat_database where datname = $1', [name])
  return rows[0].n
}

function summary(list: Idle[]): Idle {
  return {
    cpuMsPerSecond: round(median(list.map((one) => one.cpuMsPerSecond))),
    transactionsPerSecond: round(median(list.map((one) => one.transactionsPerSecond))),
  }
}

function round(value: number): number {
  return Number(value.toFixed(3))
}

// Claimed and let go at once: what the scheduler itself does for a conversation.
async function claimRate(ctx: Opened): Promise<number> {
  const client = new pg.Client({ connectionString: new URL(`/${ctx.name}`, postgres.url).href })
  await client.connect()
  await client.query(
    `update capture_line set next_at = now() - interval '1 second' * random(), allowed_at = now() - interval '1 second' where id % $1 = 0`,
    [(2 * companies) / dueLines],
  )
  await client.end()
  const began = performance.now()
  let claims = 0
  const work = async () => {
    for (let line = await claimLine(ctx); line; line = await claimLine(ctx)) {
      await releaseLine(ctx, line, done)
      claims++
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  if (claims !== dueLines) throw new Error(`${claims} claims`)
  return Math.round((claims * 1000) / (performance.now() - began))
}
