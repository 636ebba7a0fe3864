import { roleNames } from '@vigia/dfe/roles'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { updateCompany } from '../../companies/companies.ts'
import type { RoleSwitch } from '../../companies/switches.ts'
import { readConfig } from '../../config.ts'
import type { Arrival } from '../../documents/arrival.ts'
import type { Filter } from '../../documents/list/filter.ts'
import { pageSize, searchDocuments } from '../../documents/list/list.ts'
import { createPrinter } from '../../documents/print/printer.ts'
import { printDocument } from '../../documents/print/printing.ts'
import { arrive, deliverTo, evento, nfeProc } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { newWorkspace, testSession } from '../../platform/testing.ts'
import { readDashboard } from './dashboard.ts'

const cnpjs = ['44555666000181', '11222333000181', '12ABC34501DE35']
const nobody = '33444555000181'
const { ctx } = await useContext()
const { db, signer, ids } = ctx
let workspaceId: number
let companies: { id: number; cnpj: string }[]

beforeEach(async () => {
  workspaceId = await newWorkspace(db)
  companies = await inWorkspace({ db }, workspaceId, async ({ db }) => {
    return db
      .insertInto('company')
      .values(
        cnpjs.map((cnpj) => ({ workspace_id: workspaceId, cnpj, name: cnpj, search: cnpj.toLowerCase(), uf: 35 })),
      )
      .returning(['id', 'cnpj'])
      .execute()
  })
})

const dayOf = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' })
const today = dayOf.format(new Date())

async function give(company: { id: number; cnpj: string }, arrivals: Arrival[]): Promise<void> {
  for (let first = 0; first < arrivals.length; first += 500)
    await deliverTo(
      ctx,
      { workspaceId, companyId: company.id, cnpj: company.cnpj },
      'nfe',
      arrivals.slice(first, first + 500),
    )
}

// Every mixture of parts that a company can have in a note, some months, some cancelled.
async function fill({ id, cnpj }: { id: number; cnpj: string }): Promise<void> {
  const notes = Array.from({ length: 40 }, (_, index) =>
    arrive(
      index + 1,
      nfeProc({
        number: index + 1,
        issuer: index & 1 ? cnpj : '55666777000181',
        issuerName: index % 5 ? 'PAPELARIA' : 'AÇOUGUE',
        recipient: index & 2 ? cnpj : nobody,
        carrier: index & 4 ? cnpj : undefined,
        amount: `${index}.37`,
        issuedAt: `${index % 3 ? today : '2026-01-20'}T10:${String(index).padStart(2, '0')}:00-03:00`,
      }),
    ),
  )
  const cancelled = [7, 12, 30].map((number, index) =>
    arrive(100 + index, evento(110111, { number, issuer: (number - 1) & 1 ? cnpj : '55666777000181' })),
  )
  await give({ id, cnpj }, [...notes, ...cancelled])
}

interface Row {
  id: bigint
  company_id: number
  roles: number
  status: number
  amount: string
  issued_at: string
  name: string
}

const everything = () =>
  inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { rows } = await sql<Row>`
      select d.id, d.company_id, d.roles, d.status, d.amount, d.issued_at, s.name
        from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
       where d.workspace_id = ${workspaceId} order by d.issued_at desc, d.id desc`.execute(db)
    return rows
  })

const turn = (companyId: number, nfe: RoleSwitch[]) =>
  inWorkspace({ db, config: readConfig({}, '/'), signer }, workspaceId, (ctx) =>
    updateCompany(ctx, testSession(workspaceId), companyId, {
      name: 'x',
      shown: { nfe, cte: [] },
    }),
  )

// The rule in plain words: a role that has no switch counts as Terceiro.
function isShown(row: Row, off: Map<number, number[]>): boolean {
  const parts = Array.from({ length: 9 }, (_, role) => role).filter((role) => row.roles & (1 << role))
  const switchedOff: number[] = off.get(row.company_id) ?? []
  return parts.some((role) => !switchedOff.includes(role < 3 ? role : 3))
}

