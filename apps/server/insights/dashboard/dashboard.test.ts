import { Dashboard } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { showOnly } from '../../companies/testing.ts'
import { chaveOf, cteChaveOf, decideAll } from '../../documents/testing.ts'
import type { Context } from '../../platform/context.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { endTrouble, noteTrouble } from '../../platform/trouble.ts'
import { dashboardRoutes } from './dashboard.ts'

const { ctx } = await useContext()
let workspaceId: number
let companies: { id: number; publicId: string }[]

beforeEach(async () => {
  workspaceId = await newWorkspace(ctx.db)
  companies = await inside((db) =>
    db
      .insertInto('company')
      .values(
        ['44555666000181', '12ABC34501DE35'].map((cnpj, n) => ({
          workspace_id: workspaceId,
          cnpj,
          name: `EMPRESA ${n}`,
          search: `empresa ${n}`,
          uf: 35,
        })),
      )
      .returning(['id', 'public_id as publicId'])
      .execute(),
  )
})

const inside = <T>(work: (db: Context['db']) => Promise<T>) => inWorkspace(ctx, workspaceId, ({ db }) => work(db))

async function read(): Promise<Dashboard> {
  const [found] = dashboardRoutes.filter(({ route }) => route.path.endsWith('Dashboard'))
  const input = { params: undefined, query: undefined, body: undefined, form: undefined }
  const { data } = (await found!.run(ctx, input, testSession(workspaceId), testCaller)) as { data: unknown }
  return Dashboard.parse(data)
}

const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' })
const today = day.format(new Date())
const daysAgo = (n: number) => new Date(Date.parse(today) - n * 86_400_000).toISOString().slice(0, 10)
const month = today.slice(0, 7)
const monthBefore = new Date(Date.parse(`${month}-01`) - 86_400_000).toISOString().slice(0, 7)

interface Fact {
  company: number
  type: 0 | 2
  /** Time of issue. */
  at: string
  roles: number
  status: number
  authorized?: string
}

async function add(facts: Fact[]): Promise<void> {
  await inside(async (db) => {
    const supplier = { workspace_id: workspaceId, tax_id: '11222333000181', name: 'FORNECEDOR', search: 'fornecedor' }
    const { id } = await db.insertInto('supplier').values(supplier).returning('id').executeTakeFirstOrThrow()
    await sql`
      insert into document (workspace_id, company_id, issued_at, nsu, supplier_id, number, event_code, type, series, roles, status, base_status, complete,
                            amount, chave, created_at, authorized_at)
      select ${workspaceId}, (f->>'company')::int, (f->>'at')::timestamp, n, ${id}, n, 100, (f->>'type')::smallint, 1, (f->>'roles')::smallint,
             (f->>'status')::smallint, 2, true, n + 0.37, f->>'chave', now() - interval '3 days', (f->>'authorized')::timestamptz
        from json_array_elements(${JSON.stringify(facts.map(withChave))}::json) with ordinality as x (f, n)
      returning id`.execute(db)
    await decideAll({ db }, workspaceId)
  })
}

const withChave = (fact: Fact, index: number) => ({
  ...fact,
  chave: (fact.type === 0 ? chaveOf : cteChaveOf)({ number: index + 1 }),
})

// As the ingestion keeps them.
async function count(): Promise<void> {
  await inside((db) =>
    sql`
      insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
      select workspace_id, type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount)
        from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5, 6`.execute(db),
  )
}

const nothing = () => ({
  qtdNfe: 0,
  qtdCte: 0,
  totalNfeCte: 0,
  qtdEmpresasCadastradas: 2,
  valorNfe: 0,
  valorCte: 0,
  mesAnterior: { qtdNfe: 0, qtdCte: 0, valorNfe: 0, valorCte: 0 },
  qtdDocumentosPorEmpresa: companies.map(({ publicId }, n) => ({
    razaoSocial: `EMPRESA ${n}`,
    qtdNfe: 0,
    qtdCte: 0,
    totalNfeCte: 0,
    ativa: true,
    idEmpresa: publicId,
    valorNfeCte: 0,
  })),
  ultimosDocumentosProcessados: [],
  documentosPorDia: Array.from({ length: Number(today.slice(8)) }, (_, n) => ({
    dia: `${month}-${String(n + 1).padStart(2, '0')}`,
    qtdNfe: 0,
    qtdCte: 0,
  })),
  pendencias: {
    resumos: 0,
    aguardandoResposta: 0,
    canceladasNfe: 0,
    canceladosCte: 0,
    vencemNfe: 0,
    vencemCte: 0,
    mudaramNfe: 0,
    mudaramCte: 0,
    confirmacoesSugeridas: 0,
    desconhecimentosPreparados: 0,
    aguardamSegunda: 0,
    alertas: 0,
    alertasCriticos: 0,
    alertasAltos: 0,
    alertasMedios: 0,
    parcelasVencidas: 0,
    fretesAConferir: 0,
  },
  avisos: [],
  armazenamentoSaudavel: true,
  envioRetido: false,
})

