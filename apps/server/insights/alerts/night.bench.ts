import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@vigia/embedded-postgres/postgres'
import pg from 'pg'
import { quantile, report } from '../../../../bench/measure.ts'
import { readConfig } from '../../config.ts'
import { readApart } from '../../documents/reading/reading.ts'
import { receive } from '../../documents/receive.ts'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { carryOutDue } from '../../platform/jobs/testing.ts'
import { createLogger } from '../../platform/log.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { nightJob } from './night.ts'
import { alertJob } from './queue.ts'

// A customer with a million documents of five years: the first night, a night after a thousand arrivals, and the time from a page's arrival to its verdicts.

const documentCount = 1_000_000
const seedDocuments = 1_000
const cnpj = '44555666000181'
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const documents = JSON.parse(await readFile(corpora.generated!, 'utf8')) as { schema: string; base64: string }[]
const received = documents.map(({ schema, base64 }) => ({ nsu: 1n, schema, content: Buffer.from(base64, 'base64') }))
const log = createLogger('silent')
const templates = (await readApart({ log }, received, { patient: true, pack: true, cnpj })).flatMap((arrival) =>
  arrival.facts?.kind === 'document' && arrival.facts.type === 'nfe' && arrival.facts.complete
    ? { ...arrival, facts: arrival.facts }
    : [],
)

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const database = await startPostgres({ directory: join(directory, 'postgres') })
await migrate(database.url)
const db = openDatabase(database.url, { connections: 4 })
const owner = new pg.Client({ connectionString: database.url })
await owner.connect()
const ctx = { db, config: readConfig({}, process.cwd()), log } as Context
const workspaceId = await newWorkspace(db)
const { id: companyId } = await insertCompany(db, workspaceId, { cnpj })

let next = 0
/** The same real files under new keys. */
async function arrive(count: number): Promise<void> {
  for (let done = 0; done < count; done += 50) {
    const page = Array.from({ length: 50 }, () => {
      const template = templates[next % templates.length]!
      const number = ++next
      const { chave } = template.facts
      const key = chave.slice(0, 25) + String(number).padStart(9, '0') + chave.slice(34)
      return { ...template, nsu: BigInt(number), facts: { ...template.facts, chave: key, numero: number } }
    })
    await inWorkspace({ db, log }, workspaceId, (ctx) => receive(ctx, { workspaceId, companyId, cnpj }, 'nfe', page))
  }
}

async function columnsOf(table: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER'`,
    [table],
  )
  return rows.map(({ name }) => name)
}

/** Copies the rows of `table` back through five years; `changed` says what a copy `k` has instead. */
async function multiply(table: string, changed: Record<string, string>): Promise<void> {
  const columns = await columnsOf(table)
  await owner.query(
    `insert into ${table} (${columns.join()}) select ${columns.map((name) => changed[name] ?? `d.${name}`).join()}
       from ${table} d cross join generate_series(1, ${documentCount / seedDocuments - 1}) k`,
  )
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const night = () =>
  timed(async () => {
    await inWorkspace(ctx, workspaceId, ({ db }) => queueJob({ db }, { kind: nightJob.name, workspaceId }))
    await carryOutDue(ctx, [nightJob])
  })
const judge = () => timed(() => carryOutDue(ctx, [alertJob]))

try {
  await arrive(seedDocuments)
  await judge()
  const key = `left(d.chave, 25) || lpad((substr(d.chave, 26, 9)::int + k * ${seedDocuments})::text, 9, '0') || substr(d.chave, 35)`
  const back = `- k * interval '44 hours'`
  await multiply('document', {
    id: `d.id + k * 10000000::bigint`,
    chave: key,
    number: `d.number + k * ${seedDocuments}`,
    issued_at: `d.issued_at ${back}`,
    created_at: `d.created_at ${back}`,
    authorized_at: `d.authorized_at ${back}`,
  })
  await multiply('document_facts', {
    document_id: `d.document_id + k * 10000000::bigint`,
    chave: key,
    at: `d.at ${back}`,
    month: `date_trunc('month', (d.at ${back}) at time zone 'America/Sao_Paulo')::date`,
  })
  await owner.query('delete from job')
  await owner.query('delete from alert_setting')
  await owner.query('vacuum analyze')
  const first = { night: await night(), judged: await countWaiting(), judging: await judge() }
  await arrive(1_000)
  const arrived = await judge()
  const second = { night: await night(), judged: await countWaiting(), judging: await judge() }
  const verdicts: number[] = []
  for (let page = 0; page < 20; page++)
    verdicts.push(
      await timed(async () => {
        await arrive(50)
        await judge()
      }),
    )
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const nights = { first, second }
  report(
    'night',
    { documents: documentCount, arrivedMs: Math.round(arrived), nights, pageToVerdictMs: quantile(verdicts, 0.5) },
    [
      ...Object.entries(nights).map(([name, { night, judged, judging }]) => ({
        what: `${name} night of a customer with ${documentCount} documents, which judges ${judged} again`,
        number: `${seconds(night)}, and ${seconds(judging)} of judging`,
        against: '',
        goal: 'together ≤ 20 min',
      })),
      {
        what: `from a page of 50 to its verdicts, of a customer with ${documentCount} documents`,
        number: seconds(quantile(verdicts, 0.5)),
        against: '',
        goal: '',
      },
    ],
  )
} finally {
  await owner.end()
  await db.destroy()
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}

async function countWaiting(): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(
    `select count(*)::int as n from document where judged_at is null or not isfinite(judged_at)`,
  )
  return rows[0]!.n
}
