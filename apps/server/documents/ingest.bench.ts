import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { startPostgres } from '@vigia/embedded-postgres/postgres'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { compare, report } from '../../../bench/measure.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { migrate } from '../platform/schema/migrate.ts'
import type { Arrival } from './arrival.ts'
import { rowsOf } from './projection.ts'
import { readApart } from './reading/reading.ts'
import { receive } from './receive.ts'

// The writing transaction (bytes, rows, counters) of packed documents, of documents as they arrived, and with the reading of the next page in a thread
// meanwhile, against a bare COPY of the same bytes and batch into a table without index.
const batch = 50
const cnpj = '44555666000181'
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const documents = JSON.parse(await readFile(corpora.generated!, 'utf8')) as { schema: string; base64: string }[]
const received = documents.map(({ schema, base64 }) => ({ nsu: 1n, schema, content: Buffer.from(base64, 'base64') }))
const log = createLogger('silent')
const templates = (await readApart({ log }, received, { patient: true, pack: true, cnpj })).filter(
  (arrival) => arrival.facts?.kind === 'document' && arrival.facts.type === 'nfe' && arrival.facts.complete,
)

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const database = await startPostgres({ directory: join(directory, 'postgres') })
await migrate(database.url)
const db = openDatabase(database.url, { connections: 1 })
const owner = new pg.Client({ connectionString: database.url })
await owner.connect()
await owner.query(
  'create table bare (nsu bigint, schema text, issued_at timestamp, amount numeric(15, 2), chave text, name text, content bytea)',
)
const workspaceId = 1
const companyId = await inWorkspace({ db }, workspaceId, async ({ db }) => {
  await db.insertInto('workspace').values({ id: workspaceId, name: 'bench', plan: 1 }).execute()
  const row = await db
    .insertInto('company')
    .values({ workspace_id: workspaceId, cnpj, name: 'E', search: 'e', uf: 35 })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
})

let next = 0
// The same real files under new keys: every batch is new to the database.
function nextPage(): Arrival[] {
  return Array.from({ length: batch }, () => {
    const template = templates[next % templates.length]!
    const number = ++next
    const facts = template.facts as Extract<Arrival['facts'], { kind: 'document' }>
    return {
      ...template,
      nsu: BigInt(number),
      facts: {
        ...facts,
        chave: facts.chave.slice(0, 25) + String(number).padStart(9, '0') + facts.chave.slice(34),
        numero: number,
      },
    }
  })
}

const pagesAtOnce = 20
const result = await compare(7, [
  {
    name: 'bareCopy',
    run: async () => {
      for (let page = 0; page < pagesAtOnce; page++) await copy(nextPage())
      return pagesAtOnce * batch
    },
  },
  {
    name: 'writingTransaction',
    run: async () => {
      for (let page = 0; page < pagesAtOnce; page++) await write(nextPage())
      return pagesAtOnce * batch
    },
  },
  {
    name: 'asReceived',
    run: async () => {
      for (let page = 0; page < pagesAtOnce; page++) await write(nextPage().map(({ packed: _, ...arrival }) => arrival))
      return pagesAtOnce * batch
    },
  },
  {
    name: 'withReading',
    run: async () => {
      let reading = read(nextPage())
      for (let page = 1; page <= pagesAtOnce; page++) {
        const arrivals = await reading
        if (page < pagesAtOnce) reading = read(nextPage())
        await write(arrivals)
      }
      return pagesAtOnce * batch
    },
  },
])
const whats = {
  writingTransaction: 'writing transaction of a page of 50, durable',
  asReceived: 'the same, of documents that are not packed',
  withReading: 'the same, while a thread reads the next page',
}
report(
  'ingest',
  { unit: 'documents', batch, rowLevelSecurity: true, goal: 0.33, ...result },
  Object.entries(whats).map(([name, what]) => ({
    what,
    number: `${result[name]!.perSecond} documents/s, ratio ${result[name]!.ratio}`,
    against: 'bare COPY of the same bytes, durable',
    goal: name === 'writingTransaction' ? '≥ 0.33' : '',
  })),
)
await owner.end()
await db.destroy()
await database[Symbol.asyncDispose]()
await rm(directory, { recursive: true })

async function write(arrivals: Arrival[]): Promise<void> {
  await inWorkspace({ db, log }, workspaceId, (ctx) => receive(ctx, { workspaceId, companyId, cnpj }, 'nfe', arrivals))
}

// Each keeps its new key.
async function read(arrivals: Arrival[]): Promise<Arrival[]> {
  const all = await readApart({ log }, arrivals, { pack: true, cnpj })
  return all.map((arrival, index) => ({ ...arrival, facts: arrivals[index]!.facts }))
}

async function copy(arrivals: Arrival[]): Promise<void> {
  const { documents } = rowsOf(arrivals, cnpj)
  const lines = documents.map((document, row) => {
    const { schema, content } = arrivals[row]!
    const name = document.name.replace(/[\\\t\n]/g, ' ')
    const { nsu, issued_at, amount, chave } = document
    return [nsu, schema, issued_at, amount, chave, name, `\\\\x${content.toString('hex')}`].join('\t')
  })
  await owner.query('begin')
  await pipeline(Readable.from([`${lines.join('\n')}\n`]), owner.query(copyFrom('copy bare from stdin')))
  await owner.query('commit')
}
