import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import type { Database } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { newWorkspace } from '../platform/testing.ts'
import { rebuildProjection, receive } from './documents.ts'
import {
  arrivalOf,
  byKey,
  type Copy,
  chave,
  cnpjs,
  type DocumentCopy,
  type EventCopy,
  meaning,
  modelDocuments,
  modelEvents,
  story,
} from './order.testing.ts'
import { chaveOf } from './testing.ts'

const log = createLogger('silent')
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

interface Workspace {
  id: number
  companies: number[]
}

async function newOffice(large = false): Promise<Workspace> {
  const id = await newWorkspace(db, { large })
  return inWorkspace({ db }, id, async ({ db }) => {
    const companies: number[] = []
    for (const cnpj of cnpjs) {
      const row = await db
        .insertInto('company')
        .values({ workspace_id: id, cnpj, name: 'EMPRESA', search: 'empresa', uf: 35 })
        .returning('id')
        .executeTakeFirstOrThrow()
      companies.push(row.id)
    }
    return { id, companies }
  })
}

async function picture({ id, companies }: Workspace) {
  return inWorkspace({ db }, id, async ({ db }) => ({
    documents: (
      await sql<{ company_id: number }>`
        select company_id, chave, nsu::text, complete, amount, roles, base_status, status, event_code, event_text
          from document order by company_id, chave`.execute(db)
    ).rows.map(({ company_id, ...row }) => ({ to: companies.indexOf(company_id), ...row })),
    events: (
      await sql<{ company_id: number }>`
        select company_id, chave, tp_evento, sequence, nsu::text, undone, stated, rank, protocol
          from document_event order by company_id, chave, tp_evento, sequence`.execute(db)
    ).rows.map(({ company_id, ...row }) => ({ to: companies.indexOf(company_id), ...row })),
  }))
}

// Every column of every row, ids and times of writing included; counters that came back to nothing are nothing.
async function everything({ id }: Workspace) {
  return inWorkspace({ db }, id, async ({ db }) => {
    const rows = async (query: string) => (await sql`${sql.raw(query)}`.execute(db)).rows
    return {
      documents: await rows('select * from document order by id'),
      events: await rows('select * from document_event order by company_id, chave, tp_evento, sequence, orgao'),
      months: await rows('select * from count_month where n <> 0 order by type, month, company_id, roles, status'),
      days: await rows('select * from count_day where n <> 0 order by type, day, company_id, roles, status'),
      receipts: await rows('select company_id, service, nsu, problem, unread from receipt order by 1, 2, 3'),
    }
  })
}

async function countersDiffer({ id }: Workspace, large: boolean): Promise<unknown[]> {
  const days = large ? 'issued_at' : 'null::timestamp'
  const { rows } = await inWorkspace({ db }, id, ({ db }) =>
    sql`with counted as (select type, month_of(issued_at) as at, company_id, roles, status, count(*)::int as n, sum(amount) as a from document group by 1, 2, 3, 4, 5),
             kept as (select type, month, company_id, roles, status, n, amount from count_month where n <> 0 or amount <> 0),
             counted_days as (select type, ${sql.raw(days)}::date as at, company_id, roles, status, count(*)::int as n from document where ${large} group by 1, 2, 3, 4, 5),
             kept_days as (select type, day, company_id, roles, status, n from count_day where n <> 0)
        select 'month', * from ((table counted except table kept) union all (table kept except table counted)) m
        union all
        select 'day', *, null from ((table counted_days except table kept_days) union all (table kept_days except table counted_days)) d`.execute(
      db,
    ),
  )
  return rows
}

const recipient = (workspace: Workspace, { to }: Copy) => ({
  workspaceId: workspace.id,
  companyId: workspace.companies[to]!,
  cnpj: cnpjs[to]!,
})

async function deliver(workspace: Workspace, copies: (DocumentCopy | EventCopy)[]): Promise<void> {
  await inWorkspace({ db, log }, workspace.id, (ctx) =>
    receive(
      ctx,
      recipient(workspace, copies[0]!),
      copies[0]!.type,
      // One page never holds an NSU twice: the capture sees to that.
      [...new Map(copies.map((copy) => [copy.nsu, arrivalOf(copy)])).values()],
    ),
  )
}

async function deliverInPages(
  workspace: Workspace,
  stream: (DocumentCopy | EventCopy)[],
  sizes: number[],
): Promise<void> {
  let page: typeof stream = []
  let turn = 0
  for (const copy of stream) {
    const last = page[0]
    if (last && (last.to !== copy.to || last.type !== copy.type || page.length >= sizes[turn % sizes.length]!)) {
      await deliver(workspace, page)
      page = []
      turn++
    }
    page.push(copy)
  }
  if (page.length > 0) await deliver(workspace, page)
}

