import type { RouteDefinition } from '@vigia/contract/route'
import { routes } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { fill } from '../support/volume.ts'

// Every list of the contract is opened in workspaces with so many rows of each kind.

const full = 10_000
// None, a full page of 20, and one more than a page of 50.
const sizes = [0, 20, 51, full]

type Data = Record<string, unknown> | unknown[]
/** A call that responds with an array, and is asked for without naming anything. */
type ListRoute = RouteDefinition & { data: NonNullable<RouteDefinition['data']> }

// Arrays, and objects with one; a list is in pages where it says how to go on.
const goesOn = ['proximo', 'temMais', 'totalDePaginas']
const fieldsOf = ({ data }: ListRoute) => ('shape' in data ? (data.shape as Record<string, unknown>) : {})
const isArray = (schema: unknown) => (schema as { type?: string }).type === 'array'
const lists = routes
  .map(({ route }: { route: RouteDefinition }) => route)
  .filter((route): route is ListRoute => route.method === 'GET' && !route.params && route.data !== undefined)
  .filter((route) => isArray(route.data) || Object.values(fieldsOf(route)).some(isArray))
const inPages = lists.filter((route) => goesOn.some((name) => name in fieldsOf(route)))

// The month in Brasília, as that of the rows.
const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7)
const lastDay = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString().slice(0, 10)
const days = `DataDe=${month}-01T00:00:00&DataAte=${lastDay}T23:59:59`

// Parameters that a call does not do without, or that make all rows its rows.
const queries: Record<string, string> = {
  '/v1/api/DocumentosFiscais': `TipoDFe=0&${days}`,
  '/v1/api/DocumentosFiscais/selecao': `TipoDFe=0&${days}`,
  '/v1/api/DocumentosFiscais/fora-do-periodo': `TipoDFe=0&${days}&CampoPesquisa=filial`,
  '/v1/api/DocumentosFiscais/sugestoes': 'TipoDFe=0&CampoPesquisa=com',
  '/v1/api/DocumentosFiscais/textos-de-manifestacao': 'TipoDFe=0&tipoManifestacao=1',
  '/v1/api/Fretes': `MesDe=${month}&MesAte=${month}`,
  '/v1/api/Reforma': `Mes=${month}`,
  '/v1/api/Relatorios': `Tipo=compras&Por=produto&MesDe=${month}&MesAte=${month}`,
}

// Required parameter of a call, and a query for its value in the workspace ($1).
const named: Record<string, [parameter: string, find: string]> = {
  '/v1/api/Empresas/obter-empresa': ['id', 'select public_id as id from company where workspace_id = $1 limit 1'],
  '/v1/api/Empresas/completude': ['id', 'select public_id as id from company where workspace_id = $1 limit 1'],
  '/v1/api/Webhooks/entregas': ['idWebhook', 'select public_id as id from webhook where workspace_id = $1'],
}

// Inserts that give a workspace ($1) as many rows ($2) as documents, by call in pages; null: the
// rows are documents, or are made here.
const rowsOf: Record<string, string | null> = {
  '/v1/api/DocumentosFiscais': null,
  '/v1/api/Vencimentos': `
    insert into installment (workspace_id, document_id, company_id, place, due_on, amount, number, issuer, standing)
    select workspace_id, id, company_id, 1, current_date, 100, '1', substr(chave, 7, 14), true from document where workspace_id = $1 limit $2`,
  '/v1/api/Alertas': `
    insert into alert (workspace_id, document_id, company_id, at, score, band, company_base, issuer_base, chave, rules, fired, learning)
    select d.workspace_id, d.id, d.company_id, d.id, 70, 2, left(c.cnpj, 8), substr(d.chave, 7, 8), d.chave, '{S01}',
           '[{"id":"S01","version":1,"family":"identity","weight":0.7,"inputs":{},"compared":[],"sentence":"Fornecedor nunca visto.","learning":false}]', false
      from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id where d.workspace_id = $1 limit $2`,
  '/v1/api/Fretes': `
    insert into freight_finding (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
    select workspace_id, id, company_id, issued_at, '-infinity', 100, 'fr-quilo', 'x', '{}' from document where workspace_id = $1 limit $2`,
  '/v1/api/Relatorios': `
    with bought as (
      insert into product (workspace_id, issuer, code, name, ncm, unit, bare)
      select $1::int, '', i::text, 'PAPEL ' || i, '', 'UN', '' from generate_series(1, $2::int) i returning workspace_id, id)
    insert into product_sum (workspace_id, product_id, company_id, month, side, documents, value, quantity)
    select b.workspace_id, b.id, (select min(id) from company where workspace_id = $1), date_trunc('month', now() at time zone 'America/Sao_Paulo'), 0, 1, 100, 10000 from bought b`,
  '/v1/api/Alteracoes': `
    with changed as (
      insert into document_change (workspace_id, document_id, version, at, kind, company_id)
      select workspace_id, id, row_number() over (order by id), now(), 3, company_id from document where workspace_id = $1 limit $2 returning version)
    insert into change_position (workspace_id, version) select $1, coalesce(max(version), 0) from changed
    on conflict (workspace_id) do update set version = excluded.version`,
  '/v1/api/Webhooks/entregas': `
    with w as (insert into webhook (workspace_id, url, kinds, secret, version) values ($1, 'https://a.example/', '{}', '', 0) returning id)
    insert into webhook_delivery (workspace_id, webhook_id, kind, body, state)
    select $1, w.id, 'teste', '{}', 'failed' from w, generate_series(1, $2::int)`,
  '/v1/api/Auditoria': `
    with before as (delete from audit where workspace_id = $1)
    insert into audit (workspace_id, at, actor, action, description, search)
    select $1, now() - i * interval '1 second', 'Ana', 'login', 'Entrou ' || i, 'entrou' from generate_series(1, $2::int) i`,
  '/v1/api/Avisos': `
    with before as (delete from announcement where workspace_id = $1)
    insert into announcement (workspace_id, topic, kind, header, body)
    select $1, 'aviso', 'alert', 'Aviso', 'Texto ' || i from generate_series(1, $2::int) i`,
}

