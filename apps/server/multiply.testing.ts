import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type pg from 'pg'
import { terms } from '../../tests/support/volume.ts'

// Very many documents, made from few that came in as in a capture. Each row that the product made of these is written again under other keys: another
// workspace, company, issuer, chave, number, amount, position and date. What does not depend on the keys, the received bytes among it, stays.

/** A workspace that is to be filled. */
export interface Share {
  workspaceId: number
  documents: number
  companies: number
  suppliers: number
}

/** Where a docZip of the originals stands, and which chave it is about. */
export interface Place {
  companyId: number
  service: number
  nsu: bigint
  chave: string
}

const years = 5
const changesKeptDays = 90
// More docZips than came about any chave.
const stride = 16

/** Takes what the product made of the docZips at these places of a workspace; the workspace stays as it is. */
export async function takeOriginals(owner: pg.Client, workspaceId: number, places: readonly Place[]): Promise<void> {
  const one = (column: keyof Place) => places.map((place) => place[column])
  await owner.query('create schema multiply')
  await owner.query(
    `create table multiply.place as
     select *, row_number() over (partition by company_id, chave order by nsu)::int as ord
       from unnest($1::int[], $2::smallint[], $3::bigint[], $4::text[]) p (company_id, service, nsu, chave)`,
    [one('companyId'), one('service'), one('nsu'), one('chave')],
  )
  await owner.query(
    `create table multiply.original as
     select d.*, p.ord, s.name as issuer_name,
            (select r.issuer_certificate_id from receipt r where r.workspace_id = d.workspace_id and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu)
              as certificate_id
       from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
       join multiply.place p on p.company_id = d.company_id and p.service = d.type and p.nsu = d.nsu and p.chave = d.chave
      where d.workspace_id = ${workspaceId}`,
  )
  // Most documents that people have are complete.
  await owner.query(
    `create table multiply.choice as
     select o.id as original, o.supplier_id as issuer, row_number() over (partition by o.supplier_id order by o.id, n)::int - 1 as k, count(*) over (partition by o.supplier_id)::int as of
       from multiply.original o, generate_series(1, case when o.complete then 4 else 1 end) n`,
  )
  await owner.query(
    `create table multiply.issuer as
     select row_number() over (order by supplier_id)::int - 1 as n, supplier_id as issuer, max(certificate_id) as certificate_id,
            (select der from issuer_certificate k where k.workspace_id = ${workspaceId} and k.id = max(certificate_id)) as der
       from multiply.original group by supplier_id`,
  )
  await owner.query(
    `create table multiply.receipt as
     select o.id as original, p.ord, r.service, r.codec, r.schema, r.problem, r.unread, r.content, r.issuer_certificate_id, r.issuer_certificate_id = i.certificate_id as is_of_issuer
       from multiply.original o
       join multiply.place p on p.company_id = o.company_id and p.chave = o.chave and p.service = o.type
       join receipt r on r.workspace_id = ${workspaceId} and r.company_id = p.company_id and r.service = p.service and r.nsu = p.nsu
       join multiply.issuer i on i.issuer = o.supplier_id`,
  )
  await owner.query(
    `create table multiply.certificate as
     select k.id as of, k.sha256, k.der from issuer_certificate k
      where k.workspace_id = ${workspaceId} and k.id in (select issuer_certificate_id from multiply.receipt where not is_of_issuer)`,
  )
  await owner.query(
    `create table multiply.event as
     select o.id as original, p.ord, e.* from multiply.original o
       join document_event e on e.workspace_id = o.workspace_id and e.company_id = o.company_id and e.chave = o.chave
       join multiply.place p on p.company_id = o.company_id and p.service = o.type and p.nsu = e.nsu`,
  )
  await owner.query(
    `create table multiply.change as
     select document_id as original, kind, row_number() over (partition by document_id order by version)::int as ord
       from document_change where workspace_id = ${workspaceId} and document_id in (select id from multiply.original)`,
  )
  for (const table of ['alert_fact', 'alert', 'content', 'installment', 'freight', 'freight_citation'])
    await owner.query(
      `create table multiply.${table} as select * from ${table} where workspace_id = ${workspaceId} and document_id in (select id from multiply.original)`,
    )
  await owner.query('analyze')
}