async function all(filter: Partial<Filter>) {
  const rows: bigint[] = []
  for (let page = 1; ; page++) {
    const found = await searchDocuments({ db }, workspaceId, { TipoDFe: 0, page, ...filter })
    rows.push(...found.rows.map((row) => row.id))
    if (page * pageSize >= found.total) return { rows, total: found.total, amount: found.amount }
  }
}

test('whatever is switched off, totals, sums, pages and the dashboard are exactly what is left', async () => {
  for (const company of companies) await fill(company)
  const documents = await everything()
  expect(new Set(documents.map((row) => row.roles)).size).toBe(8)
  const role = fc.constantFrom(0, 1, 2, 3)
  const roles = fc.uniqueArray(role)
  const filter = fc.record(
    {
      TipoParticipacao: role,
      Status: fc.constantFrom(2, 3),
      company: fc.nat(2),
      DataDe: fc.constantFrom('2026-01-01T00:00:00', '2026-01-20T10:15:00', `${today}T00:00:00`, `${today}T10:20:00`),
      CampoPesquisa: fc.constant('acougue'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(roles, roles, roles, filter, async (first, second, third, { company, ...filter }) => {
      const off = new Map<number, number[]>(companies.map(({ id }, index) => [id, [first, second, third][index]!]))
      for (const [id, list] of off)
        await turn(
          id,
          roleNames.slice(0, 4).map((_, role) => [role, !list.includes(role)]),
        )
      const shown = documents.filter((row) => isShown(row, off))
      const expected = shown.filter(
        (row) =>
          (filter.Status === undefined || row.status === filter.Status) &&
          (company === undefined || row.company_id === companies[company]!.id) &&
          (filter.DataDe === undefined || row.issued_at.replace(' ', 'T') >= filter.DataDe) &&
          (filter.CampoPesquisa === undefined || row.name === 'AÇOUGUE') &&
          (filter.TipoParticipacao === undefined ||
            (row.roles & (1 << filter.TipoParticipacao)) !== 0 ||
            (filter.TipoParticipacao === 3 && row.roles === 256)),
      )
      const found = await all({ ...filter, companyId: company === undefined ? undefined : companies[company]!.id })
      expect(found.rows).toEqual(expected.map((row) => row.id))
      expect(found.total).toBe(expected.length)
      expect(Number(found.amount)).toBeCloseTo(
        expected.reduce((sum, row) => sum + Number(row.amount), 0),
        2,
      )
      const dashboard = await readDashboard({ db, ids }, workspaceId)
      // At midnight another day begins for it.
      if (dayOf.format(new Date()) !== today) return
      const ofMonth = shown.filter((row) => row.issued_at.startsWith(today.slice(0, 7)))
      expect(dashboard.qtdDocumentosPorEmpresa.map(({ qtdNfe }) => qtdNfe).sort()).toEqual(
        companies.map(({ id }) => ofMonth.filter((row) => row.company_id === id).length).sort(),
      )
      expect(dashboard.ultimosDocumentosProcessados).toHaveLength(Math.min(10, shown.length))
    }),
    { numRuns: runs(60) },
  )
})

test('a hidden document is not printed, and appears again with its switch', async () => {
  const [company] = companies as [(typeof companies)[0]]
  await give(company, [arrive(1, nfeProc({ recipient: company.cnpj }))])
  const { id } = (await everything())[0]!
  await using printer = createPrinter()
  const print = () => printDocument({ db, ids, printer }, workspaceId, ids.encode(workspaceId, id), 'nfe')
  expect((await print()).content.length).toBeGreaterThan(1_000)
  await turn(company.id, [[1, false]])
  await expect(print()).rejects.toMatchObject({ code: 'not-found', message: 'Documento não encontrado.' })
  expect((await all({})).total).toBe(0)
  // Documents that arrive meanwhile are kept as well.
  await give(company, [arrive(2, nfeProc({ number: 2, recipient: company.cnpj }))])
  expect((await all({})).total).toBe(0)
  await turn(company.id, [[1, true]])
  expect((await all({})).total).toBe(2)
  expect((await print()).content.length).toBeGreaterThan(1_000)
})
