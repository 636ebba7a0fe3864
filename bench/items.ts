import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { contentsOf, type ItemContents, type NfeContents, readDetails } from '@vigia/dfe/read'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { startDatabase } from '../tests/support/postgres.ts'
import { quantile, report } from './measure.ts'

// Ways to store the items of 100,000 notes of one workspace, eight items on average: bytes on disk for each document, indexes included, and
// search of products by words, as a login under row-level security. Decision 0050 tells which was chosen.
const documentsMax = 100_000
const pool = 4_000
const issuers = 2_000
const goals = { bytesPerDocument: 1_000, searchP95Ms: 50 }
const workspaceId = 7
// With more products than these, reading the range costs less than their lists.
const fewProducts = 10_000

let seed = 1
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
  return (seed >>> 0) / 4_294_967_296
}
const integer = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
// A few are in most documents.
const skewed = (length: number) => Math.floor(length * random() ** 3)

// Of each a word that is in every fourth product, and many that are in few.
const nouns =
  'PARAFUSO PORCA ARRUELA CABO LUVA TUBO CONEXAO DISJUNTOR LAMPADA TOMADA BOTINA OLEO FILTRO CORREIA ROLAMENTO TINTA PAPEL CANETA TONER MONITOR TECLADO CAFE ACUCAR ARROZ AGUA BISCOITO DETERGENTE SABAO VASSOURA ABRACADEIRA'.split(
    ' ',
  )
const kinds = 'SEXTAVADO FLEXIVEL REFORCADO INDUSTRIAL COMPACTO PROFISSIONAL SINTETICO NATURAL DUPLO CURTO'.split(' ')
const makers = Array.from({ length: 900 }, (_, n) => `${'BRA TEC MAX SUL LAR FER'.split(' ')[n % 6]}${n}`)

interface Product {
  id: number
  issuer: number
  cProd: string
  xProd: string
  NCM: string
  uCom: string
  cEAN: string
  cents: number
}
const products: Product[] = []
const catalogues = Array.from({ length: issuers }, (_, issuer) => {
  const words = [pick(nouns), pick(nouns), pick(nouns)]
  return Array.from({ length: integer(20, 150) }, () => {
    const common = random() < 0.25 ? ' ZINCADO' : ''
    const product = {
      id: products.length + 1,
      issuer,
      cProd: String(integer(10_000, 9_999_999)),
      xProd: `${pick(words)} ${pick(kinds)}${common} ${integer(1, 90)}MM X ${integer(10, 900)} ${pick(makers)}`,
      NCM: String(integer(10_000_000, 99_999_999)),
      uCom: pick(['UN', 'CX', 'KG', 'PC']),
      cEAN: random() < 0.6 ? `789${integer(1_000_000_000, 9_999_999_999)}` : 'SEM GTIN',
      cents: integer(50, 90_000),
    }
    products.push(product)
    return product
  })
})

interface Draft {
  issuer: number
  products: Product[]
}
function draft(): Draft {
  const issuer = skewed(issuers)
  const catalogue = catalogues[issuer]!
  const count = Math.max(1, Math.round(-Math.log(1 - random()) * 7.5))
  return { issuer, products: Array.from({ length: Math.min(count, 100) }, () => catalogue[skewed(catalogue.length)]!) }
}