/** Reserves ids for so many documents; returns the one before the first. */
export async function reserveIds(owner: pg.Client, documents: number): Promise<bigint> {
  const { rows } = await owner.query<{ base: string }>(
    `select setval('document_id_seq', nextval('document_id_seq') + $1) - $1 as base`,
    [documents],
  )
  return BigInt(rows[0]!.base)
}

/**
 * Fills a workspace with documents of five years, in the order in which they came, whose ids follow `base`. `known`: also with what is read from inside them and
 * judged. Several connections may fill one workspace each at the same time.
 */
export async function multiply(owner: pg.Client, share: Share, base: bigint, known = false): Promise<void> {
  const { workspaceId } = share
  await owner.query(`set work_mem = '256MB'`)
  await owner.query(`set temp_buffers = '64MB'`)
  await addPlaces(owner, share)
  await addSuppliers(owner, share)
  await draw(owner, share)
  await owner.query(insertDocuments(workspaceId, base))
  await owner.query(insertReceipts(workspaceId))
  await owner.query(insertEvents(workspaceId))
  await addChanges(owner, workspaceId, base)
  await count(owner, workspaceId)
  if (known) await know(owner, workspaceId, base)
  for (const table of ['alert_position', 'content_position'])
    await owner.query(
      `insert into ${table} (workspace_id, version) select workspace_id, version from change_position where workspace_id = $1`,
      [workspaceId],
    )
  await owner.query('drop table drafted, sender, shared')
}

/** Takes away what `takeOriginals` left. */
export async function leaveOriginals(owner: pg.Client): Promise<void> {
  await owner.query('drop schema multiply cascade')
}

async function addPlaces(owner: pg.Client, { workspaceId, companies }: Share): Promise<void> {
  await owner.query(`insert into workspace (id, name, plan) values ($1, 'bench', 3)`, [workspaceId])
  await owner.query(
    `insert into workspace_directory (public_id, workspace_id) select public_id, id from workspace where id = $1`,
    [workspaceId],
  )
  await owner.query(
    `insert into account (workspace_id, email, name, password_hash) values ($1, $2, 'Pessoa', 'nenhuma')`,
    [workspaceId, `pessoa-${workspaceId}@example.com`],
  )
  await owner.query(
    `insert into company (workspace_id, cnpj, name, search, uf)
     select $1::int, '1' || lpad($1::int::text, 4, '0') || lpad(i::text, 7, '0') || '00', 'FILIAL ' || i || ' LTDA', 'filial ' || i || ' ltda', 35 from generate_series(1, $2::int) i`,
    [workspaceId, companies],
  )
  // Lines that were answered a moment ago, and have nothing to ask for a day.
  await owner.query(
    `with line as (
       insert into capture_line (service, cnpj, last_nsu, max_nsu, next_at, allowed_at, asked_at, last_success_at)
       select service, cnpj, $2, $2, now() + interval '1 day', now() + interval '1 hour', now(), now()
         from company, unnest('{0,2}'::smallint[]) service where workspace_id = $1
       returning id, cnpj)
     insert into capture_subscription (line_id, workspace_id, company_id, delivered_nsu, proved_at)
     select l.id, c.workspace_id, c.id, $2, now() from line l join company c on c.workspace_id = $1 and c.cnpj = l.cnpj`,
    [workspaceId, 1_000_000_000],
  )
}