// Rows for lists without pages, whose number has no limit.
const rowsBesides = [
  `insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, why, requested_by)
   select d.workspace_id, d.company_id, d.id, d.type, c.cnpj, d.chave, 210220, 1, 'asked', 'x', (select min(id) from account where workspace_id = $1)
     from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id where d.workspace_id = $1 limit $2`,
  `insert into alert_known (workspace_id, document_id, company_id, until, said_by, rule, company_base, issuer_base)
   select d.workspace_id, d.id, d.company_id, now() + interval '1 day', (select min(id) from account where workspace_id = $1), 'S01', left(c.cnpj, 8), substr(d.chave, 7, 8)
     from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id where d.workspace_id = $1 limit $2`,
]

// A selection reaches so many documents, and refuses more with a sentence.
const reach: Record<string, number> = { '/v1/api/DocumentosFiscais/selecao': 5_000 }

let product: Product
let owner: pg.Client
const clients = new Map<number, Client>()
const workspaces = new Map<number, number>()

beforeAll(async () => {
  product = await startProduct({ roles: ['api'] })
  owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  for (const size of sizes) {
    const account = { nome: 'Ana', email: `linhas${size}@exemplo.com.br`, senha: 'segredo1' }
    clients.set(size, await newClient(product, account))
    const { rows } = await owner.query(
      'update workspace w set plan = 3 from account a where a.workspace_id = w.id and a.email = $1 returning w.id',
      [account.email],
    )
    workspaces.set(size, rows[0].id)
  }
  await fill(
    owner,
    [...workspaces].map(([size, workspaceId]) => ({
      workspaceId,
      documents: size,
      companies: size,
      suppliers: Math.min(size, 100),
      currentMonth: size,
      lastMonth: 0,
    })),
  )
  for (const [size, workspaceId] of workspaces)
    for (const statement of [...Object.values(rowsOf), ...rowsBesides])
      if (statement) await owner.query(statement, [workspaceId, size])
  await owner.query('vacuum analyze')
}, 120_000)
afterAll(async () => {
  await owner?.end()
  await product?.[Symbol.asyncDispose]()
})

type Query = Record<string, unknown>

/** Data of the response; null: the workspace has nothing to name in the call. */
async function open(size: number, { path, data: schema }: ListRoute, more: Query = {}): Promise<Data | null> {
  const query = new URLSearchParams(queries[path])
  const [parameter, find] = named[path] ?? []
  if (parameter && find) {
    const { rows } = await owner.query(find, [workspaces.get(size)])
    if (rows.length === 0) return null
    query.set(parameter, rows[0].id)
  }
  for (const [name, value] of Object.entries(more)) query.set(name, String(value))
  const { status, body } = await clients.get(size)!.call<Data>('GET', `${path}?${query}`)
  expect(status, `${query}: ${body.message}`).toBe(200)
  expect(schema.parse(body.data)).toStrictEqual(body.data)
  return body.data
}

test.each(lists.map((route) => [route.path, route] as const))('%s opens with any number of rows', async (_, route) => {
  for (const size of sizes) if (size <= (reach[route.path] ?? full)) await open(size, route)
})

test('each list in pages gets its rows here', () => {
  expect(inPages.map(({ path }) => path).sort()).toEqual(Object.keys(rowsOf).sort())
})

test.each(inPages.map((route) => [route.path, route] as const))(
  '%s has each row once in its pages',
  async (_, route) => {
    for (const size of sizes) {
      const rows: unknown[] = []
      let pages = 0
      for (let next: Query | null = {}; next && pages < 4; pages++) {
        const data = (await open(size, route, next)) as Record<string, unknown>
        const page = Object.values(data).find(Array.isArray) as Record<string, unknown>[]
        rows.push(...page)
        next = nextOf(data, page, pages + 1)
      }
      expect(new Set(rows.map((row) => JSON.stringify(row))).size, `${size} rows`).toBe(rows.length)
      if (size < full) expect(rows.length).toBe(size)
      else expect(pages).toBe(4)
    }
  },
)

// How to ask for the page after the one that has come; null: it was the last.
function nextOf(data: Record<string, unknown>, page: Record<string, unknown>[], count: number): Query | null {
  if ('proximo' in data) return data.proximo === null ? null : { depoisDe: data.proximo }
  if ('totalDePaginas' in data) return Number(data.totalDePaginas) <= count ? null : { PaginaAtual: count + 1 }
  if (!data.temMais) return null
  if ('versao' in data) return { desde: data.versao }
  const last = page.at(-1)!
  return { antesDe: last.idAviso ?? last.idEntrega }
}
