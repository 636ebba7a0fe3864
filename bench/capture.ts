import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readCertificate } from '@vigia/sefaz/certificate'
import { connect } from '@vigia/sefaz/connection'
import { queryDistribution } from '@vigia/sefaz/distribution'
import { type Config, readConfig, start as startServer } from '@vigia/server/start'
import { start as startAuthority } from '@vigia/simulator/start'
import pg from 'pg'
import { type SimulatorProcess, startSimulator } from '../scripts/simulator-process.ts'
import { newClient } from '../tests/support/client.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { type Measured, report, summarize } from './measure.ts'
import { publish, readTemplates } from './publish.ts'

// The whole way: authority (a process of its own) → mutual TLS → SOAP → bytes, rows and counters committed; from the moment in which the
// worker starts. Against it a bare loop with as many conversations: the same pages asked for, and their bytes written with one statement.
// The pause of two seconds between pages is the rule against the real authority; here it is scaled away.

const root = fileURLToPath(new URL('..', import.meta.url))
const sizes = [
  { companies: 1, documents: 1000, rounds: 7 },
  { companies: 10, documents: 100, rounds: 5 },
  { companies: 1000, documents: 10, rounds: 2 },
]
const conversationsAtOnce = 8
const hourMs = 600_000
const base = '44555666'
const senha = 'segredo'

const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const templates = await readTemplates(corpora)

