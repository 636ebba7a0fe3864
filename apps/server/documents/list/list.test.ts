import type { DocumentRow } from '@vigia/contract/documents'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { showOnly } from '../../companies/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { serveRoutes } from '../../platform/http/http.ts'
import { testSession } from '../../platform/testing.ts'
import { setDerived } from '../derived.ts'
import { newOffice, recipient, type TestWorkspace } from '../office.testing.ts'
import { receive } from '../receive.ts'
import { documentRoutes } from '../routes.ts'
import { writeDue } from '../write-due.ts'
import type { Filter } from './filter.ts'
import {
  arrivalsOf,
  chaveOf,
  compareRows,
  type Draft,
  draft,
  hasAmount,
  type Question,
  question,
  rolesOf,
  statusOf,
  type Typed,
  typed,
} from './list.testing.ts'
import { countOutside, pageSize, searchDocuments, selectIds } from './list.ts'
import { readRows } from './rows.ts'

const { ctx } = await useContext()
const { db, log } = ctx

const pageOf = (workspaceId: number, filter: Filter) => searchDocuments({ db }, workspaceId, filter)

describe('against a model in memory', () => {
  async function deliverAll(workspace: TestWorkspace, drafts: Draft[]) {
    for (const to of [0, 1])
      for (const type of ['nfe', 'cte'] as const) {
        const arrivals = drafts.flatMap((one, index) =>
          one.to === to && one.type === type ? arrivalsOf(one, index) : [],
        )
        await inWorkspace({ db, log }, workspace.id, (ctx) =>
          receive(ctx, recipient(workspace, { to }), type, arrivals),
        )
      }
    const rows = await inWorkspace({ db }, workspace.id, async ({ db }) => {
      // Deadlines of all ages, a few of them already answered from here.
      const now = sql`${new Date().toISOString().slice(0, -1)}::timestamp`
      await sql`update document set authorized_at = case when id % 7 > 0 then (${now} - interval '1 hour' * (id * 61 % 5000)) at time zone 'UTC' end,
                                    created_at = (${now} - interval '1 minute' * (id % 5)) at time zone 'UTC' where workspace_id = ${workspace.id}`.execute(
        db,
      )
      const { rows } = await sql<{ id: bigint; type: number }>`
        select id, type from document where workspace_id = ${workspace.id}`.execute(db)
      const ids = rows.map(({ id }) => id)
      const sent = rows.map(({ id, type }) => {
        const codes = id % 4n > 0n ? [] : type === 2 ? [610110, 610111] : [id % 8n === 0n ? 210210 : 210200]
        const sequences = [1, 1 + Number((id / 4n) % 2n)]
        const pending = id % 3n === 0n
        const own_answers = codes.map((tpEvento, place) => ({ tpEvento, sequence: sequences[place]!, pending }))
        return [id, { own_answers, answered: false, asked: null, asked_by: null, unconfirmed: null }] as const
      })
      await writeDue({ db }, workspace.id, new Date(), new Map(sent))
      return readRows(db, workspace.id, ids)
    })
    expect(rows).toHaveLength(drafts.length)
    return new Map(
      rows.map((row) => [
        row.chave,
        { id: row.id, arrived: row.created_at.getTime(), due: row.answer_due_at?.toISOString() ?? null },
      ]),
    )
  }

  const show = (workspace: TestWorkspace, to: number, nfe: number, cte: number) =>
    showOnly(db, workspace.id, { nfe, cte, companyId: workspace.companies[to]! })

  const mask = fc.constantFrom(511, 511, 511 & ~2, 2, 0, 511 & ~(8 | 256))
  const story = fc.array(draft, { minLength: 70, maxLength: 140 }).chain((drafts) =>
    fc.record({
      drafts: fc.constant(drafts),
      masks: fc.tuple(mask, mask, mask, mask),
      questions: fc.array(fc.record({ asked: question, typed: fc.option(typed(drafts), { freq: 3 }) }), {
        minLength: 40,
        maxLength: 40,
      }),
    }),
  )

  function expected(
    drafts: Draft[],
    masks: number[],
    asked: Question,
    { means, anyDate }: Pick<Typed, 'means' | 'anyDate'>,
  ) {
    return drafts
      .map((one, index) => ({ one, index }))
      .filter(({ one, index }) => {
        const roles = rolesOf(one)
        const role = asked.TipoParticipacao
        const shown = masks[2 * one.to + (one.type === 'nfe' ? 0 : 1)]!
        return (
          (one.type === 'nfe' ? 0 : 2) === asked.TipoDFe &&
          roles.some((role) => shown & (1 << role)) &&
          (asked.company ?? one.to) === one.to &&
          (asked.Status ?? statusOf(one)) === statusOf(one) &&
          (role === undefined || roles.includes(role) || (role === 3 && roles.includes(8))) &&
          (anyDate || ((asked.DataDe ?? '') <= one.issuedAt && one.issuedAt <= (asked.DataAte ?? '9'))) &&
          hasAmount(one, asked) &&
          means(one, index)
        )
      })
  }

  test('whatever is asked, the rows, their order, the total and the sum are exact', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ drafts, masks, questions }) => {
        const workspace = await newOffice(db)
        const rows = await deliverAll(workspace, drafts)
        for (const to of [0, 1]) await show(workspace, to, masks[2 * to]!, masks[2 * to + 1]!)
        for (const { asked, typed } of questions) {
          const { company, ...filter } = asked
          const companyId = company === undefined ? undefined : workspace.companies[company]
          const CampoPesquisa = typed?.text.trim()
          const found = await pageOf(workspace.id, { ...filter, companyId, CampoPesquisa })
          const all = expected(drafts, masks, asked, typed ?? { means: () => true })
          const listed = all
            .map(({ one, index }) => ({ draft: one, ...rows.get(chaveOf(one, index))! }))
            .sort((a, b) => compareRows(filter.order, a, b))
          const cents = all.reduce((sum, { one }) => sum + one.cents, 0)
          expect([CampoPesquisa, found.total, found.amount]).toEqual([
            CampoPesquisa,
            all.length,
            (cents / 100).toFixed(2),
          ])
          expect([CampoPesquisa, filter.order, found.rows.map((row) => row.id)]).toEqual([
            CampoPesquisa,
            filter.order,
            listed.slice((filter.page - 1) * pageSize, filter.page * pageSize).map(({ id }) => id),
          ])
          const criteria = { ...filter, companyId, CampoPesquisa }
          expect(await selectIds({ db }, workspace.id, criteria, all.length, filter.order)).toEqual(
            listed.map(({ id }) => id),
          )
          const outside = await readWorkspace({ db }, workspace.id, (ctx) => countOutside(ctx, workspace.id, criteria))
          const anywhere = expected(
            drafts,
            masks,
            { ...asked, DataDe: undefined, DataAte: undefined },
            typed ?? { means: () => true },
          )
          expect([CampoPesquisa, outside.total]).toEqual([CampoPesquisa, anywhere.length - all.length])
          expect(outside.months.reduce((sum, { n }) => sum + n, 0)).toBe(outside.total)
        }
      }),
      { numRuns: runs(12), endOnFailure: true },
    )
  })
})