test('whatever comes in whatever order and pages, the rows are those of the model, the counters exact, and a rebuild equal', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ order, repeated, sizes, large }) => {
      const workspace = await newOffice(large)
      await deliverInPages(workspace, [...order, ...repeated], sizes)
      const found = await picture(workspace)
      expect(found.documents).toEqual(modelDocuments(order).sort(byKey))
      const events = modelEvents(order.filter((copy) => copy.what === 'event')).map(({ event, undone }) => ({
        to: event.to,
        chave: chave(event),
        tp_evento: event.code,
        sequence: event.seq,
        nsu: String(event.nsu),
        undone,
        stated: event.how === 'duplicate',
        rank: event.how === 'refused' ? 0 : meaning(event).weight,
        protocol: event.protocol,
      }))
      expect(found.events).toEqual(
        events.sort((a, b) => byKey(a, b) || a.tp_evento - b.tp_evento || a.sequence - b.sequence),
      )
      expect(await countersDiffer(workspace, large)).toEqual([])

      const before = await everything(workspace)
      expect(await rebuildProjection({ db, log }, workspace.id)).toEqual({
        receipts: new Set(order.map(({ to, type, nsu }) => `${to} ${type} ${nsu}`)).size,
        documents: found.documents.length,
        events: found.events.length,
        unread: 0,
      })
      expect(await everything(workspace)).toEqual(before)
    }),
    { numRuns: 80 },
  )
}, 120_000)

test('a rebuild mends rows that say something else, drops what no receipt tells, and changes no id', async () => {
  const workspace = await newOffice(true)
  const numbers = [0, 1, 2]
  const documents = numbers.map(
    (number): DocumentCopy => ({
      what: 'document',
      to: 0,
      type: 'cte',
      nsu: number + 1,
      number,
      summary: false,
      situation: 'authorized',
    }),
  )
  const event: EventCopy = {
    what: 'event',
    to: 0,
    type: 'cte',
    nsu: 9,
    number: 0,
    how: 'full',
    code: 110111,
    seq: 1,
    hour: 1,
    protocol: '1',
    names: null,
    namesCode: null,
  }
  await deliver(workspace, [...documents, event])
  const before = await everything(workspace)
  const made = chaveOf({ number: 999 })
  await inWorkspace({ db }, workspace.id, async ({ db }) => {
    await sql`update document set status = 9, amount = 1, number = 7 where chave = ${chave(event)}`.execute(db)
    await sql`insert into document (workspace_id, company_id, issued_at, nsu, supplier_id, number, event_code, type, series, roles, status, base_status, complete, amount, chave)
              select workspace_id, company_id, issued_at, 77, supplier_id, number, event_code, type, series, roles, status, base_status, complete, amount, ${made}
                from document limit 1`.execute(db)
    await sql`delete from document_event`.execute(db)
    await sql`update count_month set n = n + 5`.execute(db)
  })
  expect(await rebuildProjection({ db, log }, workspace.id)).toMatchObject({ documents: 3, events: 1 })
  expect(await everything(workspace)).toEqual(before)
})

test('a rebuild waits for a page that is being received, and a page for a rebuild', async () => {
  const workspace = await newOffice()
  const copies = Array.from(
    { length: 3 },
    (_, number): DocumentCopy => ({
      what: 'document',
      to: 0,
      type: 'nfe',
      nsu: number + 1,
      number,
      summary: false,
      situation: 'authorized',
    }),
  )
  await deliver(workspace, copies.slice(0, 1))
  await Promise.all([
    deliver(workspace, copies.slice(1, 2)),
    rebuildProjection({ db, log }, workspace.id),
    deliver(workspace, copies.slice(2)),
    rebuildProjection({ db, log }, workspace.id),
  ])
  expect((await picture(workspace)).documents).toEqual(modelDocuments(copies).sort(byKey))
  expect(await countersDiffer(workspace, false)).toEqual([])
})

test('a document and its event that two writers bring at the same time find each other', async () => {
  const workspace = await newOffice()
  const note: DocumentCopy = {
    what: 'document',
    to: 1,
    type: 'nfe',
    nsu: 1,
    number: 0,
    summary: false,
    situation: 'authorized',
  }
  const ciencia: EventCopy = {
    what: 'event',
    to: 1,
    type: 'nfe',
    nsu: -1,
    number: 0,
    how: 'full',
    code: 210210,
    seq: 1,
    hour: 1,
    protocol: '1',
    names: null,
    namesCode: null,
  }
  let second: Promise<void> | undefined
  await inWorkspace({ db, log }, workspace.id, async (ctx) => {
    await receive(ctx, recipient(workspace, note), 'nfe', [arrivalOf(note)])
    let over = false
    second = deliver(workspace, [ciencia]).then(() => {
      over = true
    })
    // The first has not committed when the second is done, or waits.
    await vi.waitFor(async () => expect(over || (await someoneWaits())).toBe(true), { timeout: 20_000 })
  })
  await second
  expect((await picture(workspace)).documents).toMatchObject([{ status: 8, event_code: 210210 }])
})

async function someoneWaits(): Promise<boolean> {
  const { rows } = await sql`select from pg_locks
    where not granted and locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
    db,
  )
  return rows.length > 0
}
