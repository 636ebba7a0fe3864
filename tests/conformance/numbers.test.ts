import type { Due } from '@vigia/contract/agenda'
import { dueDocuments, type NumberList, pendingLists } from '@vigia/contract/pending'
import type { Dashboard } from '@vigia/contract/workspace'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { dueOf, fill } from '../support/volume.ts'

// Every number of the dashboard and of Prazos is compared with the list that its link opens. apps/web/documents/list/filters.test.ts shows that the
// address and the query of such a link are the same filter.

let product: Product
let owner: pg.Client
let client: Client

// With parts that a list must leave out: an archived company, one that hides what it does not receive, answered and paid ones.
const rows = [
  // The current month has cancelled CT-e too.
  `update document set type = 2, roles = 128, status = 3
    where workspace_id = $1 and nsu % 17 = 0 and issued_at >= date_trunc('month', now() at time zone 'America/Sao_Paulo')`,
  'delete from count_month where workspace_id = $1',
  `insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
   select workspace_id, type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount)
     from document where workspace_id = $1 group by 1, 2, 3, 4, 5, 6`,
  // Authorised in the last hundred days, so that each deadline ends on some day.
  `update document set authorized_at = now() - (nsu % 2400) * interval '1 hour', complete = complete and nsu % 3 <> 0 where workspace_id = $1`,
  `update document d set answer_due_at = a.due_at, answer_due = a.due
     from document o left join lateral (${dueOf('o.type', 'o.roles', 'o.status', 'o.complete', 'o.authorized_at')}) a on true
    where d.workspace_id = $1 and o.workspace_id = $1 and o.id = d.id`,
  `update company set archived_at = now() where workspace_id = $1 and name = 'FILIAL 1 LTDA'`,
  `insert into company_family select workspace_id, id, 0, 2 from company where workspace_id = $1 and name = 'FILIAL 2 LTDA'`,
  `insert into document_reliance (workspace_id, document_id, company_id, checked_at, altered_at, altered_by)
   select workspace_id, id, company_id, now() - nsu % 2 * interval '2 hours', now() - interval '1 hour', 110111 from document where workspace_id = $1 and nsu % 7 < 3`,
  `update document set suggestion = json_build_object('tpEvento', case when nsu % 3 = 0 then 210200 else 210220 end, 'ruleId', '1', 'rule', 'Regra')
    where workspace_id = $1 and type = 0 and nsu % 5 = 0`,
  `insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, why, requested_by)
   select d.workspace_id, d.company_id, d.id, d.type, c.cnpj, d.chave, 210220, 1, 'asked', 'x', (select min(id) from account where workspace_id = $1)
     from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
    where d.workspace_id = $1 and d.type = 0 and d.nsu % 11 = 0`,
  `update document set asked = 210220, answered = true where workspace_id = $1 and type = 0 and nsu % 11 = 0`,
  `insert into alert (workspace_id, document_id, company_id, at, score, band, state, company_base, issuer_base, chave, rules, fired, learning)
   select d.workspace_id, d.id, d.company_id, d.id, 70, d.nsu / 2 % 4, (array['nova', 'em-analise', 'conhecida', 'nova', 'nova'])[1 + d.nsu % 5], left(c.cnpj, 8),
          substr(d.chave, 7, 8), d.chave, case when d.nsu % 9 = 0 then '{}' else '{S01}' end::text[], '[]', false
     from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id where d.workspace_id = $1 and d.nsu % 2 = 0`,
  `update document d set alert_band = a.band from alert a
    where d.workspace_id = $1 and a.workspace_id = $1 and a.document_id = d.id and a.state <> 'conhecida' and a.rules <> '{}'`,
  `insert into installment (workspace_id, document_id, company_id, place, due_on, amount, number, issuer, standing, paid_at)
   select workspace_id, id, company_id, 1, current_date - (nsu % 900)::int + 300, 100, '1', substr(chave, 7, 14), nsu % 13 <> 0,
          case when nsu % 5 = 0 then now() end from document where workspace_id = $1 and type = 0`,
  `insert into freight_finding (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
   select d.workspace_id, d.id, d.company_id, d.issued_at, case when d.nsu % 6 = 0 then now() + interval '1 day' else '-infinity' end, 100, f.code, 'x', '{}'
     from document d, unnest(array['fr-quilo', 'fr-valor']) f (code) where d.workspace_id = $1 and d.type = 2`,
  `insert into freight_mark (workspace_id, document_id, company_id, said_by, code, sentence)
   select f.workspace_id, f.document_id, f.company_id, (select min(id) from account where workspace_id = $1), f.code, 'x'
     from freight_finding f where f.workspace_id = $1 and f.document_id % 4 = 0`,
]

