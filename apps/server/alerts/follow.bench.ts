import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { startPostgres } from '@vigia/postgres/postgres'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import pg from 'pg'
import { report } from '../../../bench/measure.ts'
import { readConfig } from '../config.ts'
import { startContentWorker } from '../contents/worker.ts'
import { type Arrival, readPage, receive } from '../documents/documents.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { packKnown, type StoredFacts, storedFacts } from './store.ts'
import { startAlertWorker } from './worker.ts'

// The writing transaction while the worker of alerts judges what it wrote before, or that of contents reads it, against the same while it rests; and how
// fast the worker of alerts is by itself: with little history, and with a long one of two years and twenty thousand suppliers, half of it of those whose documents come.
const batch = 50
// Many turns of the worker, with its rests.
const measuredMs = 60_000
const histories = (process.env.HISTORY ?? '1000,100000').split(',').map(Number)
const suppliers = 20_000
// Numbers of the history are lower than those that come.
const firstNumber = 500_000_000
const cnpj = '44555666000181'
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const documents = JSON.parse(await readFile(corpora.generated!, 'utf8')) as { schema: string; base64: string }[]
const all = documents.map(({ schema, base64 }) => ({
  schema,
  xml: unzipDocument(Buffer.from(base64, 'base64')).toString(),
}))
const read = await readPage(all.map(({ schema, xml }) => ({ nsu: 1n, schema, content: gzipSync(xml) })))
// Of production, because of others nothing is judged but that they are none.
const templates = all.flatMap(({ schema, xml }, n) => {
  const facts = read[n]!.facts
  if (facts?.kind !== 'document' || facts.type !== 'nfe' || !facts.complete) return []
  const production = xml
    .replaceAll('<tpAmb>2<', '<tpAmb>1<')
    .replaceAll(/[^<>]*SEM VALOR FISCAL[^<>]*/g, 'DESTINATARIA')
  return { schema, xml: production, chave: facts.chave }
})

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
const prepared: Arrival[][] = []
// The same real files under new keys: every batch is new to the database.
async function prepare(pages: number): Promise<void> {
  for (let page = 0; page < pages; page++) {
    const some = Array.from({ length: batch }, () => {
      const { schema, xml, chave } = templates[next % templates.length]!
      const number = firstNumber + ++next
      const first = chave.slice(0, 25) + number + chave.slice(34, 43)
      const digit = chaveCheckDigit(first)
      const renumbered = xml
        .replaceAll(chave, first + digit)
        .replace(/<nNF>\d+</, `<nNF>${number}<`)
        .replace(/<cDV>\d</, `<cDV>${digit}<`)
      return { nsu: BigInt(next), schema, content: gzipSync(renumbered) }
    })
    prepared.push(await readPage(some))
  }
}

async function write(): Promise<number> {
  const page = prepared.shift()!
  const begun = performance.now()
  await inWorkspace(ctx, workspaceId, (inside) => receive(inside, { workspaceId, companyId, cnpj }, 'nfe', page))
  return performance.now() - begun
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

/** How many documents a second the worker judges by itself, its rests included, until nothing waits or the time is over. */
async function catchUp(ms: number): Promise<number> {
  const [before, begun] = [await waiting(), performance.now()]
  await using _ = startAlertWorker(ctx, { judged })
  while ((await waiting()) > 0 && performance.now() - begun < ms) await setTimeout(200)
  return Math.round((before - (await waiting())) / ((performance.now() - begun) / 1000))
}

const workers = {
  withAlerts: { table: 'alert_position', start: () => startAlertWorker(ctx, { judged }) },
  withContents: { table: 'content_position', start: () => startContentWorker(ctx) },
}

/** Whether a turn of a worker is under way: its lease is long, and that of a rest is a minute at most. */
const isWorking = (table: string) =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ held: boolean }>`
      select lease_until > now() + interval '90 s' as held from ${sql.table(table)}`.execute(db)
    return rows[0]?.held ?? false
  })

/**
 * One page after the other, of which only the writing is timed: between two of them the next one is read, as in the capture. What is written while the worker rests is what
 * it is without a worker, at the same time and on the same machine; `share` is how much of the time it works.
 */
async function measure({ table, start }: (typeof workers)['withAlerts']) {
  const times = { resting: { pages: 0, ms: 0, wall: 0 }, working: { pages: 0, ms: 0, wall: 0 } }
  await using _ = start()
  const end = performance.now() + measuredMs
  let [last, wasWorking] = [performance.now(), await isWorking(table)]
  while (performance.now() < end) {
    await prepare(1)
    const ms = await write()
    const working = (await isWorking(table)) || wasWorking
    const now = performance.now()
    const kind = times[working ? 'working' : 'resting']
    kind.pages++
    kind.ms += ms
    kind.wall += now - last
    last = now
    wasWorking = await isWorking(table)
  }
  const perSecond = ({ pages, ms }: { pages: number; ms: number }) => (pages * batch * 1000) / Math.max(ms, 1)
  const [resting, working] = [perSecond(times.resting), perSecond(times.working)]
  const share = times.working.wall / (times.resting.wall + times.working.wall)
  return {
    alone: Math.round(resting),
    whileWorking: Math.round(working),
    share: Number(share.toFixed(3)),
    ratio: Number((1 - share + (share * working) / resting).toFixed(3)),
  }
}

const count = (table: string) =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(db)
    return rows[0]!.n
  })