test('a workspace without documents has every day of the month, with zeros', async () => {
  expect(await read()).toEqual(nothing())
})

test('a workspace without companies has nothing at all', async () => {
  workspaceId = await newWorkspace(ctx.db)
  expect(await read()).toEqual({ ...nothing(), qtdEmpresasCadastradas: 0, qtdDocumentosPorEmpresa: [] })
})

test('what is wrong with the installation is told to everybody whom it concerns', async () => {
  await noteTrouble(ctx, 'espaco', 'O disco sdb1 está cheio.')
  await noteTrouble(ctx, 'paradas', '7 capturas pararam.')
  const { avisos, armazenamentoSaudavel } = await read()
  expect(armazenamentoSaudavel).toBe(false)
  expect(avisos).toEqual([
    expect.stringMatching(/^A captura está em pausa .* estão seguros, .* não precisa fazer nada\.$/),
  ])
  await endTrouble(ctx, 'espaco')
  await endTrouble(ctx, 'paradas')
  expect((await read()).avisos).toEqual([])
})

/** Documents of every day around the edges, of every role and status; the same for each run of a day. */
function manyFacts(): Fact[] {
  const facts: Fact[] = []
  let n = 0
  for (const ago of [-40, -1, 0, 1, 2, 10, 19, 20, 29, 30, 31, 45, 60, 75, 85, 88, 89, 90, 91, 120, 400])
    for (const type of [0, 2] as const)
      for (const status of [1, 2, 3, 6, 7, 8])
        for (const roles of [2, 4, 8, 6]) {
          n++
          const time = n % 3 === 0 ? '00:00:00' : n % 3 === 1 ? '12:30:00' : '23:59:59'
          facts.push({ company: companies[n % 2]!.id, type, at: `${daysAgo(ago)} ${time}`, roles, status })
        }
  return facts
}

test.each([
  ['nothing is hidden', 511, 511],
  ['a company hides what it carries', 511 & ~4, 511],
  ['a company shows only what it receives', 2, 2],
])('the numbers are those of the documents that are shown: %s', async (_, nfe, cte) => {
  const facts = manyFacts()
  await add(facts)
  await count()
  const hiding = companies[0]!.id
  await showOnly(ctx.db, workspaceId, { nfe, cte, companyId: hiding })
  const shown = facts.filter(({ company, type, roles }) => company !== hiding || roles & (type === 0 ? nfe : cte))
  const is = (type: 0 | 2, rest: (fact: Fact & { day: string }) => boolean) =>
    shown.filter((fact) => fact.type === type && rest({ ...fact, day: fact.at.slice(0, 10) })).length
  const inMonth = ({ day }: { day: string }) => day.startsWith(month)
  const before = ({ day }: { day: string }) => day.startsWith(monthBefore)
  const worth = (type: 0 | 2, rest: (fact: { day: string; company: number }) => boolean) =>
    facts.reduce((sum, fact, index) => {
      const isIn = fact.type === type && shown.includes(fact) && rest({ ...fact, day: fact.at.slice(0, 10) })
      return isIn ? sum + index + 1.37 : sum
    }, 0)
  const lately = ({ day }: { day: string }) => day >= daysAgo(89) && day <= today

  const dashboard = await read()
  expect(dashboard.documentosPorDia).toEqual(
    nothing().documentosPorDia.map(({ dia }) => ({
      dia,
      qtdNfe: is(0, ({ day }) => day === dia),
      qtdCte: is(2, ({ day }) => day === dia),
    })),
  )
  expect(dashboard.pendencias).toEqual({
    ...nothing().pendencias,
    resumos: is(0, (fact) => fact.status === 1 && lately(fact)),
    aguardandoResposta: is(0, (fact) => fact.status === 8 && lately(fact)),
    canceladasNfe: is(0, (fact) => fact.status === 3 && inMonth(fact)),
    canceladosCte: is(2, (fact) => fact.status === 3 && inMonth(fact)),
  })
  expect(dashboard.valorNfe).toBeCloseTo(worth(0, inMonth), 2)
  expect(dashboard.valorCte).toBeCloseTo(worth(2, inMonth), 2)
  expect(dashboard.mesAnterior).toEqual({
    qtdNfe: is(0, before),
    qtdCte: is(2, before),
    valorNfe: expect.closeTo(worth(0, before), 2),
    valorCte: expect.closeTo(worth(2, before), 2),
  })
  expect(dashboard.pendencias?.resumos).toBeGreaterThan(20)
  expect([dashboard.qtdNfe, dashboard.qtdCte]).toEqual([is(0, inMonth), is(2, inMonth)])
  for (const { id, publicId } of companies) {
    const row = dashboard.qtdDocumentosPorEmpresa.find(({ idEmpresa }) => idEmpresa === publicId)
    const own = (fact: { day: string; company: number }) => fact.company === id && inMonth(fact)
    expect(row?.qtdNfe).toBe(is(0, own))
    expect(row?.valorNfeCte).toBeCloseTo(worth(0, own) + worth(2, own), 2)
  }
})

