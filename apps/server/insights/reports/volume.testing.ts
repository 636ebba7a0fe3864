import type pg from 'pg'

const companies = 10
const suppliers = 20_000
const productsEach = 5
const months = 24

/**
 * Fills the sums of workspace 1 as two years of a million documents each would have: 20,000 suppliers of whom few send most, each to three of ten
 * companies, with 100,000 products; a year has 390,000 rows of suppliers and 1.9 million of products. `owner` is the login of the schema.
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
    `insert into product (workspace_id, id, issuer, code, name, ncm, unit, bare, gtin)
     select 1, i + 1, '1' || lpad((i / $2)::text, 13, '0'), i::text,
            (array['PARAFUSO', 'CANETA', 'PAPEL', 'TINTA', 'CHAPA'])[1 + i % 5] || ' MODELO ' || i % 9000, '8' || lpad((i % 2000)::text, 7, '0'), 'UN', i::text,
            case when i % 3 = 0 then '7' || lpad((i % 30000)::text, 12, '0') end
       from generate_series(0, $1::int - 1) i`,
    [suppliers * productsEach, productsEach],
  )
  // Each of `n` sells to three companies, in a little more than half of all months; the first sell most.
  const cells = (n: number) => `
    (select i, ((i + c) % ${companies} + 1) as company, month, (9e5 * power(random(), 2) * power(1 - i / ${n}.0, 3) + 100)::bigint as amount
       from generate_series(0, ${n} - 1) i, generate_series(0, 2) c,
            (select (date '2025-01-01' + make_interval(months => m))::date as month from generate_series(0, ${months} - 1) m) m
      where random() < 0.54) d`
  const kinds = [
    `'1' || lpad(i::text, 13, '0')`,
    `(array['5102', '6102', '5405', '5101', '6101', '5949'])[1 + i % 6]`,
    `'8' || lpad((i % 2000)::text, 7, '0')`,
    `(array['SP', 'PR', 'SC', 'MG', 'RJ', 'RS', 'BA', 'GO'])[1 + i % 8]`,
  ]
  // In the order of their months, as they come.
  for (const [kind, key] of kinds.entries())
    await owner.query(
      `insert into content_sum (workspace_id, company_id, month, side, kind, documents, key, value, icms, st, ipi, pis, cofins, ibs, cbs, "is", fcp)
       select 1, company, month, 0, ${kind}, count(*), ${key}, sum(amount), sum(amount * 18 / 100), 0, 0, sum(amount / 60), sum(amount / 13), 0, 0, 0, 0
         from ${cells(suppliers)} group by month, company, ${key} order by month, random()`,
    )
  await owner.query(
    `insert into product_sum (workspace_id, product_id, company_id, month, side, documents, value, quantity)
     select 1, i + 1, company, month, 0, 1 + amount / 50000, amount, 30000 from ${cells(suppliers * productsEach)} order by month, random()`,
  )
  await owner.query('vacuum analyze')
}