/** Adds what is known of so many earlier documents, in the form in which the worker keeps it: copies of what it made of the first ones. */
async function remember(documents: number): Promise<void> {
  const client = new pg.Client(database.url)
  await client.connect()
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(`
      select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = 'alert_fact'::regclass and not i.indisprimary`)
    for (const { name } of indexes) await client.query(`drop index ${name}`)
    await client.query(
      `
      insert into alert_fact (workspace_id, document_id, company_id, at, amount, type, purchase, standing, company_base, issuer_base, month, chave, number_key, name, facts, past, items)
      select t.workspace_id, 1000000000 + g.n, t.company_id, g.at, t.amount + g.n % 997, t.type, t.purchase, true, t.company_base, g.base, to_char(g.day, 'YYYY-MM'),
             g.chave, substr(g.chave, 7, 28), case when g.isOther then 'COMERCIAL ' || md5(g.base) else t.name end,
             replace(replace(t.facts::text, t.chave, g.chave), t.facts ->> 'issuedAt', to_char(g.day, 'YYYY-MM-DD"T"HH24:MI:SS"-03:00"'))::json,
             replace(replace(t.past::text, t.chave, g.chave), t.facts ->> 'issuedAt', to_char(g.day, 'YYYY-MM-DD"T"HH24:MI:SS"-03:00"'))::json, t.items
        from (select *, row_number() over (order by document_id) - 1 as k, count(*) over () as n from template_fact where purchase and at > 0) t
        join lateral (
          select n, at, to_timestamp((at - 10800000) / 1000.0) at time zone 'UTC' as day, isOther, base,
                 substr(t.chave, 1, 6) || base || substr(t.chave, 15, 11) || lpad(n::text, 9, '0') || substr(t.chave, 35) as chave
            from (select n, t.at - 86400000 - n * 63072000000 / $1::bigint as at, n / t.n % 2 = 0 as isOther,
                         case when n / t.n % 2 = 0 then lpad((20000000 + n * 7919 % ${suppliers})::text, 8, '0') else left(t.issuer_base, 8) end as base
                    from generate_series(t.k + 1, $1::bigint, t.n) n) x) g on true
      on conflict do nothing`,
      [documents],
    )
    for (const { definition } of indexes) await client.query(definition)
    await client.query('update dictionary set usable_at = now()')
    while ((await packSome()) > 0);
    await client.query(`
      insert into alert_name (workspace_id, company_base, issuer_base, name, at, chave, key)
      select f.workspace_id, f.company_base, f.issuer_base, f.name, f.at, f.chave, left(f.name, 1) || length(f.name) || '/' || k || '/' || substr(f.name, 1 + k * length(f.name) / 3, length(f.name) / 3)
        from (select distinct on (issuer_base, name) * from alert_fact where document_id > 1000000000 order by issuer_base, name, at, chave) f, generate_series(0, 2) k
      on conflict do nothing`)
    await client.query(`
      insert into alert_contact (workspace_id, company_base, issuer_base, key, at, chave)
      select distinct on (workspace_id, company_base, issuer_base) workspace_id, company_base, issuer_base, 'fone 47' || issuer_base, at, chave from alert_name
       order by workspace_id, company_base, issuer_base, at, chave
      on conflict do nothing`)
    await client.query(`
      insert into alert_histogram (workspace_id, company_base, type, month, counts)
      select workspace_id, company_base, type, month, jsonb_object_agg(bucket, n) from (
        select workspace_id, company_base, type, month, floor(24 * log(greatest(amount, 1)::float8) + 1e-9) as bucket, count(*) as n from alert_fact
         where purchase and standing and amount > 0 group by 1, 2, 3, 4, 5) x group by 1, 2, 3, 4
      on conflict (workspace_id, company_base, type, month) do update set counts = excluded.counts`)
    await client.query('vacuum analyze alert_fact, alert_name, alert_contact')
  } finally {
    await client.end()
  }
}

/** Keeps more of the history as the worker would. */
const packSome = () =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<StoredFacts & { documentId: bigint }>`
      select f.document_id as "documentId", ${storedFacts} from alert_fact f where f.past is not null limit 1000`.execute(
      db,
    )
    await packKnown(db, workspaceId, rows)
    return rows.length
  })

async function writePages(pages: number): Promise<void> {
  await prepare(pages)
  for (let page = 0; page < pages; page++) await write()
}

// One of each template is judged, and the history is made of them: as text, in which the chaves are changed, and packed then.
const owner = new pg.Client(database.url)
await owner.connect()
await owner.query("update dictionary set usable_at = 'infinity'")
await writePages(Math.ceil(templates.length / batch))
await catchUp(60_000)
await owner.query('create table template_fact as select * from alert_fact')
await owner.end()
for (const history of histories) {
  await remember(history)
  // What the copies moved, as the first day of each name, is no part of a day's work.
  await writePages(Math.ceil(templates.length / batch))
  await catchUp(60_000)
  await writePages(20)
  const judgedPerSecond = await catchUp(20_000)
  const withAlerts = await measure(workers.withAlerts)
  const withContents = await measure(workers.withContents)
  report('follow', {
    unit: 'documents',
    batch,
    goal: 0.8,
    known: await count('alert_fact'),
    withAlerts,
    withContents,
    judgedPerSecond,
  })
}
await ctx.db.destroy()
await database[Symbol.asyncDispose]()
await rm(directory, { recursive: true })
