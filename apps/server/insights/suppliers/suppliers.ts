import { presence } from '@vigia/checks/reform/findings'
import { alertBands } from '@vigia/contract/alerts'
import type { RouteData } from '@vigia/contract/route'
import { type listSupplierProducts, type Supplier, supplierMax } from '@vigia/contract/suppliers'
import { families } from '@vigia/dfe/families/all'
import { keyOf, statusNames } from '@vigia/dfe/families/lookup'
import { ufByCode } from '@vigia/dfe/uf'
import { type RawBuilder, sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { sumKinds } from '../../documents/contents/sums.ts'
import { isIssuer } from '../../documents/list/filter.ts'
import { eventName } from '../../documents/list/rows.ts'
import { countWaiting } from '../../documents/unread.ts'
import { dueSince } from '../../documents/workflow/installments.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { serviceOf } from '../../platform/service.ts'
import { likeLiteral, searchable } from '../../platform/text.ts'
import { byBand, gravestFirst, isOpen, ruleName } from '../alerts/list.ts'

// Everything about one issuer of documents, read from what other slices write. It writes nothing.

type ReadContext = Pick<Context, 'db' | 'ids'>

export interface Chosen {
  workspaceId: number
  /** Root of a CNPJ, or a CPF. */
  issuer: string
  companyId: number | undefined
}

// An issuer of more names and establishments than this is told without the rest.
const namesMax = 500
const establishmentsMax = 100
const alertsMax = 5
const productsEach = 50

/** `shown`: conditions on `document d`, for documents of the company that its switches do not hide. */
type About = Chosen & { shown: RawBuilder<unknown>[] }

export async function getSupplier(ctx: ReadContext, chosen: Chosen): Promise<Supplier> {
  const { db } = ctx
  const { workspaceId, issuer } = chosen
  const hiding = await readHiding({ db }, workspaceId)
  const about = { ...chosen, shown: [...ofCompany('d.company_id', chosen), ...shownConditions(hiding, 'd')] }
  const names = await readNames(ctx, about)
  const [last] = names
  if (!last) throw notThere()
  const first = names.reduce((one, other) => (other.first.emissao < one.first.emissao ? other : one))
  const ids = names.map(({ id }) => id)
  const documents = documentsOf(about, ids)
  const lately = sql`${documents} and d.issued_at >= ${since(supplierMax.months)}`
  const toPlace = ({ id, ...end }: End) => ({ idDFe: ctx.ids.encode(workspaceId, BigInt(id)), ...end })
  const establishments = [...Map.groupBy(names, ({ taxId }) => taxId)]
  const waiting = await countWaiting({ db }, workspaceId)
  return {
    raiz: issuer,
    nome: last.name,
    estabelecimentos: establishments.slice(0, establishmentsMax).map(([taxId, same]) => ({
      cnpjCpf: taxId,
      nomes: same.map(({ name }) => name),
      uf: ufByCode(keyOf(same[0]!.last.chave).place.slice(0, 2))?.uf ?? null,
      ultimaEmissao: same[0]!.last.emissao,
    })),
    totalDeEstabelecimentos: establishments.length,
    primeiro: toPlace(first.first),
    ultimo: toPlace(last.last),
    ...(await readSums(ctx, chosen)),
    situacoes: await countStatuses(ctx, lately),
    alertas: await readAlerts(ctx, about, ids),
    recentes: await readRecent(ctx, workspaceId, documents),
    vencimentos: await readDue(ctx, about),
    faltaLer: waiting,
  }
}

const notThere = () =>
  new AppError('not-found', 'Nenhum documento deste fornecedor está aqui, ou você não vê as empresas que os receberam.')

type End = Omit<Supplier['ultimo'], 'idDFe'> & { id: string }

interface Name {
  id: number
  taxId: string
  name: string
  first: End
  last: End
}

const ofCompany = (column: string, { companyId }: Chosen): RawBuilder<unknown>[] =>
  companyId === undefined ? [] : [sql`${sql.ref(column)} = ${companyId}`]

const every = (conditions: RawBuilder<unknown>[]) => sql.join(conditions, sql` and `)

async function readNames({ db }: WithDatabase, { workspaceId, issuer, shown }: About): Promise<Name[]> {
  // Looks up each family by itself, in the order of the index.
  const end = (direction: RawBuilder<unknown>) => sql`(
    select json_build_object('id', e.id::text, 'tipoDFe', e.type, 'chave', e.chave, 'emissao', to_char(e.issued_at, 'YYYY-MM-DD"T"HH24:MI:SS'))
      from unnest(${families.map(({ code }) => code)}::int[]) t (type)
      cross join lateral (
        select d.id, d.type, d.chave, d.issued_at from document d
         where ${every([sql`d.workspace_id = ${workspaceId}`, sql`d.supplier_id = s.id`, sql`d.type = t.type`, ...shown])}
         order by d.issued_at ${direction}, d.id ${direction} limit 1) e
     order by e.issued_at ${direction}, e.id ${direction} limit 1)`
  const { rows } = await sql<Name>`
    select * from (
      select s.id, s.tax_id as "taxId", s.name, ${end(sql`asc`)} as first, ${end(sql`desc`)} as last
        from supplier s where s.workspace_id = ${workspaceId} and ${isIssuer('s.tax_id', issuer)}
       order by s.id desc limit ${namesMax}) n
     where n.last is not null order by n.last ->> 'emissao' desc, n.id desc`.execute(db)
  return rows
}

// Shown documents of the suppliers, as `from` and `where` of a row `d`.
const documentsOf = ({ workspaceId, shown }: About, supplierIds: number[]) => sql`from document d
    where ${every([sql`d.workspace_id = ${workspaceId}`, sql`d.supplier_id = any (${supplierIds}::int[])`, ...shown])}`

const thisMonth = sql`date_trunc('month', now() at time zone 'America/Sao_Paulo')::date`
const since = (months: number) => sql`(${thisMonth} - ${`${months - 1} months`}::interval)::date`

interface MonthSums {
  month: string
  side: number
  n: number
  value: number
  ibs: number
  cbs: number
  lately: boolean
}

// Sums of complete documents that stand, including those that switches hide. Numbers hold their cents exactly.
async function readSums({ db }: WithDatabase, chosen: Chosen): Promise<Pick<Supplier, 'meses' | 'dozeMeses'>> {
  const { workspaceId, issuer } = chosen
  const company = ofCompany('x.company_id', chosen)
  const { rows } = await sql<MonthSums>`
    select to_char(x.month, 'YYYY-MM') as month, x.side, sum(x.documents)::int as n, sum(x.value)::float8 as value, sum(x.ibs)::float8 as ibs,
           sum(x.cbs)::float8 as cbs, x.month >= ${since(12)} as lately
      from content_sum x
     where ${every([sql`x.workspace_id = ${workspaceId}`, sql`x.kind = ${sql.lit(sumKinds.issuer)}`, isIssuer('x.key', issuer), sql`x.month >= ${since(supplierMax.months)}`, sql`x.side in (0, 2)`, ...company])}
     group by x.month, x.side order by x.month, x.side`.execute(db)
  const { rows: all } = await sql<{ value: number }>`
    select coalesce(sum(x.value), 0)::float8 as value from content_sum x
     where ${every([sql`x.workspace_id = ${workspaceId}`, sql`x.side = 0`, sql`x.kind = ${sumKinds.uf}`, sql`x.month >= ${since(12)}`, ...company])}`.execute(
    db,
  )
  const of = (side: number, month: string) => {
    const { n = 0, value = 0 } = rows.find((one) => one.month === month && one.side === side) ?? {}
    return { totalDeItens: n, valorTotal: value / 100 }
  }
  const total = (column: 'value' | 'ibs' | 'cbs', some = rows) =>
    some.reduce((sum, row) => sum + (row.lately ? row[column] : 0), 0)
  const bought = total(
    'value',
    rows.filter(({ side }) => side === 0),
  )
  const purchases = all[0]!.value
  return {
    meses: [...new Set(rows.map(({ month }) => month))].map((month) => ({
      mes: month,
      notas: of(0, month),
      fretes: of(2, month),
    })),
    dozeMeses: {
      valorTotal: total('value') / 100,
      participacao: purchases > 0 ? Math.floor((bought * 1e6) / purchases) / 1e6 : null,
      valorIbs: total('ibs') / 100,
      valorCbs: total('cbs') / 100,
    },
  }
}

async function countStatuses({ db }: WithDatabase, documents: RawBuilder<unknown>): Promise<Supplier['situacoes']> {
  const { rows } = await sql<Omit<Supplier['situacoes'][number], 'nome'>>`
    select d.type as "tipoDFe", d.status, count(*)::int as "totalDeItens" ${documents} group by 1, 2 order by 1, 3 desc, 2`.execute(
    db,
  )
  return rows.map((row) => ({ ...row, nome: statusNames[row.status] ?? 'Desconhecida' }))
}

async function readAlerts(
  { db, ids }: ReadContext,
  { workspaceId, issuer, shown }: About,
  supplierIds: number[],
): Promise<Supplier['alertas']> {
  const these = sql`from alert a join document d on d.workspace_id = a.workspace_id and d.id = a.document_id
    where ${every([sql`a.workspace_id = ${workspaceId}`, sql`a.issuer_base = ${issuer}`, sql`d.supplier_id = any (${supplierIds}::int[])`, isOpen, ...shown])}`
  const { rows: counted } = await sql<{ band: number; n: number }>`
    select a.band, count(*)::int as n ${these} group by 1`.execute(db)
  const { rows: newest } = await sql<{ id: bigint; type: number; number: number; band: number; rules: string[] }>`
    select d.id, d.type, d.number::float8 as number, a.band, a.rules ${these} order by ${gravestFirst} limit ${alertsMax}`.execute(
    db,
  )
  return {
    abertos: byBand(counted),
    ultimos: newest.map(({ id, type, number, band, rules }) => ({
      idDFe: ids.encode(workspaceId, id),
      tipoDFe: type,
      numero: number,
      faixa: alertBands[band]!,
      regras: rules.map(ruleName),
    })),
  }
}

async function readRecent(
  { db }: WithDatabase,
  workspaceId: number,
  documents: RawBuilder<unknown>,
): Promise<Supplier['recentes']> {
  const last = sql`last as materialized (
    select d.id, d.company_id, d.chave ${documents} order by d.issued_at desc, d.id desc limit ${supplierMax.documents})`
  const { rows: events } = await sql<{ type: number; tpEvento: number; n: number }>`
    with ${last}
    select e.type, e.tp_evento as "tpEvento", count(distinct l.id)::int as n
      from last l join document_event e on e.workspace_id = ${workspaceId} and e.company_id = l.company_id and e.chave = l.chave
     where e.rank > 0 and not e.undone and e.known group by 1, 2 order by 3 desc, 2`.execute(db)
  const { rows: taxes } = await sql<{ reform: number | null; n: number; found: number }>`
    with ${last}
    select d.reform, count(*)::int as n, (count(*) filter (where f.found is not null))::int as found
      from last l join document d on d.workspace_id = ${workspaceId} and d.id = l.id
      left join document_facts f on f.workspace_id = ${workspaceId} and f.document_id = l.id
      group by 1`.execute(db)
  const of = (reform: number) => taxes.find((row) => row.reform === reform)?.n ?? 0
  const sum = (pick: (row: (typeof taxes)[number]) => number) => taxes.reduce((sum, row) => sum + pick(row), 0)
  return {
    totalDeItens: sum(({ n }) => n),
    eventos: events.map(({ type, tpEvento, n }) => ({
      tpEvento,
      nome: eventName(serviceOf(type), tpEvento),
      totalDeItens: n,
    })),
    reforma: {
      dispensados: of(presence.exempt),
      sem: of(presence.none),
      parciais: of(presence.some),
      completos: of(presence.all),
      comAchados: sum(({ found }) => found),
    },
  }
}

async function readDue({ db }: WithDatabase, { workspaceId, issuer, shown }: About): Promise<Supplier['vencimentos']> {
  const isLate = sql`i.due_on < (now() at time zone 'America/Sao_Paulo')::date`
  const sumOf = (which: RawBuilder<unknown>) =>
    sql`json_build_object('totalDeItens', count(*) filter (where ${which}), 'valorTotal', coalesce(sum(i.amount) filter (where ${which}), 0) / 100)`
  const { rows } = await sql<Supplier['vencimentos']>`
    select ${sumOf(sql`true`)} as abertas, ${sumOf(isLate)} as vencidas, nullif(min(i.due_on) filter (where not ${isLate}), 'infinity')::text as proximo
      from installment i join document d on d.workspace_id = i.workspace_id and d.id = i.document_id
     where ${every([sql`i.workspace_id = ${workspaceId}`, isIssuer('i.issuer', issuer), sql`i.standing`, sql`i.paid_at is null`, sql`i.due_on >= ${dueSince()}::date`, ...shown])}`.execute(
    db,
  )
  return rows[0]!
}

type Products = RouteData<typeof listSupplierProducts>

const accents = ['áàâãäéèêëíìîïóòôõöúùûüçñ', 'aaaaaeeeeiiiiooooouuuucn']

export async function listProducts(
  { db }: WithDatabase,
  chosen: Chosen,
  { text, page }: { text: string; page: number },
): Promise<Products> {
  const { workspaceId, issuer } = chosen
  const words = searchable(text)
    .split(' ')
    .filter((word) => word !== '')
    .slice(0, 10)
    .map((word) => {
      const part = `%${likeLiteral(word)}%`
      return sql`(translate(lower(p.name), ${accents[0]}, ${accents[1]}) like ${part} or lower(p.code) like ${part} or p.ncm like ${part} or p.gtin like ${part})`
    })
  const these = sql`from product p where ${every([sql`p.workspace_id = ${workspaceId}`, isIssuer('p.issuer', issuer), ...words])}`
  const { rows: beyond } = await sql`select ${these} offset ${supplierMax.products} limit 1`.execute(db)
  const { rows } = await sql<Products['items'][number] & { count: number }>`
    select p.id as "idProduto", p.code as codigo, p.name as nome, p.ncm, p.unit as unidade, m.*, count(*) over ()::int as count
      from (select p.* ${these} order by p.id desc limit ${supplierMax.products}) p
      cross join lateral (
        select sum(x.documents)::int as "totalDeDocumentos", trim_scale(sum(x.quantity))::text as quantidade,
               (sum(x.value) / 100)::float8 as "valorTotal", to_char(max(x.month), 'YYYY-MM') as "ultimoMes",
               ((array_agg(x.price order by x.month desc))[1])::float8 as "ultimoPreco", min(x.price)::float8 as "menorPreco",
               max(x.price)::float8 as "maiorPreco"
          from (select x.month, sum(x.documents) as documents, sum(x.value) as value, sum(x.quantity) / 10000.0 as quantity,
                       round(sum(x.value) / nullif(sum(x.quantity) / 10000.0, 0) / 100, 4) as price
                  from product_sum x
                 where ${every([sql`x.workspace_id = ${workspaceId}`, sql`x.product_id = p.id`, sql`x.side = 0`, sql`x.month >= ${since(supplierMax.months)}`, ...ofCompany('x.company_id', chosen)])}
                 group by x.month) x) m
     where m."totalDeDocumentos" > 0
     order by m."valorTotal" desc, p.id limit ${productsEach} offset ${(page - 1) * productsEach}`.execute(db)
  const count = rows[0]?.count ?? 0
  return {
    items: rows.map(({ count: _, ...item }) => item),
    totalDeItens: count,
    incompleto: beyond.length > 0,
    totalDePaginas: Math.ceil(count / productsEach),
  }
}