const money = (cents: number) => (cents / 100).toFixed(2)
function writeNote({ products }: Draft): string {
  const dets = products.map(({ cProd, xProd, NCM, uCom, cEAN, cents }, index) => {
    const quantity = integer(1, 200)
    const value = cents * quantity
    const [icms, pis, cofins] = [0.18, 0.0165, 0.076].map((rate) => Math.round(value * rate)) as [
      number,
      number,
      number,
    ]
    const base = value - icms - pis - cofins
    return `<det nItem="${index + 1}"><prod><cProd>${cProd}</cProd><cEAN>${cEAN}</cEAN><xProd>${xProd}</xProd><NCM>${NCM}</NCM><CFOP>5102</CFOP><uCom>${uCom}</uCom><qCom>${quantity}.0000</qCom><vUnCom>${money(cents)}00000000</vUnCom><vProd>${money(value)}</vProd><cEANTrib>${cEAN}</cEANTrib><uTrib>${uCom}</uTrib><qTrib>${quantity}.0000</qTrib><vUnTrib>${money(cents)}00000000</vUnTrib><indTot>1</indTot></prod><imposto><ICMS><ICMS00><orig>0</orig><CST>00</CST><modBC>3</modBC><vBC>${money(value)}</vBC><pICMS>18.0000</pICMS><vICMS>${money(icms)}</vICMS></ICMS00></ICMS><PIS><PISAliq><CST>01</CST><vBC>${money(value)}</vBC><pPIS>1.6500</pPIS><vPIS>${money(pis)}</vPIS></PISAliq></PIS><COFINS><COFINSAliq><CST>01</CST><vBC>${money(value)}</vBC><pCOFINS>7.6000</pCOFINS><vCOFINS>${money(cofins)}</vCOFINS></COFINSAliq></COFINS><IBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><gIBSCBS><vBC>${money(base)}</vBC><gIBSUF><pIBSUF>0.1000</pIBSUF><vIBSUF>${money(Math.round(base / 1_000))}</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun></gIBSMun><vIBS>${money(Math.round(base / 1_000))}</vIBS><gCBS><pCBS>0.9000</pCBS><vCBS>${money(Math.round(base * 0.009))}</vCBS></gCBS></gIBSCBS></IBSCBS></imposto><vItem>${money(value)}</vItem></det>`
  })
  return `<NFe><infNFe Id="NFe1">${dets.join('')}</infNFe></NFe>`
}

// What a product is said once, and what each sale of it says.
const ofProduct = new Set(['cProd', 'xProd', 'NCM', 'CEST', 'uCom', 'cEAN', 'cEANTrib', 'uTrib'])

function flatItem(item: ItemContents, withProduct: boolean): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  for (const [group, fields] of Object.entries(item)) {
    if (typeof fields !== 'object') flat.set(group, fields)
    else
      for (const [name, text] of Object.entries(fields ?? {}))
        if (withProduct || group !== 'prod' || !ofProduct.has(name)) flat.set(`${group}.${name}`, text)
  }
  return flat
}

/** One column for each field; one value instead of a column where all items have it, and the place of an equal column before it. */
function columns(items: readonly ItemContents[], withProduct: boolean): string {
  const rows = items.map((item) => flatItem(item, withProduct))
  const names = new Set(rows.flatMap((row) => [...row.keys()]))
  const places = new Map<string, number>()
  const packed = [...names].map((name, place) => {
    const column = rows.map((row) => row.get(name) ?? null)
    if (name === 'nItem' && column.every((one, index) => one === index + 1)) return []
    if (name !== 'nItem' && items.length > 1 && column.every((one) => one === column[0]))
      return [name, String(column[0])]
    const text = JSON.stringify(column)
    const same = places.get(text)
    if (same !== undefined) return [name, same]
    places.set(text, place)
    return [name, column]
  })
  return JSON.stringify(packed)
}

const drafts = Array.from({ length: pool }, draft)
const read = drafts.map((one) => contentsOf(readDetails(new TextEncoder().encode(writeNote(one)))!) as NfeContents)
// The names of the fields and the usual values are in the dictionary, so a document pays for neither.
const dictionary = (withProduct: boolean) =>
  Buffer.from(
    read
      .slice(0, 12)
      .map(({ items }) => columns(items.slice(0, 2), withProduct))
      .join(''),
  )
const dictionaries = { whole: dictionary(true), values: dictionary(false) }
const packed = (items: readonly ItemContents[], kind: 'whole' | 'values') =>
  deflateRawSync(columns(items, kind === 'whole'), { level: 9, dictionary: dictionaries[kind] })
