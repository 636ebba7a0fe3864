import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type pg from 'pg'

/** A workspace to be filled, and how much of it there is. */
export interface Volume {
  workspaceId: number
  documents: number
  companies: number
  suppliers: number
  /** How many of them are NF-e of the current month; then of the month before; the rest is spread over the five years before. */
  currentMonth: number
  lastMonth: number
}

/** The words inside the document `id`, as SQL: of a quarter of the documents, of a thirty-third, of a five-thousandth, and those that all kinds of items have. */
export const wordsInside = `array_remove(array[case when id % 4 = 0 then 'parafuso' end, case when id % 33 = 7 then 'inox' end, case when id % 5000 = 3 then 'zirconio' end,
    'marca' || chr(97 + (id % 23)::int) || chr(97 + (id / 23 % 5)::int), 'item' || id % 1000, 'modelo' || id % 5000, 'cod:' || id % 50000,
    'ncm:' || 10000000 + id % 300 * 1000, 'ncm:' || 40000000 + id % 70 * 1000, 'cfop:' || case when id % 3 = 0 then 6102 else 5102 end], null)`

/** Terms of issuers' names with the share of the documents that have them. */
export const terms = { rare: 'zinco', some: 'papelaria', many: 'comércio' }

/**
 * Fills workspaces as years of capture would have: documents of all of them in the order of their arrival, with the roles and statuses that
 * occur, and the counters by the statements of the product. `owner` is the login of the schema.
 */
export async function fill(owner: pg.Client, volumes: Volume[]): Promise<void> {
  await owner.query('select setseed(0.5)')
  for (const volume of volumes) {
    await addCompanies(owner, volume)
    await addSuppliers(owner, volume)
  }
  const drafts = volumes.map((volume) => draft(volume)).join(' union all ')
  await owner.query(`create temporary table draft as ${drafts}`)
  await owner.query(insertDocuments)
  await owner.query('drop table draft')
  const ids = [volumes.map(({ workspaceId }) => workspaceId)]
  await owner.query(
    `insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
     select workspace_id, type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount)
       from document where workspace_id = any ($1) group by 1, 2, 3, 4, 5, 6`,
    ids,
  )
  await owner.query(
    `insert into document_words (workspace_id, document_id, type, company_id, issued_at, words)
     select workspace_id, id, type, company_id, issued_at,
            array_to_tsvector(array(select workspace_id || case when t ~ ':' then ':' else '.' end || to_char(issued_at, 'YYMM') || t
                                         from unnest(${wordsInside}) t))
       from document where workspace_id = any ($1)`,
    ids,
  )
  await owner.query('vacuum analyze')
}

async function addCompanies(owner: pg.Client, { workspaceId, companies }: Volume): Promise<void> {
  await owner.query(
    `insert into company (workspace_id, cnpj, name, search, uf)
     select $1, lpad(i::text, 12, '0') || '00', 'FILIAL ' || i || ' LTDA', 'filial ' || i || ' ltda', 35 from generate_series(1, $2::int) i returning 1`,
    [workspaceId, companies],
  )
}