// Filiais of one base, for which one certificate speaks: keys take longer to make than all the rest.
const cnpjOf = (index: number) => {
  const first12 = base + String(index + 1).padStart(4, '0')
  return first12 + cnpjCheckDigits(first12)
}

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
try {
  await using postgres = await startDatabase(directory, { durable: true })
  for (const { companies, documents, rounds } of sizes) {
    const prepared = join(directory, `authority-${companies}`)
    const pfx = await prepare(prepared, companies, documents)
    const measured: Measured[] = []
    let calls = 0
    for (let round = 0; round < rounds; round++) {
      for (const variant of [bareLoop, product]) {
        const dataDir = await mkdtemp(join(directory, 'run-'))
        await cp(prepared, join(dataDir, 'simulator'), { recursive: true })
        const name = `run_${companies}_${round}_${variant.name.toLowerCase()}`
        const run = await variant(await open(dataDir, postgres.url, name), pfx, companies)
        if (run.documents !== companies * documents) throw new Error(`${variant.name}: ${run.documents} documents`)
        measured.push({ variant: variant.name, round, units: run.documents, ms: run.ms })
        if (variant === product) calls = (run.calls * 1000) / run.ms
      }
    }
    const unit = 'deliveries'
    const result = summarize(measured)
    const { perSecond, ratio } = result.product!
    report('capture', { unit, companies, documents, rounds, callsPerSecond: Math.round(calls), goal: 0.4, ...result }, [
      {
        what: `${companies} companies with ${documents} documents each, from the start of the worker to the last row`,
        number: `${perSecond} documents/s, ratio ${ratio}`,
        against: 'bare loop: query and one insert of the bytes',
        goal: '≥ 0.4',
      },
    ])
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}

interface CaptureRun {
  documents: number
  calls: number
  ms: number
}

interface CaptureBench {
  simulator: SimulatorProcess
  config: Config
  database: string
  [Symbol.asyncDispose](): Promise<void>
}

// An authority that holds so many documents for each company; returns the certificate of all of them.
async function prepare(folder: string, companies: number, documents: number): Promise<Uint8Array> {
  await using simulator = await startAuthority({ port: 0, directory: folder, seed: 1, hourMs })
  let number = 0
  for (let company = 0; company < companies; company++) {
    for (let document = 0; document < documents; document++) {
      const template = templates[number % templates.length]!
      await publish(simulator.port, cnpjOf(company), template, ++number)
    }
  }
  return simulator.issueCertificate({ cnpj: cnpjOf(0), nome: 'EMPRESA LTDA', uf: 'SC', senha })
}

async function open(dataDir: string, server: string, name: string): Promise<CaptureBench> {
  await using stack = new AsyncDisposableStack()
  const owner = new pg.Client({ connectionString: server })
  await owner.connect()
  await owner.query(`create database ${name}`)
  await owner.end()
  const configure = (port: number) => {
    const database = new URL(`/${name}`, server).href
    const env = {
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: database,
      SIMULATOR_PORT: String(port),
      LOG_LEVEL: 'error',
    }
    const config = readConfig(env, dataDir)
    return { ...config, sefaz: { ...config.sefaz, hourMs, pagePauseMs: 0, marginMs: hourMs / 12 } }
  }
  const simulator = stack.use(await startSimulator(root, configure(0)))
  const config = configure(simulator.port)
  const owned = stack.move()
  return { simulator, config, database: config.databaseUrl!, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function product(opened: CaptureBench, pfx: Uint8Array, companies: number): Promise<CaptureRun> {
  await using stage = opened
  await using api = await startServer(stage.config, { roles: ['api'] })
  const issueCertificate = async () => pfx
  const client = await newClient({ url: api.url, simulator: { issueCertificate } })
  await client.register(cnpjOf(0))
  const database = new pg.Client({ connectionString: stage.database })
  await database.connect()
  try {
    await addFiliais(
      database,
      Array.from({ length: companies - 1 }, (_, index) => cnpjOf(index + 1)),
    )
    await using _worker = await startServer(stage.config, { roles: ['worker'] })
    const began = performance.now()
    for (;;) {
      const { rows } = await database.query<{ waiting: boolean }>(
        'select exists (select 1 from capture_line where last_success_at is null or last_nsu <> max_nsu) as waiting',
      )
      if (!rows[0]!.waiting) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const ms = performance.now() - began
    const { rows } = await database.query<{ documents: number; calls: number }>(
      'select (select count(*)::int from receipt) as documents, (select count(*)::int from capture_call) as calls',
    )
    return { ...rows[0]!, ms }
  } finally {
    await database.end()
  }
}

// As when each is registered with the certificate of the first, whose password takes longer to try than all else that is done here.
async function addFiliais(database: pg.Client, cnpjs: string[]): Promise<void> {
  await database.query(
    `with filial as (insert into company (workspace_id, cnpj, name, search, uf)
                     select workspace_id, unnest($1::text[]), name, search, uf from company returning workspace_id, id, cnpj),
          line as (insert into capture_line (service, cnpj, next_at)
                   select service, f.cnpj, now() from filial f, (values (0), (2)) v (service) returning id, cnpj)
     insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
     select l.id, f.workspace_id, f.id, now() from line l join filial f using (cnpj)`,
    [cnpjs],
  )
}

async function bareLoop(opened: CaptureBench, pfx: Uint8Array, companies: number): Promise<CaptureRun> {
  await using stage = opened
  const { sefaz, caFiles } = { sefaz: stage.config.sefaz, caFiles: stage.config.sefaz.caFiles }
  const ca = await Promise.all(caFiles.map((file) => readFile(file, 'utf8')))
  const certificate = await readCertificate(pfx, senha)
  const pool = new pg.Pool({ connectionString: stage.database, max: conversationsAtOnce })
  await pool.query('create table bare (cnpj text, service text, nsu bigint, schema text, content bytea)')
  const waiting = Array.from({ length: companies }, (_, index) => cnpjOf(index)).flatMap((cnpj) =>
    (['nfe', 'cte'] as const).map((service) => ({ cnpj, service })),
  )
  const run: CaptureRun = { documents: 0, calls: 0, ms: 0 }
  const began = performance.now()
  const converse = async () => {
    for (let line = waiting.shift(); line; line = waiting.shift()) {
      const { cnpj, service } = line
      // As the product does it: one for each conversation.
      const connection = connect(certificate, { ca })
      for (let ultNSU = '0'; ; ) {
        const url = sefaz.endpoints.distribution[service]
        const request = { service, url, tpAmb: sefaz.tpAmb, cUFAutor: 42, cnpj, query: { ultNSU } }
        const response = await queryDistribution(connection, request)
        run.calls++
        run.documents += response.documents.length
        if (response.documents.length > 0) {
          await pool.query('insert into bare select $1, $2, * from unnest($3::bigint[], $4::text[], $5::bytea[])', [
            cnpj,
            service,
            response.documents.map(({ nsu }) => nsu),
            response.documents.map(({ schema }) => schema),
            response.documents.map(({ content }) => content),
          ])
        }
        if (response.cStat !== 138 || response.ultNSU === response.maxNSU) break
        ultNSU = response.ultNSU!
      }
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: conversationsAtOnce }, converse))
  run.ms = performance.now() - began
  await pool.end()
  return run
}