describe('the call', () => {
  let workspace: TestWorkspace
  let call: (
    query: string,
    path?: string,
  ) => Promise<{ status: number; body: { message: string; errors: string[]; data: Listed } }>
  interface Listed {
    ids: string[]
    items: Pick<DocumentRow, 'idDfe' | 'numero' | 'dataEmissao' | 'alerta' | 'reforma'>[]
    totalDePaginas: number
    totalDeItens: number
    valorTotal: number
  }

  beforeAll(async () => {
    workspace = await newOffice(db)
    const at = (issuedAt: string, number: number, change: Partial<Draft> = {}): Draft => ({
      to: 0,
      type: 'nfe',
      issuer: 0,
      number,
      issuedAt,
      cents: 1010,
      roles: [1],
      fate: 'authorized',
      ...change,
    })
    const drafts = [
      at('2026-02-28T23:59:59', 1),
      at('2026-03-01T00:00:00', 2),
      ...Array.from({ length: 51 }, (_, index) => at('2026-03-10T10:00:00', 100 + index)),
      at('2026-03-31T23:59:59', 3),
      at('2026-03-10T10:00:00', 4, { type: 'cte', roles: [7], fate: 110110 }),
    ]
    for (const type of ['nfe', 'cte'] as const)
      await inWorkspace({ db, log }, workspace.id, (ctx) =>
        receive(
          ctx,
          recipient(workspace, { to: 0 }),
          type,
          drafts.flatMap((one, index) => (one.type === type ? arrivalsOf(one, index) : [])),
        ),
      )
    const app = await serveRoutes(
      ctx,
      documentRoutes(async () => []),
      async () => testSession(workspace.id),
    )
    call = async (query, path = '') => {
      const response = await app.inject({
        url: `/v1/api/DocumentosFiscais${path}?${query}`,
        headers: { authorization: `Bearer ${'x'.repeat(43)}` },
      })
      return { status: response.statusCode, body: response.json() }
    }
  })

  test('a page past the end is empty and tells the exact total', async () => {
    const { status, body } = await call('TipoDFe=0&PaginaAtual=99')
    expect(status).toBe(200)
    expect(body.data).toEqual({ items: [], totalDePaginas: 2, totalDeItens: 54, valorTotal: 545.4 })
  })

  test('a selection of more documents than it may hold is refused, and says how many there are', async () => {
    await expect(selectIds({ db }, workspace.id, { TipoDFe: 0 }, 53)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('tem 54 documentos'),
    })
  })

  test('a month ends with its last second and begins with its first', async () => {
    const { body } = await call('TipoDFe=0&DataDe=2026-03-01T00:00:00&DataAte=2026-03-31T23:59:59')
    expect(body.data.totalDeItens).toBe(53)
    expect(body.data.items[0]).toMatchObject({ numero: 3, dataEmissao: '2026-03-31T23:59:59-03:00' })
    expect((await call('TipoDFe=0&DataAte=2026-02-28T23:59:58')).body.data.totalDeItens).toBe(0)
    expect(
      (await call('TipoDFe=0&DataDe=0001-01-01T00:00:00&DataAte=9999-12-31T23:59:59')).body.data.totalDeItens,
    ).toBe(54)
    expect((await call('TipoDFe=0&DataDe=9999-12-31T23:59:59')).body.data.totalDeItens).toBe(0)
  })

  test('the band of an open alert is in the row, and a filter finds it', async () => {
    const { rows } = await inWorkspace({ db }, workspace.id, ({ db }) =>
      sql<{ id: bigint; alert_band: number }>`
        select id, (number % 4)::int as alert_band from document where type = 0 and number % 5 = 0`.execute(db),
    )
    await inWorkspace({ db }, workspace.id, ({ db }) => setDerived({ db }, workspace.id, ['alert_band'], rows))
    const found = async (alert: string) => (await call(`TipoDFe=0&Alerta=${alert}`)).body.data
    const bands = ['informativo', 'medio', 'alto', 'critico']
    const { items, totalDeItens } = await found('qualquer')
    expect(totalDeItens).toBe(rows.length)
    expect(items.map(({ alerta }) => alerta)).toEqual(items.map(({ numero }) => bands[numero % 4]))
    for (const [band, name] of bands.entries())
      expect((await found(name)).totalDeItens).toBe(rows.filter(({ alert_band }) => alert_band === band).length)
  })

  test('what was read of IBS and CBS is in the row, and a filter finds it', async () => {
    await inWorkspace({ db }, workspace.id, ({ db }) =>
      sql`update document
             set reform = number % 4, misfits = number % 8 = 5, ibs = case when number % 4 > 1 then number end,
                 cbs = case when number % 4 > 1 then number * 9 end
           where type = 0 and number <= 140`.execute(db),
    )
    const found = async (reform: string) => (await call(`TipoDFe=0&Reforma=${reform}`)).body.data
    for (const [name, rest, presenca] of [
      ['dispensado', 0, 'dispensado'],
      ['sem', 1, 'sem'],
      ['parcial', 2, 'parcial'],
      ['com', 3, 'com'],
    ] as const) {
      const { items, totalDeItens } = await found(name)
      expect(items.map(({ numero }) => numero % 4)).toEqual(items.map(() => rest))
      expect(totalDeItens).toBe(items.length)
      expect(items.map(({ reforma }) => reforma?.presenca)).toEqual(items.map(() => presenca))
    }
    const { items } = await found('achados')
    expect(items.map(({ numero }) => numero % 8)).toEqual(items.map(() => 5))
    expect(items[0]!.reforma).toEqual({ presenca: 'sem', ibs: null, cbs: null, achados: true })
    const [whole] = (await found('com')).items
    expect(whole!.reforma).toMatchObject({ ibs: whole!.numero / 100, cbs: (whole!.numero * 9) / 100, achados: false })
    expect(items.length).toBeGreaterThan(1)
    // Documents not read inside yet have no values.
    expect((await call('TipoDFe=0')).body.data.items.filter(({ reforma }) => reforma === null).length).toBeGreaterThan(
      0,
    )
  })

  test('what has the same date keeps its order from page to page', async () => {
    const pages = await Promise.all([1, 2].map((page) => call(`TipoDFe=0&PaginaAtual=${page}`)))
    const numbers = pages.flatMap(({ body }) => body.data.items.map(({ numero }) => numero))
    expect(new Set(numbers).size).toBe(54)
    expect((await call('TipoDFe=0&PaginaAtual=2')).body).toEqual(pages[1]!.body)
    const { body } = await call('TipoDFe=0', '/selecao')
    expect(body.data.ids).toEqual(pages.flatMap(({ body }) => body.data.items.map(({ idDfe }) => idDfe)))
  })

  test.each([
    ['a status that only CT-e have', 'TipoDFe=0&Status=7'],
    ['statuses that only NF-e have', 'TipoDFe=2&Status=4'],
    ['a part that only NF-e have', 'TipoDFe=2&TipoParticipacao=2'],
    ['a part that only CT-e have', 'TipoDFe=0&TipoParticipacao=7'],
  ])('%s: an empty page', async (_, query) => {
    const { status, body } = await call(query)
    expect(status).toBe(200)
    expect(body.data).toEqual({ items: [], totalDePaginas: 0, totalDeItens: 0, valorTotal: 0 })
  })

  test.each([
    ['TipoDFe=0&Status=9', 'Status desconhecido'],
    ['TipoDFe=0&Status=0', 'Status desconhecido'],
    ['TipoDFe=2&TipoParticipacao=8', 'TipoParticipacao desconhecido'],
    ['TipoDFe=1', 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)'],
    [
      'TipoDFe=0&DataDe=2026-03-02T00:00:00&DataAte=2026-03-01T00:00:00',
      'A data inicial deve ser anterior à data final',
    ],
    ['TipoDFe=0&DataDe=2026-02-30T00:00:00', 'DataDe não é uma data válida'],
    ['TipoDFe=0&PaginaAtual=0', 'PaginaAtual deve ser um número a partir de 1'],
  ])('%s is refused with words', async (query, message) => {
    const { status, body } = await call(query)
    expect([status, body.errors]).toEqual([400, [message]])
  })
})
