import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { runs } from '../../../tests/support/seed.ts'
import type { Database } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { newWorkspace } from '../platform/testing.ts'
import { type Arrival, considerSize, receive } from './documents.ts'
import { searchDocuments } from './list.ts'
import { arrive, chaveOf, company, corrupted, evento, nfeProc, resEvento, resNFe } from './testing.ts'

const log = createLogger('silent')
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
let workspaceId: number
let companyId: number

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  ;({ workspaceId, companyId } = await newCompany())
})

async function newCompany(cnpj = company) {
  const workspaceId = await newWorkspace(db)
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const row = await db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj, name: 'EMPRESA', search: 'empresa', uf: 35 })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { workspaceId, companyId: row.id }
  })
}

const page = (arrivals: Arrival[]) =>
  inWorkspace({ db, log }, workspaceId, (ctx) =>
    receive(ctx, { workspaceId, companyId, cnpj: company }, arrivals[0]?.facts?.type ?? 'nfe', arrivals),
  )

// Everything the projection holds, without what depends on the moment of writing.
async function picture() {
  return inWorkspace({ db }, workspaceId, async ({ db }) => ({
    documents: (
      await sql`select d.chave, d.nsu::text, d.number, d.series, d.issued_at, d.issued_offset, d.roles, d.status, d.base_status, d.event_code, d.event_text,
                       d.complete, d.amount, d.nat_op, s.tax_id, s.name
                  from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
                 where d.workspace_id = ${workspaceId} order by d.chave`.execute(db)
    ).rows,
    events: (
      await sql`select chave, tp_evento, sequence, rank, status, summary, registered_at, nsu::text, description from document_event
                 where workspace_id = ${workspaceId} order by chave, tp_evento, sequence`.execute(db)
    ).rows,
    counters: (
      await sql`select type, month, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and n <> 0 order by 1, 2, 3, 4`.execute(
        db,
      )
    ).rows,
  }))
}

async function countersAreExact() {
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`(select type, date_trunc('month', issued_at)::date as m, company_id, roles, status, count(*)::int as n, sum(amount) as a from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5
         except select type, month, company_id, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and n <> 0)
        union all
        (select type, month, company_id, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and (n <> 0 or amount <> 0)
         except select type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount) from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5)`.execute(
      db,
    ),
  )
  return rows.length === 0
}

const only = async () => (await picture()).documents[0] as Record<string, unknown>

test('a complete note becomes a row with the facts of the file', async () => {
  expect(
    await page([arrive(1, nfeProc({ number: 12345, issuedAt: '2026-11-10T23:40:00-04:00', amount: '7700.25' }))]),
  ).toEqual({ received: 1, inserted: 1, completed: 0, below0: false })
  expect(await only()).toMatchObject({
    chave: chaveOf({ number: 12345 }),
    number: 12345,
    series: 1,
    issued_at: '2026-11-10 23:40:00',
    issued_offset: -240,
    amount: '7700.25',
    nat_op: 'VENDA DE MERCADORIA',
    name: 'PAPELARIA SÃO JOÃO LTDA',
    tax_id: '11222333000181',
    roles: 1 << 1,
    status: 2,
    event_code: 100,
    complete: true,
  })
})

