import type pg from 'pg'

// How much there is in a workspace of a million documents a year.
const companies = 10
const suppliers = 20_000
const productsEach = 5
const documentsEach = 1_000_000
const months = 24

/**
 * Fills the sums of workspace 1 as two years of a million documents each would have: 20,000 suppliers of whom few send most, each to three of ten
 * companies, with 100,000 products. `owner` is the login of the schema.
 */
export async function fillSums(owner: pg.Client): Promise<void> {
  await owner.query('select setseed(0.5)')
  await owner.query(`insert into workspace (id, name, plan) values (1, 'bench', 3)`)
  await owner.query(
    `insert into company (id, workspace_id, cnpj, name, search, uf)
     select i, 1, lpad(i::text, 14, '0'), 'FILIAL ' || i, 'filial ' || i, 35 from generate_series(1, $1::int) i`,
    [companies],
  )
  await owner.query(
    `insert into supplier (workspace_id, tax_id, name, search)
     select 1, '1' || lpad(i::text, 13, '0'), 'FORNECEDOR ' || i || ' LTDA', 'fornecedor ' || i || ' ltda' from generate_series(0, $1::int - 1) i`,
    [suppliers],
  )
  await owner.query(
    `insert into product (workspace_id, id, key, issuer, code, name, ncm, unit, gtin)
     select 1, i + 1, gen_random_uuid(), '1' || lpad((i / $2)::text, 13, '0'), i::text,
            (array['PARAFUSO', 'CANETA', 'PAPEL', 'TINTA', 'CHAPA'])[1 + i % 5] || ' MODELO ' || i % 9000, '8' || lpad((i % 2000)::text, 7, '0'), 'UN',
            case when i % 3 = 0 then '7' || lpad((i % 30000)::text, 12, '0') end
       from generate_series(0, $1::int - 1) i`,
    [suppliers * productsEach, productsEach],
  )
  await owner.query(
    `create temporary table draft as
     select s, (date '2025-01-01' + make_interval(months => m))::date as month, 1 + (s + floor(c * c * 3)::int) % ${companies} as company, amount
       from (select floor(power(random(), 3) * ${suppliers})::int as s, i % ${months} as m, random() as c, (random() * 900000)::bigint + 1000 as amount
               from generate_series(1, ${(documentsEach * months) / 12}) i) d`,
  )
  const kinds = [
    `'1' || lpad(s::text, 13, '0')`,
    `(array['5102', '6102', '5405', '5101', '6101', '5949'])[1 + s % 6]`,
    `'8' || lpad((s % 2000)::text, 7, '0')`,
    `(array['SP', 'PR', 'SC', 'MG', 'RJ', 'RS', 'BA', 'GO'])[1 + s % 8]`,
  ]
  for (const [kind, key] of kinds.entries())
    await owner.query(
      `insert into content_sum (workspace_id, company_id, month, side, kind, documents, key, value, icms, st, ipi, pis, cofins, ibs, cbs, "is", fcp)
       select 1, company, month, 0, ${kind}, count(*), ${key}, sum(amount), sum(amount * 18 / 100), 0, 0, sum(amount / 60), sum(amount / 13), 0, 0, 0, 0
         from draft group by month, company, ${key} order by month, random()`,
    )
  await owner.query(
    `insert into product_sum (workspace_id, product_id, company_id, month, side, documents, value, quantity)
     select 1, p, company, month, 0, count(*), sum(amount / 8), count(*) * 3
       from (select s * ${productsEach} + floor(power((i * 0.618 + amount * 0.001) % 1, 2) * ${productsEach})::int + 1 as p, company, month, amount
               from draft, generate_series(1, 8) i) l
      group by p, month, company order by month, random()`,
  )
  await owner.query('drop table draft')
  await owner.query('vacuum analyze')
}