test('what can be answered until tomorrow at most is counted, and not what is answered, over, later or hidden', async () => {
  const [one, other] = companies.map(({ id }) => id) as [number, number]
  const days = (count: number) => count * 86_400_000
  // Authorised so that the days of the deadline end `inHours` from now; issued seven days before, in contingency.
  const fact = (type: 0 | 2, deadlineDays: number, inHours: number, rest: Partial<Fact> = {}): Fact => {
    const authorized = Date.now() - days(deadlineDays) + inHours * 3_600_000
    const at = new Date(authorized - days(7)).toISOString().slice(0, 19)
    return {
      company: one,
      type,
      at,
      roles: type === 0 ? 2 : 128,
      status: 2,
      authorized: new Date(authorized).toISOString(),
      ...rest,
    }
  }
  await add([
    fact(0, 90, 1),
    fact(0, 90, 23, { status: 8 }),
    fact(0, 90, 1, { status: 6 }),
    fact(0, 90, -1),
    fact(0, 90, 49),
    fact(0, 90, 1, { roles: 4 }),
    fact(0, 90, 1, { company: other }),
    fact(2, 45, 1),
    fact(2, 45, 49),
    fact(2, 90, 1),
  ])
  await count()
  expect((await read()).pendencias).toMatchObject({ vencemNfe: 3, vencemCte: 1 })
  await showOnly(ctx.db, workspaceId, { nfe: 0, companyId: other })
  expect((await read()).pendencias).toMatchObject({ vencemNfe: 2, vencemCte: 1 })
})

test('the company of most documents comes first, and of equal ones the first by name', async () => {
  const names = async () => (await read()).qtdDocumentosPorEmpresa.map(({ razaoSocial }) => razaoSocial)
  const fact = { at: `${today} 00:00:00`, roles: 2, status: 2 }
  const [one, other] = companies.map(({ id }) => id) as [number, number]
  await add([
    { ...fact, type: 0, company: one },
    { ...fact, type: 0, company: other },
    { ...fact, type: 2, company: other },
  ])
  expect(await names()).toEqual(['EMPRESA 0', 'EMPRESA 1'])
  await count()
  expect(await names()).toEqual(['EMPRESA 1', 'EMPRESA 0'])
})

test('the latest are those that arrived today and are shown, the newest first, each with its id', async () => {
  const fact = { type: 0, at: '2020-01-01 00:00:00', roles: 2, status: 2 } as const
  const [one, other] = companies.map(({ id }) => id) as [number, number]
  await add(Array.from({ length: 30 }, (_, n) => ({ ...fact, company: n % 2 ? one : other, roles: n % 2 ? 4 : 2 })))
  await inside((db) =>
    sql`update document set created_at = (${new Date().toISOString().slice(0, -1)}::timestamp - interval '1 microsecond' * number) at time zone 'UTC'
         where workspace_id = ${workspaceId} and number > 2`.execute(db),
  )
  await showOnly(ctx.db, workspaceId, { nfe: 511 & ~4, companyId: one })
  const { rows } = await inside((db) =>
    sql<{ id: bigint; number: number }>`select id, number::int from document`.execute(db),
  )
  const shown = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21]
  const { ultimosDocumentosProcessados: latest } = await read()
  expect(latest.map(({ idDfe }) => ctx.ids.decode(workspaceId, idDfe!))).toEqual(
    shown.map((number) => rows.find((row) => row.number === number)!.id),
  )
  expect(latest[0]).toMatchObject({ tipoDfe: 0, nomeEmitente: 'FORNECEDOR', chaveDfe: chaveOf({ number: 3 }) })
})