// As in `fill` of tests/support/volume.ts; each is a copy of one original issuer, with a certificate of its own.
async function addSuppliers(owner: pg.Client, { workspaceId, suppliers }: Share): Promise<void> {
  const rows = Array.from({ length: suppliers }, (_, index) => {
    const first12 = `${index % 10 === 0 ? 'AB' : '11'}${String((index * 7919) % 1_000_000).padStart(6, '0')}0001`
    const word =
      index % 5_000 === 3 ? terms.rare : index % 33 === 7 ? terms.some : index % 4 === 0 ? terms.many : 'indústria'
    const name = `${word} E DISTRIBUIDORA ${index}`.toUpperCase()
    return { taxId: first12 + cnpjCheckDigits(first12), name, search: plain(name) }
  })
  const one = (column: keyof (typeof rows)[number]) => rows.map((row) => row[column])
  await owner.query(
    `create temporary table sender as
     select n::int - 1 as n, nextval('supplier_id_seq')::int as id, nextval('issuer_certificate_id_seq')::int as certificate_id, tax_id, name, search,
            (n - 1) % (select count(*) from multiply.issuer) as original
       from unnest($1::text[], $2::text[], $3::text[]) with ordinality s (tax_id, name, search, n)`,
    [one('taxId'), one('name'), one('search')],
  )
  await owner.query(
    'insert into supplier (workspace_id, id, tax_id, name, search) select $1, id, tax_id, name, search from sender',
    [workspaceId],
  )
  await owner.query(
    `insert into issuer_certificate (workspace_id, id, sha256, der)
     select $1, s.certificate_id, sha256(i.der || convert_to(s.tax_id, 'UTF8')), i.der
       from sender s join multiply.issuer i on i.n = s.original where i.der is not null`,
    [workspaceId],
  )
  await owner.query(
    `create temporary table shared as select of, nextval('issuer_certificate_id_seq')::int as id from multiply.certificate`,
  )
  await owner.query(
    `insert into issuer_certificate (workspace_id, id, sha256, der)
     select $1, s.id, c.sha256, c.der from shared s join multiply.certificate c using (of)`,
    [workspaceId],
  )
  await owner.query('analyze sender')
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

// Few issuers send most, and few companies get most. Numbers repeat; the code in the chave does not.
async function draw(owner: pg.Client, { workspaceId, documents, companies, suppliers }: Share): Promise<void> {
  await owner.query(
    `create temporary table drafted as
     select n, original, company_id, supplier_id, certificate_id, issued_at, created_at, amount, number, first43 || ${checkDigit('first43')} as chave
       from (
         select r.n, c.original, r.company_id, s.id as supplier_id, s.certificate_id, r.issued_at, r.created_at, r.amount, (r.n % 200000 + 1)::int as number,
                left(o.chave, 2) || to_char(r.issued_at, 'YYMM') || s.tax_id || substr(o.chave, 21, 5) || lpad((r.n % 200000 + 1)::text, 9, '0')
                  || substr(o.chave, 35, 1) || lpad(r.n::text, 8, '0') as first43
           from (
             select row_number() over (order by created_at) as n, * from (
               select issued_at, supplier, k, (array(select id from company where workspace_id = ${workspaceId} order by id))[1 + floor(${companies} * company ^ 2)::int] as company_id, amount,
                      least((issued_at + interval '3 hours') at time zone 'UTC' + delay * interval '2 days', now() - delay * interval '1 hour') as created_at
                 from (select date_trunc('second', (now() at time zone 'UTC') - interval '4 hours' - random() * interval '${years} years') as issued_at,
                              floor(${suppliers} * random() ^ 2)::int as supplier, random() as k, random() as company, random() as delay,
                              round((exp(4 + 6 * random()))::numeric, 2) as amount
                         from generate_series(1, ${documents}) i offset 0) drawn) placed) r
           join sender s on s.n = r.supplier
           join multiply.issuer i on i.n = s.original
           join multiply.choice c on c.issuer = i.issuer and c.k = floor(r.k * c.of)::int
           join multiply.original o on o.id = c.original offset 0) keyed
      order by n`,
  )
  await owner.query('analyze drafted')
}

// Modulo 11 over 43 characters, letters by their code.
function checkDigit(column: string): string {
  const sum = Array.from(
    { length: 43 },
    (_, index) => `(ascii(substr(${column}, ${index + 1}, 1)) - 48) * ${2 + ((42 - index) % 8)}`,
  ).join(' + ')
  return `substr('00987654321', (${sum}) % 11 + 1, 1)`
}

const insertDocuments = (workspaceId: number, base: bigint) => `
  insert into document (workspace_id, company_id, id, issued_at, created_at, authorized_at, nsu, supplier_id, number, event_code, type, series, issued_offset, roles,
                        status, base_status, complete, amount, event_text, nat_op, chave, proof, tp_cte, corrects)
  select ${workspaceId}, d.company_id, ${base} + d.n, d.issued_at, d.created_at,
         case when o.authorized_at is not null then (d.issued_at + interval '3 hours') at time zone 'UTC' end, d.n * ${stride} + o.ord, d.supplier_id, d.number,
         o.event_code, o.type, o.series, o.issued_offset, o.roles, o.status, o.base_status, o.complete, d.amount, o.event_text, o.nat_op, d.chave, o.proof, o.tp_cte,
         o.corrects
    from drafted d join multiply.original o on o.id = d.original order by d.n`

const insertReceipts = (workspaceId: number) => `
  insert into receipt (workspace_id, company_id, service, codec, nsu, received_at, schema, problem, unread, content, issuer_certificate_id)
  select ${workspaceId}, d.company_id, r.service, r.codec, d.n * ${stride} + r.ord, d.created_at, r.schema, r.problem, r.unread, r.content,
         case when r.is_of_issuer then d.certificate_id else s.id end
    from drafted d join multiply.receipt r on r.original = d.original left join shared s on s.of = r.issuer_certificate_id order by d.n, r.ord`

const insertEvents = (workspaceId: number) => `
  insert into document_event (workspace_id, company_id, chave, tp_evento, sequence, orgao, type, rank, status, summary, stated, registered_at, happened_at, nsu, protocol,
                              author, description, justification, known, roles, undoes, undoes_protocol, undone, proof)
  select ${workspaceId}, d.company_id, d.chave, e.tp_evento, e.sequence, e.orgao, e.type, e.rank, e.status, e.summary, e.stated, d.created_at, d.created_at,
         d.n * ${stride} + e.ord, e.protocol, e.author, e.description, e.justification, e.known, e.roles, e.undoes, e.undoes_protocol, e.undone, e.proof
    from drafted d join multiply.event e on e.original = d.original order by d.n`

// All had a version; those of the last ninety days are kept.
async function addChanges(owner: pg.Client, workspaceId: number, base: bigint): Promise<void> {
  const recent = `d.created_at > now() - interval '${changesKeptDays} days'`
  await owner.query(
    `with position as (
       insert into change_position (workspace_id, version, forgotten)
       select ${workspaceId}, count(*), count(*) filter (where not (${recent})) from drafted d join multiply.change c on c.original = d.original
       returning forgotten)
     insert into document_change (workspace_id, document_id, version, at, kind, company_id)
     select ${workspaceId}, ${base} + d.n, (select forgotten from position) + row_number() over (order by d.n, c.ord), d.created_at, c.kind, d.company_id
       from drafted d join multiply.change c on c.original = d.original where ${recent} order by d.n, c.ord`,
  )
}

async function count(owner: pg.Client, workspaceId: number): Promise<void> {
  const cell = 'company_id, roles, status'
  const count = (unit: string) => `
    insert into count_${unit} (workspace_id, type, ${unit}, ${cell}, n, amount)
    select workspace_id, type, date_trunc('${unit}', issued_at)::date, ${cell}, count(*)::int, sum(amount)
      from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5, 6 order by 3`
  await owner.query(count('month'))
  await owner.query(count('year'))
  const { rowCount } = await owner.query(
    `update workspace set large = true where id = $1 and exists (
       select 1 from count_month where workspace_id = $1 group by type, month having sum(n) >= 1000)`,
    [workspaceId],
  )
  if (rowCount) await owner.query(count('day'))
}

/** How many rows of the counters of all workspaces say something else than their documents. */
export async function wrongCounters(owner: pg.Client): Promise<number> {
  let wrong = 0
  for (const unit of ['year', 'month', 'day']) {
    const { rows } = await owner.query<{ n: number }>(
      `with counted as (
         select d.workspace_id, d.type, date_trunc('${unit}', d.issued_at)::date as at, d.company_id, d.roles, d.status, count(*) as n, sum(d.amount) as amount
           from document d join workspace w on w.id = d.workspace_id and ('${unit}' <> 'day' or w.large) group by 1, 2, 3, 4, 5, 6)
       select count(*)::int as n from counted c
         full join (select workspace_id, type, ${unit} as at, company_id, roles, status, n, amount from count_${unit} where n > 0) k
           using (workspace_id, type, at, company_id, roles, status)
        where c.n is distinct from k.n or c.amount is distinct from k.amount`,
    )
    wrong += rows[0]!.n
  }
  return wrong
}

const alertsOneOf = 30
const productsEach = 5

// What the workers of contents and alerts keep, but the words of the products. The facts and the inside are those of the originals.
async function know(owner: pg.Client, workspaceId: number, base: bigint): Promise<void> {
  const milliseconds = "extract(epoch from d.issued_at + interval '3 hours')::bigint * 1000"
  const from = `drafted d join sender s on s.id = d.supplier_id join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id`
  const issuerBase = 'left(s.tax_id, length(t.issuer_base))'
  await owner.query(
    `insert into alert_fact (workspace_id, document_id, company_id, at, amount, type, purchase, standing, company_base, issuer_base, month, chave, number_key, contingency_key,
                             name, facts, past, items, is_new, packed)
     select ${workspaceId}, ${base} + d.n, d.company_id, ${milliseconds}, (d.amount * 100)::bigint, t.type, t.purchase, t.standing, left(c.cnpj, 8), ${issuerBase},
            to_char(d.issued_at, 'YYYY-MM'), d.chave, substr(d.chave, 7, 28), t.contingency_key, s.name, t.facts, t.past, t.items, false, t.packed
       from ${from} join multiply.alert_fact t on t.document_id = d.original order by d.n`,
  )
  await owner.query(
    `insert into alert (workspace_id, document_id, company_id, at, score, band, state, company_base, issuer_base, chave, rules, fired, text, learning, judged_at)
     select ${workspaceId}, ${base} + d.n, d.company_id, ${milliseconds}, t.score, t.band, t.state, left(c.cnpj, 8), ${issuerBase}, d.chave, t.rules, t.fired, t.text,
            false, d.created_at
       from ${from} join multiply.alert t on t.document_id = d.original where d.n % ${alertsOneOf} = 0 order by d.n`,
  )
  await owner.query(
    `insert into content (workspace_id, document_id, company_id, ibs, cbs, month, side, version, reform, findings, products, value, mod_frete, tp_nf, recipient)
     select ${workspaceId}, ${base} + d.n, d.company_id, t.ibs, t.cbs, date_trunc('month', d.issued_at)::date, t.side, t.version, t.reform, t.findings,
            array(select s.n * ${productsEach} + 1 + i % ${productsEach} from generate_series(1, cardinality(t.products)) i), t.value, t.mod_frete, t.tp_nf, t.recipient
       from ${from} join multiply.content t on t.document_id = d.original order by d.n`,
  )
  await owner.query(
    `insert into installment (workspace_id, document_id, place, company_id, due_on, amount, number, issuer, standing)
     select ${workspaceId}, ${base} + d.n, t.place, d.company_id, d.issued_at::date + 28 * t.place, (d.amount * 100)::bigint / 3, t.number, s.tax_id, t.standing
       from ${from} join multiply.installment t on t.document_id = d.original order by d.n`,
  )
  await owner.query(
    `insert into freight (workspace_id, document_id, company_id, at, value, cargo, kilos, utc_offset, tp_cte, tp_serv, cites, standing, pays, receives, due, chave, carrier, payer,
                          lane, way, from_name, to_name, notes)
     select ${workspaceId}, ${base} + d.n, d.company_id, ${milliseconds}, (d.amount * 100)::bigint, t.cargo, t.kilos, t.utc_offset, t.tp_cte, t.tp_serv, t.cites, t.standing,
            t.pays, t.receives, false, d.chave, s.tax_id, t.payer, t.lane, t.way, t.from_name, t.to_name, t.notes
       from ${from} join multiply.freight t on t.document_id = d.original order by d.n`,
  )
  await owner.query(
    `insert into freight_citation (workspace_id, chave, document_id)
     select ${workspaceId}, t.chave, ${base} + d.n from ${from} join multiply.freight_citation t on t.document_id = d.original order by d.n`,
  )
  await addSums(owner, workspaceId)
}

// As in `fillSums` of reports/volume.testing.ts, from these documents.
async function addSums(owner: pg.Client, workspaceId: number): Promise<void> {
  await owner.query(
    `create temporary table bought as
     select d.n, d.company_id, d.issued_at, (d.amount * 100)::bigint as amount, s.tax_id, s.n as supplier
       from drafted d join sender s on s.id = d.supplier_id join multiply.original o on o.id = d.original where o.type = 0 and o.complete`,
  )
  const keys = ['tax_id', "(array['5102', '6102', '5405', '5101', '6101', '5949'])[1 + supplier % 6]"]
  keys.push(
    "'8' || lpad((supplier % 2000)::text, 7, '0')",
    "(array['SP', 'PR', 'SC', 'MG', 'RJ', 'RS', 'BA', 'GO'])[1 + supplier % 8]",
  )
  for (const [kind, key] of keys.entries())
    await owner.query(
      `insert into content_sum (workspace_id, company_id, month, side, kind, documents, key, value, icms, st, ipi, pis, cofins, ibs, cbs, "is", fcp)
       select ${workspaceId}, company_id, date_trunc('month', issued_at)::date, 0, ${kind}, count(*), ${key}, sum(amount), sum(amount * 18 / 100), 0, 0, sum(amount / 60),
              sum(amount / 13), 0, 0, 0, 0
         from bought group by company_id, date_trunc('month', issued_at), ${key} order by 3, random()`,
    )
  await owner.query(
    `insert into product (workspace_id, id, issuer, code, name, ncm, unit, bare, gtin)
     select ${workspaceId}, s.n * ${productsEach} + 1 + i, s.tax_id, i::text,
            (array['PARAFUSO', 'CANETA', 'PAPEL', 'TINTA', 'CHAPA'])[1 + i % 5] || ' MODELO ' || s.n % 9000, '8' || lpad((s.n % 2000)::text, 7, '0'), 'UN', i::text, null
       from sender s, generate_series(0, ${productsEach - 1}) i`,
  )
  // Every month of a year has cells, also without documents, from the first that has some to the last.
  await owner.query(
    `insert into product_sum (workspace_id, product_id, company_id, year, side, cells)
     select ${workspaceId}, product, company_id, year, 0, ('[' || first * 3 - 2 || ':' || last * 3 || ']={' || (
              select string_agg(coalesce(c.amount || ',30000,' || c.n, '0,0,0'), ',' order by m)
                from generate_series(first, last) m left join unnest(months, amounts, ns) c (month, amount, n) on c.month = m) || '}')::bigint[]
       from (select product, company_id, year, min(month) as first, max(month) as last, array_agg(month) as months, array_agg(amount) as amounts, array_agg(n) as ns
               from (select supplier * ${productsEach} + 1 + i as product, company_id, extract(year from issued_at)::int as year, extract(month from issued_at)::int as month,
                            sum(amount / 4)::bigint as amount, count(*) as n
                       from bought b, generate_series(0, ${productsEach - 1}) i where (b.n + i) % 3 > 0 group by 1, 2, 3, 4) m
              group by 1, 2, 3) s order by year, random()`,
  )
  await owner.query('drop table bought')
}