test('the bytes are kept exactly as they came', async () => {
  const arrivals = [arrive(1, nfeProc()), corrupted(2), arrive(3, '<desconhecido/>'), arrive(4, resEvento(610610))]
  await page(arrivals)
  const stored = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('receipt')
      .select(['nsu', 'content', 'problem', 'unread'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('nsu')
      .execute(),
  )
  expect(stored.map((row) => row.content.equals(arrivals.find((arrival) => arrival.nsu === row.nsu)!.content))).toEqual(
    [true, true, true, true],
  )
  expect(stored.map((row) => row.problem !== null)).toEqual([false, true, true, false])
  expect(stored.map((row) => row.unread)).toEqual([false, true, true, false])
})

test('a page received twice changes nothing', async () => {
  const arrivals = [arrive(1, resNFe()), arrive(2, nfeProc()), arrive(3, evento(110111)), corrupted(4)]
  await page(arrivals)
  const before = await picture()
  expect(await page(arrivals)).toEqual({ received: 0, inserted: 0, completed: 0, below0: false })
  expect(await picture()).toEqual(before)
})

test('the complete note replaces its summary and never the other way round', async () => {
  await page([arrive(1, resNFe())])
  expect(await only()).toMatchObject({ complete: false, status: 1 })
  expect(await page([arrive(2, nfeProc())])).toMatchObject({ inserted: 0, completed: 1, below0: false })
  await page([arrive(3, resNFe())])
  expect(await only()).toMatchObject({ complete: true, status: 2, nsu: '2' })
  expect(await countersAreExact()).toBe(true)
})

test('an event of ours that was registered before counts from when the authority says, until its registration comes', async () => {
  const xMotivo = 'Rejeicao: Duplicidade de evento [nProt:891260000054321][dhRegEvento:2026-11-12T08:00:00-03:00]'
  await page([arrive(1, nfeProc()), arrive(-5, evento(210210, { cStat: '573', xMotivo, protocol: null }))])
  expect(await only()).toMatchObject({ status: 8, event_code: 210210 })
  const event = async () =>
    inWorkspace({ db }, workspaceId, ({ db }) =>
      db.selectFrom('document_event').select(['nsu', 'protocol', 'registered_at', 'stated']).execute(),
    )
  const at = new Date('2026-11-12T08:00:00-03:00')
  expect(await event()).toEqual([{ nsu: -5n, protocol: '891260000054321', registered_at: at, stated: true }])
  await page([arrive(7, evento(210210, { protocol: '891260000054321', at: '2026-11-12T08:00:00-03:00' }))])
  expect(await event()).toEqual([{ nsu: 7n, protocol: '891260000054321', registered_at: at, stated: false }])
})

test('a summary of a cancelled note cancels, whichever comes first', async () => {
  await page([arrive(1, nfeProc()), arrive(2, resNFe({ cSitNFe: '3' }))])
  expect(await only()).toMatchObject({ status: 3, complete: true })
})

test('order, repetition and paging of arrivals never change the final state', async () => {
  const arrivals = [
    arrive(1, resNFe({ number: 1 })),
    arrive(2, nfeProc({ number: 1, carrier: company })),
    arrive(3, evento(210210, { number: 1 })),
    arrive(4, evento(110111, { number: 1, at: '2026-11-13T10:00:00-03:00' })),
    arrive(5, resEvento(110111, { number: 1, at: '2026-11-13T10:00:00-03:00' })),
    arrive(6, resNFe({ number: 2, amount: '10.00' })),
    arrive(7, nfeProc({ number: 2, amount: '10.00', issuedAt: '2026-10-31T23:59:59-03:00' })),
    arrive(8, resEvento(610610, { number: 2 })),
    arrive(9, evento(110110, { number: 2, seq: 1 })),
    arrive(10, evento(110110, { number: 2, seq: 2, at: '2026-11-12T08:00:00-03:00' })),
    arrive(11, nfeProc({ number: 3, issuer: '12ABC34501DE35', issuerName: 'ÁGUA &amp; CIA' })),
    arrive(12, resNFe({ number: 4, cSitNFe: '3' })),
    arrive(13, nfeProc({ number: 4 })),
    arrive(14, nfeProc({ number: 4 })),
    corrupted(15),
  ]
  await page(arrivals)
  const expected = await picture()
  expect(expected.documents).toHaveLength(4)
  const shuffles = fc.tuple(
    fc.shuffledSubarray(arrivals, { minLength: arrivals.length }),
    fc.array(fc.constantFrom(...arrivals), { maxLength: 6 }),
    fc.integer({ min: 1, max: 6 }),
  )
  await fc.assert(
    fc.asyncProperty(shuffles, async ([order, repeated, size]) => {
      ;({ workspaceId, companyId } = await newCompany())
      const stream = [...order, ...repeated]
      for (let index = 0; index < stream.length; index += size) {
        // One page never holds an NSU twice: the capture sees to that.
        await page([...new Map(stream.slice(index, index + size).map((arrival) => [arrival.nsu, arrival])).values()])
      }
      expect(await picture()).toEqual(expected)
      expect(await countersAreExact()).toBe(true)
    }),
    { numRuns: runs(25) },
  )
})

test('who is named nowhere in a note is Terceiro, and Transportador once an event admits it, in any order', async () => {
  const note = arrive(1, nfeProc({ recipient: '33444555000181' }))
  const admission = arrive(2, evento(110150, { named: company }))
  const inRole = async (role: number) => (await searchDocuments({ db }, workspaceId, { type: 0, page: 1, role })).total
  await page([note])
  expect([await inRole(3), await inRole(2)]).toEqual([1, 0])
  await page([admission])
  expect([await inRole(3), await inRole(2)]).toEqual([0, 1])
  const direct = await picture()
  ;({ workspaceId, companyId } = await newCompany())
  await page([admission])
  await page([note])
  expect(await picture()).toEqual(direct)
  expect(await countersAreExact()).toBe(true)
})

test('a document that no row can hold is kept as bytes and does not stop the others', async () => {
  const impossible = {
    ...arrive(1, nfeProc()),
    facts: {
      ...arrive(1, nfeProc()).facts!,
      protocol: 'x'.repeat(10),
      issuedAt: '2026-11-10T09:15:00-03:00',
      amount: '9999999999999999.00',
    } as never,
  }
  expect(await page([impossible, arrive(2, nfeProc({ number: 2 }))])).toEqual({
    received: 2,
    inserted: 1,
    completed: 0,
    below0: false,
  })
})

describe('the list', () => {
  beforeEach(async () => {
    for (let first = 1; first <= 120; first += 40) {
      await page(
        Array.from({ length: 40 }, (_, index) => first + index).map((number) =>
          arrive(
            number,
            nfeProc({
              number,
              amount: `${number}.10`,
              issuedAt: `2026-${number <= 70 ? '11' : '10'}-${String(1 + (number % 28)).padStart(2, '0')}T10:00:00-03:00`,
              issuerName: number % 3 === 0 ? 'AÇÚCAR 100% DOCE_S.A.' : 'PAPELARIA SÃO JOÃO LTDA',
            }),
          ),
        ),
      )
    }
    await page([arrive(500, evento(110111, { number: 5 })), arrive(501, evento(110111, { number: 100 }))])
  })

  const all = async (filter: object) => {
    const rows = []
    let total = 0
    for (let number = 1; ; number++) {
      const result = await searchDocuments({ db }, workspaceId, { type: 0, page: number, ...filter })
      total = result.total
      if (result.rows.length === 0) return { rows, total, amount: result.amount }
      rows.push(...result.rows)
    }
  }
  const whole = { from: '2026-10-01T00:00:00', to: '2026-11-30T23:59:59' }

  test.each([
    ['everything', {}, 120],
    ['two whole months', whole, 120],
    ['a month', { from: '2026-11-01T00:00:00', to: '2026-11-30T23:59:59' }, 70],
    [
      'from the middle of a month to the middle of the next',
      { from: '2026-10-10T12:00:00', to: '2026-11-10T09:59:59' },
      null,
    ],
    ['inside one month', { from: '2026-11-05T00:00:00', to: '2026-11-07T23:59:59' }, null],
    ['a tail of one month and a head of the next', { from: '2026-10-20T00:00:00', to: '2026-11-02T00:00:00' }, null],
    ['cancelled ones', { ...whole, status: 3 }, 2],
    ['a role nobody has', { ...whole, role: 2 }, 0],
    ['a role all have', { ...whole, role: 1 }, 120],
    ['a year without documents', { from: '2020-01-01T00:00:00', to: '2020-12-31T23:59:59' }, 0],
    ['a name without accents', { text: 'papelaria sao joao' }, 80],
    ['a name with signs that LIKE knows', { text: '100% doce_s' }, 40],
    ['a number', { text: '77' }, 1],
    ['a chave with spaces', { text: chaveOf({ number: 12 }).replace(/(.{4})/g, '$1 ') }, 1],
    ['the beginning of a chave', { text: chaveOf({ number: 12 }).slice(0, 34) }, 1],
    ['a CNPJ with mask', { text: '11.222.333/0001-81' }, 120],
    ['a CNPJ without mask', { text: '11222333000181' }, 120],
    ['something that is nowhere', { text: 'inexistente' }, 0],
  ])('%s: pages are complete, without repetition, newest first, with exact total and sum', async (_, filter, count) => {
    const { rows, total, amount } = await all(filter)
    expect(total).toBe(rows.length)
    if (count !== null) expect(total).toBe(count)
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length)
    const order = rows.map((row) => `${row.issued_at} ${String(row.id).padStart(20, '0')}`)
    expect(order).toEqual([...order].sort().reverse())
    expect(Number(amount)).toBeCloseTo(
      rows.reduce((sum, row) => sum + Number(row.amount), 0),
      2,
    )
  })

  test('a random range agrees with the documents themselves', async () => {
    const everything = (await all({})).rows
    const day = fc
      .integer({ min: 0, max: 75 })
      .map((days) => new Date(Date.UTC(2026, 8, 20) + days * 86_400_000 + 36_000_000).toISOString().slice(0, 19))
    await fc.assert(
      fc.asyncProperty(day, day, async (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a]
        const expected = everything.filter(
          (row) => row.issued_at.replace(' ', 'T') >= from && row.issued_at.replace(' ', 'T') <= to,
        )
        const found = await all({ from, to })
        expect(found.rows.map((row) => row.id)).toEqual(expected.map((row) => row.id))
        expect(found.total).toBe(expected.length)
      }),
      { numRuns: runs(40) },
    )
  })

  test('another workspace sees nothing', async () => {
    const other = await newCompany()
    expect((await searchDocuments({ db }, other.workspaceId, { type: 0, page: 1 })).total).toBe(0)
  })

  test('a workspace whose month has grown keeps day counters, and pages by them find the same rows', async () => {
    await considerSize({ db }, workspaceId)
    const isLarge = async () =>
      inWorkspace({ db }, workspaceId, ({ db }) => db.selectFrom('workspace').select('large').executeTakeFirstOrThrow())
    expect(await isLarge()).toEqual({ large: false })
    // As if twenty thousand more had come; they are taken out again before the pages are compared.
    const pretend = (n: number) =>
      inWorkspace({ db }, workspaceId, ({ db }) =>
        sql`update count_month set n = n + ${n} where month = '2026-11-01' and status = 2`.execute(db),
      )
    await pretend(20_000)
    await considerSize({ db }, workspaceId)
    await pretend(-20_000)
    expect(await isLarge()).toEqual({ large: true })
    const days = async () =>
      (
        await inWorkspace({ db }, workspaceId, ({ db }) =>
          sql<{ n: number }>`select sum(n)::int as n from count_day`.execute(db),
        )
      ).rows[0]
    expect(await days()).toEqual({ n: 120 })
    await page([arrive(600, nfeProc({ number: 600 })), arrive(601, evento(110111, { number: 7 }))])
    expect(await days()).toEqual({ n: 121 })
    expect(await countersAreExact()).toBe(true)
  })
})