const notes = read.map(({ items }) => ({
  rows: items,
  json: JSON.stringify(items),
  deflated: deflateRawSync(JSON.stringify(items), { level: 9 }),
  whole: packed(items, 'whole'),
  values: packed(items, 'values'),
}))

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
const hex = (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`
const hash = (text: string) => {
  let sum = 0n
  for (const char of text) sum = BigInt.asIntN(64, sum * 1_099_511_628_211n + BigInt(char.charCodeAt(0)))
  return sum
}
async function load(table: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(lines), owner.query(copyFrom(`copy ${table} from stdin`)))
}
async function indexBytes(index: string): Promise<number> {
  const { rows } = await owner.query<{ bytes: string }>('select pg_relation_size($1::regclass) as bytes', [index])
  return Math.round(Number(rows[0]!.bytes) / documentsMax)
}
async function bytes(...tables: string[]): Promise<number> {
  let sum = 0
  for (const table of tables) {
    await owner.query(`vacuum (analyze, freeze) ${table}`)
    const { rows } = await owner.query<{ bytes: string }>('select pg_total_relation_size($1::regclass) as bytes', [
      table,
    ])
    sum += Number(rows[0]!.bytes)
  }
  return Math.round(sum / documentsMax)
}

try {
  await owner.query(`
    create table note (workspace_id int not null, id bigint not null, issued_at timestamp not null, primary key (workspace_id, id));
    create index on note (workspace_id, issued_at, id);
    create table product (workspace_id int not null, id int not null, issuer_id int not null, identity bigint not null,
      code text collate "C" not null, name text collate "C" not null, ncm text collate "C" not null, unit text collate "C" not null, gtin text collate "C",
      primary key (workspace_id, id), unique (workspace_id, issuer_id, identity));
    create function product_words(workspace int, text text) returns tsvector language sql immutable parallel safe
      return array_to_tsvector((select array_agg(distinct workspace || ':' || word) from regexp_split_to_table(text, '[^a-z0-9]+') word where word <> ''));
    create index product_word_ix on product using gin (product_words(workspace_id, name));
    create index on product (workspace_id, code);
    create index on product (workspace_id, gtin) where gtin is not null;
    create table plain_row (workspace_id int not null, note_id bigint not null, n smallint not null, code text, name text, ncm text, cfop text, unit text, gtin text,
      q numeric, v_un numeric, v_prod numeric, v_icms numeric, class text, v_bc numeric, v_ibs numeric, v_cbs numeric, primary key (workspace_id, note_id, n));
    create table value_row (workspace_id int not null, note_id bigint not null, product_id int not null, n smallint not null, cfop smallint, class int,
      q numeric, v_un numeric, v_prod numeric, v_icms numeric, v_bc numeric, v_ibs numeric, v_cbs numeric);
    create index on value_row (workspace_id, note_id);
    create index on value_row (workspace_id, product_id);
    create table json_column (workspace_id int not null, note_id bigint not null, items jsonb not null, primary key (workspace_id, note_id));
    create table deflated_column (workspace_id int not null, note_id bigint not null, items bytea not null, primary key (workspace_id, note_id));
    create table whole_column (workspace_id int not null, note_id bigint not null, items bytea not null, primary key (workspace_id, note_id));
    create table contents (workspace_id int not null, issued_on date not null, note_id bigint not null, products int[] not null, items bytea not null, primary key (workspace_id, note_id));
    create index on contents (workspace_id, issued_on);
    create index contents_product_ix on contents using gin (products);
  `)
  for (const table of ['deflated_column', 'whole_column', 'contents'])
    await owner.query(`alter table ${table} alter items set storage external`)

  // Every document has products and a date of its own; what is inside repeats after 4,000.
  const all = Array.from({ length: documentsMax }, (_, n) => ({
    id: n + 1,
    content: notes[n % pool]!,
    ...(n < pool ? drafts[n]! : draft()),
  }))
  const seen = new Map<number, Product>()
  for (const { products } of all) for (const product of products) seen.set(product.id, product)
  const day = (n: number) => new Date(Date.UTC(2025, 0, 1) + n * 600_000).toISOString().slice(0, 19)
  const identity = ({ cProd, xProd, NCM, uCom, cEAN }: Product) =>
    [cProd, xProd.toLowerCase(), NCM, uCom, cEAN === 'SEM GTIN' ? '\\N' : cEAN].join('\t')
  await load(
    'note',
    lines(all, ({ id }) => `${workspaceId}\t${id}\t${day(id)}\n`),
  )
  await load(
    'product',
    lines(
      [...seen.values()],
      (each) => `${workspaceId}\t${each.id}\t${each.issuer}\t${hash(identity(each))}\t${identity(each)}\n`,
    ),
  )
  await load(
    'contents',
    lines(all, ({ id, products, content }) => {
      const ids = [...new Set(products.map((each) => each.id))].join(',')
      return `${workspaceId}\t${day(id).slice(0, 10)}\t${id}\t{${ids}}\t${hex(content.values)}\n`
    }),
  )
  const tenth = all.slice(0, documentsMax / 10)
  await load(
    'whole_column',
    lines(tenth, ({ id, content }) => `${workspaceId}\t${id}\t${hex(content.whole)}\n`),
  )
  await load(
    'deflated_column',
    lines(tenth, ({ id, content }) => `${workspaceId}\t${id}\t${hex(content.deflated)}\n`),
  )
  await load(
    'json_column',
    lines(tenth, ({ id, content }) => `${workspaceId}\t${id}\t${content.json}\n`),
  )
  await load(
    'plain_row',
    lines(tenth, ({ id, content }) =>
      content.rows
        .map(({ nItem, prod, ICMS, IBSCBS }) =>
          [
            workspaceId,
            id,
            nItem,
            prod.cProd,
            prod.xProd,
            prod.NCM,
            prod.CFOP,
            prod.uCom,
            prod.cEAN ?? '\\N',
            prod.qCom,
            prod.vUnCom,
            prod.vProd,
            ICMS?.vICMS,
            IBSCBS?.cClassTrib,
            IBSCBS?.vBC,
            IBSCBS?.vIBS,
            IBSCBS?.vCBS,
          ].join('\t'),
        )
        .join('\n')
        .concat('\n'),
    ),
  )
  await load(
    'value_row',
    lines(tenth, ({ id, content }) =>
      content.rows
        .map(({ nItem, prod, ICMS, IBSCBS }, index) =>
          [
            workspaceId,
            id,
            drafts[(id - 1) % pool]!.products[index]!.id,
            nItem,
            prod.CFOP,
            Number(IBSCBS?.cClassTrib),
            prod.qCom,
            prod.vUnCom,
            prod.vProd,
            ICMS?.vICMS,
            IBSCBS?.vBC,
            IBSCBS?.vIBS,
            IBSCBS?.vCBS,
          ].join('\t'),
        )
        .join('\n')
        .concat('\n'),
    ),
  )
  const items = all.reduce((sum, { products }) => sum + products.length, 0)
  const dictionaryBytes = await bytes('product')
  const contents = await bytes('contents')
  report('items', {
    against: 'bytes on disk for each document, indexes included',
    goal: goals.bytesPerDocument,
    documents: documentsMax,
    itemsPerDocument: items / documentsMax,
    products: seen.size,
    productDictionary: dictionaryBytes,
    ofItWords: await indexBytes('product_word_ix'),
    contents,
    ofItProducts: await indexBytes('contents_product_ix'),
    chosen: dictionaryBytes + contents,
    others: {
      rowsWithTexts: (await bytes('plain_row')) * 10,
      rowsAndDictionary: (await bytes('value_row')) * 10 + dictionaryBytes,
      jsonb: (await bytes('json_column')) * 10,
      deflatedJson: (await bytes('deflated_column')) * 10,
      columnsWithTexts: (await bytes('whole_column')) * 10,
    },
    packMicroseconds: time(() => packed(read[0]!.items, 'values')),
    unpackMicroseconds: time(() => inflateRawSync(notes[0]!.values, { dictionary: dictionaries.values })),
    itemsOfTimed: read[0]!.items.length,
  })
  await measureSearch()
} finally {
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
}

function* lines<T>(list: readonly T[], line: (one: T) => string): Generator<string> {
  let chunk = ''
  for (const one of list) {
    chunk += line(one)
    if (chunk.length > 60_000) {
      yield chunk
      chunk = ''
    }
  }
  yield chunk
}

function time(run: () => unknown): number {
  for (let n = 0; n < 300; n++) run()
  const began = performance.now()
  for (let n = 0; n < 2_000; n++) run()
  return Math.round((performance.now() - began) / 2)
}

async function measureSearch(): Promise<void> {
  // No operator of arrays or words may stand before a policy, so the two functions see all rows and name the workspace themselves.
  await owner.query(`
    create role reader login;
    grant select on note, product, contents to reader;
    create function own() returns int language sql stable parallel safe return nullif(current_setting('app.workspace', true), '')::int;
    ${['note', 'product', 'contents'].map((table) => `alter table ${table} enable row level security; create policy own on ${table} using (workspace_id = own());`).join('\n')}
    create function products_with(word text) returns setof int language plpgsql stable security definer set enable_seqscan = off as $f$
    begin
      return query execute 'select id from product where workspace_id = $1 and product_words(workspace_id, name) @@ $2
          union select id from product where workspace_id = $1 and code = $3 union select id from product where workspace_id = $1 and gtin = $3'
        using own(), ('''' || own() || ':' || word || ''':*')::tsquery, word;
    end $f$;
    -- The planner takes every array to be in a hundredth of all rows, and would rather read the workspace: what stands apart leaves it no choice.
    create function notes_of_few(ids int[], since date) returns setof bigint language plpgsql stable security definer set enable_seqscan = off as $f$
    begin
      return query execute 'with hit as materialized (select workspace_id, issued_on, note_id from contents where products && $2)
          select note_id from hit where workspace_id = $1 and issued_on >= $3' using own(), ids, since;
    end $f$;
    create function notes_of_many(ids int[], since date) returns setof bigint language plpgsql stable security definer as $f$
    begin
      return query execute 'select note_id from contents where workspace_id = $1 and issued_on >= $3 and exists (select from unnest(products) p where p = any ($2))'
        using own(), ids, since;
    end $f$;
  `)
  await owner.query('set role reader')
  await owner.query('set jit = off; set max_parallel_workers_per_gather = 0')
  await owner.query("select set_config('app.workspace', $1, false)", [String(workspaceId)])
  const month = new Date(Date.UTC(2025, 0, 1) + documentsMax * 600_000 - 30 * 86_400_000).toISOString().slice(0, 10)
  const words = {
    aCode: Array.from({ length: 12 }, () => pick(products).cProd),
    aMaker: Array.from({ length: 12 }, () => pick(makers).toLowerCase()),
    aNoun: nouns.slice(0, 12).map((noun) => noun.toLowerCase()),
    inEveryFourth: ['zincado', 'zinc', 'zi'],
    nothing: ['xyzw', 'qqq'],
  }
  for (const [kind, terms] of Object.entries(words))
    for (const [period, from] of [
      ['month', month],
      ['history', '2000-01-01'],
    ] as const) {
      const spent = { products: [] as number[], notes: [] as number[], all: [] as number[] }
      let [ofProducts, found] = [0, 0]
      for (let round = 0; round < 2; round++)
        for (const term of terms) {
          const began = performance.now()
          const { rows } = await owner.query<{ id: number }>('select products_with($1) as id', [term])
          const ids = rows.map(({ id }) => id)
          const named = performance.now()
          // All that are found are counted, and the newest fifty are the first page.
          const { rows: hits } = await owner.query<{ n: string }>(
            `with hit as materialized (select ${ids.length <= fewProducts ? 'notes_of_few' : 'notes_of_many'}($1, $2) as id)
             select (select count(*) from hit) as n,
                    array(select d.id from hit join note d on d.workspace_id = $3 and d.id = hit.id order by d.issued_at desc, d.id desc limit 50)`,
            [ids, from, workspaceId],
          )
          const ended = performance.now()
          if (round > 0) {
            spent.products.push(named - began)
            spent.notes.push(ended - named)
            spent.all.push(ended - began)
          }
          ;[ofProducts, found] = [ids.length, Number(hits[0]!.n)]
        }
      const p95 = (values: number[]) => Number(quantile(values, 0.95).toFixed(1))
      report('items', {
        search: kind,
        period,
        products: ofProducts,
        found,
        productsP95Ms: p95(spent.products),
        notesP95Ms: p95(spent.notes),
        p50Ms: Number(quantile(spent.all, 0.5).toFixed(1)),
        p95Ms: p95(spent.all),
        goalP95Ms: goals.searchP95Ms,
      })
    }
}