// Every fourth name has the most frequent term, every thirty-third and every five-thousandth the others; every tenth CNPJ has letters.
async function addSuppliers(owner: pg.Client, { workspaceId, suppliers }: Volume): Promise<void> {
  const rows = Array.from({ length: suppliers }, (_, index) => {
    const first12 = `${index % 10 === 0 ? 'AB' : '11'}${String((index * 7919) % 1_000_000).padStart(6, '0')}0001`
    const word =
      index % 5_000 === 3 ? terms.rare : index % 33 === 7 ? terms.some : index % 4 === 0 ? terms.many : 'indústria'
    const name = `${word} E DISTRIBUIDORA ${index}`.toUpperCase()
    return { taxId: first12 + cnpjCheckDigits(first12), name, search: plain(name) }
  })
  await owner.query(
    'insert into supplier (workspace_id, tax_id, name, search) select $1, * from unnest($2::text[], $3::text[], $4::text[]) returning 1',
    [workspaceId, rows.map(({ taxId }) => taxId), rows.map(({ name }) => name), rows.map(({ search }) => search)],
  )
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

const localMonth = `date_trunc('month', now() at time zone 'America/Sao_Paulo')`

function draft(volume: Volume): string {
  const { workspaceId, documents, companies, suppliers, currentMonth, lastMonth } = volume
  return `select ${workspaceId} as workspace_id, i, type, issued_at, role, situation,
      least((issued_at + interval '3 hours') at time zone 'UTC' + delay * interval '9 hours', now() - delay * interval '2 days') as created_at,
      (select min(id) from company where workspace_id = ${workspaceId}) + floor(${companies} * company ^ 2)::int as company_id,
      (select min(id) from supplier where workspace_id = ${workspaceId}) + floor(${suppliers} * supplier ^ 1.5)::int as supplier_id
    from (select *, date_trunc('second', month + moment * (month + interval '1 month' - interval '1 second' - month)) as issued_at
      from (select *, ${localMonth} - interval '1 month' *
                      case when i <= ${currentMonth} then 0 when i <= ${currentMonth + lastMonth} then 1 else 2 + floor(60 * ago)::int end as month
        from (select i, case when i <= ${currentMonth} or random() < 0.85 then 0 else 2 end as type, random() as ago, random() as moment,
                     random() as delay, random() as company, random() as supplier, random() as role, random() as situation
                from generate_series(1, ${documents}) i) drawn) dated) placed`
}

/** The answer that is due (`due_at`, `due`) to documents that nobody answered from here, as SQL. */
export function dueOf(type: string, roles: string, status: string, complete: string, authorized: string): string {
  return `select ${authorized} + days * interval '1 day' as due_at, due
      from (values (0, 2, '{1,2}'::int[], 10, 210210), (0, 2, '{1,2,8}', 90, 210200), (2, 128, '{1,2,7}', 45, 610110)) v (type, role, statuses, days, due)
     where v.type = ${type} and ${roles} & v.role <> 0 and ${status} = any (v.statuses) and ${authorized} > now() - days * interval '1 day'
       and (due <> 210210 or not ${complete}) order by days limit 1`
}

const insertDocuments = `
  insert into document (workspace_id, company_id, issued_at, issued_offset, created_at, authorized_at, nsu, supplier_id, number, event_code,
                        type, series, roles, status, base_status, complete, amount, chave, answer_due_at, answer_due)
  select d.workspace_id, d.company_id, d.issued_at, -180, d.created_at, d.created_at, d.i, d.supplier_id, d.i % 200000 + 1,
         case t.status when 2 then 100 when 3 then 110111 when 1 then 0 when 6 then 210200 when 4 then 210220 when 5 then 210240 when 7 then 110110 else 210210 end,
         d.type, 1, r.roles, t.status, case when t.status in (1, 3) then t.status else 2 end, t.status <> 1,
         round((exp(4 + 6 * random()))::numeric, 2),
         '35' || to_char(d.issued_at, 'YYMM') || s.tax_id || case d.type when 0 then '55' else '57' end || '001' || lpad((d.i % 200000 + 1)::text, 9, '0') || '1'
           || lpad(d.i::text, 8, '0') || d.i % 10, a.due_at, a.due
    from draft d
    join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id,
    lateral (select (case when d.type = 0 then
               case when d.role < 0.88 then 2 when d.role < 0.93 then 1 when d.role < 0.96 then 4 when d.role < 0.98 then 8 when d.role < 0.99 then 256 else 6 end
             else
               case when d.role < 0.40 then 130 when d.role < 0.60 then 128 when d.role < 0.80 then 16 when d.role < 0.90 then 2 when d.role < 0.95 then 1
                    when d.role < 0.97 then 32 when d.role < 0.99 then 64 else 8 end
             end)::smallint as roles) r,
    lateral (select (case when d.type = 0 then
               case when d.situation < 0.60 then 2 when d.situation < 0.83 then 8 when d.situation < 0.93 then 6 when d.situation < 0.97 then 1 when d.situation < 0.995 then 3
                    when d.situation < 0.998 then 4 else 5 end
             else case when d.situation < 0.94 then 2 when d.situation < 0.97 then 3 else 7 end end)::smallint as status) t
    left join lateral (${dueOf('d.type', 'r.roles', 't.status', 't.status <> 1', 'd.created_at')}) a on true
   order by d.created_at`