beforeAll(async () => {
  product = await startProduct({ roles: ['api'] })
  owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  client = await newClient(product)
  const { rows: found } = await owner.query('update workspace set plan = 3 returning id')
  const workspaceId: number = found[0].id
  await fill(owner, [{ workspaceId, documents: 4_000, companies: 4, suppliers: 50, currentMonth: 900, lastMonth: 900 }])
  for (const statement of rows) await owner.query(statement, [workspaceId])
}, 60_000)
afterAll(async () => {
  await owner?.end()
  await product?.[Symbol.asyncDispose]()
})

/** How many rows a list has. */
async function countIn({ path, query }: NumberList): Promise<number> {
  const params = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const { status, body } = await client.call<Record<string, unknown>>('GET', `${path}?${params}`)
  expect(status, `${path}?${params}: ${body.message}`).toBe(200)
  return ('total' in body.data ? (body.data.total as typeof body.data) : body.data).totalDeItens as number
}

const today = () => new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10)
const numbers = Object.keys(pendingLists(today())) as (keyof ReturnType<typeof pendingLists>)[]

test('each number of what is pending has a list', async () => {
  const { body } = await client.call<Dashboard>('GET', '/v1/api/Dashboard')
  expect(Object.keys(body.data.pendencias!).sort()).toEqual(numbers.sort())
})

test.each(numbers)('the list of %s has as many rows as its number says', async (name) => {
  const { body } = await client.call<Dashboard>('GET', '/v1/api/Dashboard')
  expect(body.data.pendencias![name]).toBeGreaterThan(0)
  expect(await countIn(pendingLists(today())[name])).toBe(body.data.pendencias![name])
})

test('the lists of the month, of each company and of each day have as many rows', async () => {
  const { body } = await client.call<Dashboard>('GET', '/v1/api/Dashboard')
  const { qtdNfe, qtdCte, qtdDocumentosPorEmpresa: companies, documentosPorDia: days } = body.data
  const month = today().slice(0, 7)
  const last = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString().slice(0, 10)
  const count = (TipoDFe: number, from: string, to: string, more: NumberList['query'] = {}) => {
    const query = { TipoDFe, DataDe: `${from}T00:00:00`, DataAte: `${to}T23:59:59`, ...more }
    return countIn({ path: '/v1/api/DocumentosFiscais', query, to: '' })
  }
  expect([await count(0, `${month}-01`, last), await count(2, `${month}-01`, last)]).toEqual([qtdNfe, qtdCte])
  for (const { idEmpresa: IdEmpresa = '', qtdNfe, qtdCte } of companies)
    expect([
      await count(0, `${month}-01`, last, { IdEmpresa }),
      await count(2, `${month}-01`, last, { IdEmpresa }),
    ]).toEqual([qtdNfe, qtdCte])
  for (const { dia, qtdNfe, qtdCte } of days!)
    expect([await count(0, dia, dia), await count(2, dia, dia)], dia).toEqual([qtdNfe, qtdCte])
})

test('the list of each line of Prazos has as many rows, and the sum that it says', async () => {
  const { body } = await client.call<Due[]>('GET', '/v1/api/Prazos')
  expect(new Set(body.data.map(({ tipoDFe, para }) => `${tipoDFe} ${para}`)).size).toBe(3)
  expect(body.data.length).toBeGreaterThan(30)
  for (const due of body.data) {
    const { query } = dueDocuments(due)
    const params = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const { body: list } = await client.call<{ totalDeItens: number; valorTotal: number; items: { prazo: unknown }[] }>(
      'GET',
      `/v1/api/DocumentosFiscais?${params}`,
    )
    expect({ ...due, totalDeItens: list.data.totalDeItens, valorTotal: list.data.valorTotal }).toEqual(due)
    for (const { prazo } of list.data.items) expect(prazo).toMatchObject({ para: due.para })
  }
  expect(new Set(body.data.map(({ totalDeItens }) => totalDeItens)).size).toBeGreaterThan(3)
})
