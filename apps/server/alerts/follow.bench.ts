import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startPostgres } from '@vigia/postgres/postgres'
import { sql } from 'kysely'
import { compare, report } from '../../../bench/measure.ts'
import { readConfig } from '../config.ts'
import { type Arrival, readPage, receive } from '../documents/documents.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { migrate } from '../platform/migrate.ts'
import { startAlertWorker } from './worker.ts'

// The writing transaction while the worker of alerts judges what it wrote before, against the same without a worker: with no history, and with
// six thousand documents of it.
const batch = 50
const pagesAtOnce = 8
const historyOf = 6_000
const cnpj = '44555666000181'
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const documents = JSON.parse(await readFile(corpora.generated!, 'utf8')) as { schema: string; base64: string }[]
const received = documents.map(({ schema, base64 }) => ({ nsu: 1n, schema, content: Buffer.from(base64, 'base64') }))
const templates = (await readPage(received)).filter(
  (arrival) => arrival.facts?.kind === 'document' && arrival.facts.type === 'nfe' && arrival.facts.complete,
)

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const database = await startPostgres({ directory: join(directory, 'postgres') })
await migrate(database.url)
const log = createLogger('silent')
const config = readConfig({ PORT: '0', DATABASE_URL: database.url, LOG_LEVEL: 'silent' }, process.cwd())
const ctx = { db: openDatabase(database.url), config, log } as Context
const workspaceId = 1
const companyId = await inWorkspace(ctx, workspaceId, async ({ db }) => {
  await db.insertInto('workspace').values({ id: workspaceId, name: 'bench', plan: 3 }).execute()
  const values = { workspace_id: workspaceId, cnpj, name: 'E', search: 'e', uf: 35 }
  return (await db.insertInto('company').values(values).returning('id').executeTakeFirstOrThrow()).id
})

let next = 0
// The same real files under new keys: every batch is new to the database.
function nextPage(): Arrival[] {
  return Array.from({ length: batch }, () => {
    const template = templates[next % templates.length]!
    const number = ++next
    const facts = template.facts as Extract<Arrival['facts'], { kind: 'document' }>
    const chave = facts.chave.slice(0, 25) + String(number).padStart(9, '0') + facts.chave.slice(34)
    return { ...template, nsu: BigInt(number), facts: { ...facts, chave, numero: number } }
  })
}

async function write(pages: number): Promise<number> {
  for (let page = 0; page < pages; page++)
    await inWorkspace(ctx, workspaceId, (inside) =>
      receive(inside, { workspaceId, companyId, cnpj }, 'nfe', nextPage()),
    )
  return pages * batch
}

const waiting = () =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ n: number }>`
      select (coalesce(p.version, 0) - coalesce(a.version, 0))::int as n from (select 1) x left join change_position p on true left join alert_position a on true`.execute(
      db,
    )
    return rows[0]!.n
  })

const judged = async () => 0
async function withWorker(work: () => Promise<number>): Promise<number> {
  await using _ = startAlertWorker(ctx, { judged })
  return await work()
}

/** How many documents a second the worker judges by itself, until nothing waits. */
async function catchUp(): Promise<number> {
  const [before, begun] = [await waiting(), performance.now()]
  await using _ = startAlertWorker(ctx, { judged })
  while ((await waiting()) > 0) await setTimeout(50)
  return Math.round(before / ((performance.now() - begun) / 1000))
}

const results: Record<string, object> = {}
for (const history of [0, historyOf]) {
  if (history > 0) await write((history - next) / batch)
  const judgedPerSecond = history > 0 ? await catchUp() : null
  const result = await compare(3, [
    { name: 'alone', run: () => write(pagesAtOnce) },
    { name: 'withAlerts', run: () => withWorker(() => write(pagesAtOnce)) },
  ])
  results[`history${history}`] = { ...result, judgedPerSecond }
}
report('follow', { unit: 'documents', batch, goal: 0.8, ...results })
await ctx.db.destroy()
await database[Symbol.asyncDispose]()
await rm(directory, { recursive: true })
