import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { quantile, report } from '../../../../bench/measure.ts'
import { startDatabase } from '../../../../tests/support/postgres.ts'
import { fill, terms } from '../../../../tests/support/volume.ts'
import { readDashboard } from '../../insights/dashboard/dashboard.ts'
import { limitTo, openDatabase, pools, readWorkspace } from '../../platform/database.ts'
import { createPublicIds } from '../../platform/ids.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import type { Filter } from './filter.ts'
import { searchDocuments } from './list.ts'

// Lists and dashboard of workspaces of three sizes in one database, each first page against the primary-key fetch of the same rows in the same kind of
// transaction, turn by turn. The largest has half of its documents in the current month.

const workspaces = {
  large: { documents: 1_000_000, companies: 10, suppliers: 20_000, currentMonth: 475_000, lastMonth: 117_000 },
  medium: { documents: 100_000, companies: 5, suppliers: 20_000, currentMonth: 4_000, lastMonth: 19_000 },
  small: { documents: 1_000, companies: 2, suppliers: 300, currentMonth: 60, lastMonth: 60 },
}
type Name = keyof typeof workspaces
const names = Object.keys(workspaces) as Name[]
const idOf = (name: Name) => names.indexOf(name) + 1
const documentsOf = (name: Name) => `${workspaces[name].documents} documents`
const fetched = 'primary-key fetch of as many rows with their issuers, in the same kind of transaction'
const rounds = 60
const ids = createPublicIds(randomBytes(16))

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
await migrate(postgres.url)
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
await owner.query(`insert into workspace (id, name, plan) select i, 'bench', 3 from generate_series(1, $1::int) i`, [
  names.length,
])
await fill(
  owner,
  names.map((name) => ({ workspaceId: idOf(name), ...workspaces[name] })),
)
const db = openDatabase(postgres.url, { connections: 1 })
const limited = openDatabase(postgres.url, { ...pools.limited, connections: 1 })
try {
  for (const name of names) {
    const page1 = await measurePageOne(name)
    const dashboard = await againstFetch(name, await someIds(name, {}), () => readDashboard({ db, ids }, idOf(name)))
    const search = await measureSearch(name)
    const orders = await measureOrders(name)
    report(
      'list',
      {
        workspace: name,
        ...workspaces[name],
        against: fetched,
        goals: { page1: 1.6, searchP95Ms: 35, pageMs: 1_000 },
        page1,
        dashboard,
        search,
        orders,
      },
      [
        ...(['month', 'noDates', 'monthWithSwitches'] as const).map((filter) => ({
          what: `first page of ${documentsOf(name)}, ${filter}`,
          number: `${page1[filter]!.ms} ms, ratio ${page1[filter]!.ratio}`,
          against: fetched,
          goal: 'ratio ≤ 1.6',
        })),
        {
          what: `dashboard of ${documentsOf(name)}`,
          number: `${dashboard.ms} ms, ratio ${dashboard.ratio}`,
          against: fetched,
          goal: 'ratio ≤ 2',
        },
        ...(['twoNames', 'amountRange', 'inside3Percent', 'partOfChave'] as const).map((words) => ({
          what: `search in ${documentsOf(name)}, ${words}`,
          number: `${search[words]!.p50} ms, p95 ${search[words]!.p95}`,
          against: '',
          goal: 'p95 ≤ 35 ms',
        })),
        ...(['issued', 'amount', 'due'] as const).map((order) => ({
          what: `middle page of ${documentsOf(name)} by ${order}`,
          number: `${orders[`noDates.${order}`]!.middle.p50} ms`,
          against: '',
          goal: '1000 ms',
        })),
      ],
    )
  }
  for (const name of names)
    report('list', {
      workspace: name,
      against: 'the same for who sees all companies',
      chosenCompanies: await measureChosen(name),
    })
} finally {
  await db.destroy()
  await limited.destroy()
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}

interface Compared {
  rows?: number
  fetchMs: number
  ms: number
  /** Medians, one against the other. */
  ratio: number
}

interface Spread {
  p50: number
  p95: number
}

async function measurePageOne(name: Name): Promise<Record<string, Compared>> {
  const measured: Record<string, Compared> = {}
  for (const [label, filter] of Object.entries(await filtersOf(name))) {
    const first = await list(name, filter)
    // Shorter lists are compared with a whole page, too.
    const ids = first.rows.length === 50 ? first.rows.map(({ id }) => id) : await someIds(name, {})
    measured[label] = { rows: first.rows.length, ...(await againstFetch(name, ids, () => list(name, filter))) }
  }
  const hide = (shown: number) =>
    owner.query(
      `insert into company_family select workspace_id, id, 0, $1 from company
       on conflict (workspace_id, company_id, family) do update set shown = excluded.shown`,
      [shown],
    )
  await hide(511 & ~(1 << 2))
  measured.monthWithSwitches = await againstFetch(name, await someIds(name, month(0)), () => list(name, month(0)))
  await hide(511)
  return measured
}

// Measures a person who sees half of the companies.
async function measureChosen(name: Name) {
  const { rows } = await owner.query<{ id: number }>(
    'select id from company where workspace_id = $1 and id % 2 = 0 order by id',
    [idOf(name)],
  )
  const some = limitTo(
    limited,
    rows.map(({ id }) => id),
    db,
  )
  const of = (shown: typeof db, filter: Partial<Filter>) =>
    searchDocuments({ db: shown }, idOf(name), { type: 0, page: 1, ...filter })
  const compare = (filter: Partial<Filter>) =>
    sideBySide(
      () => of(some, filter),
      () => of(db, filter),
    )
  const { total } = await of(some, {})
  return {
    companies: rows.length,
    documents: total,
    month: await compare(month(0)),
    noDates: await compare({}),
    lastPage: await compare({ page: Math.ceil(total / 50) }),
    twoWords: await compare({ ...month(0), text: `distribuidora ${terms.some}` }),
    dashboard: await sideBySide(
      () => readDashboard({ db: some, ids }, idOf(name)),
      () => readDashboard({ db, ids }, idOf(name)),
    ),
  }
}

async function filtersOf(name: Name): Promise<Record<string, Partial<Filter>>> {
  const { rows } = await owner.query<{ company_id: number }>(
    'select company_id from count_month where workspace_id = $1 group by 1 order by sum(n) desc offset 1 limit 1',
    [idOf(name)],
  )
  const company = { companyId: rows[0]!.company_id }
  const [current, last] = [month(0), month(1)]
  const day = (from: string, to: string) => ({ from: `${from}T00:00:00`, to: `${to}T23:59:59` })
  return {
    month: current,
    lastMonth: last,
    monthCte: { ...last, type: 2 },
    monthCompany: { ...current, ...company },
    monthStatus: { ...current, status: 2 },
    monthRareStatus: { ...current, status: 5 },
    monthRole: { ...current, role: 1 },
    monthRareRole: { ...current, role: 3 },
    monthCompanyStatusRole: { ...current, ...company, status: 2, role: 1 },
    noDates: {},
    noDatesStatusRole: { status: 2, role: 1 },
    noDatesCompany: company,
    oneDay: day(current.from.slice(0, 10), current.from.slice(0, 10)),
    days90: day(`${month(3).from.slice(0, 8)}15`, `${current.from.slice(0, 8)}14`),
    years5: day(`${month(60).from.slice(0, 8)}16`, `${current.from.slice(0, 8)}17`),
  }
}

async function measureSearch(name: Name) {
  const one = (await list(name, {})).rows[0]!
  const { rows } = await owner.query<{ tax_id: string }>(
    'select tax_id from supplier where workspace_id = $1 order by id limit 1',
    [idOf(name)],
  )
  const within = name === 'large' ? month(1) : {}
  const words: Record<string, Partial<Filter>> = {
    nameRare: { text: terms.rare, ...within },
    name3Percent: { text: terms.some, ...within },
    name25Percent: { text: terms.many, ...within },
    number: { text: String(one.number) },
    chave: { text: one.chave.replace(/(.{4})/g, '$1 ') },
    beginningOfChave: { text: one.chave.slice(0, 30) },
    cnpj: { text: rows[0]!.tax_id },
    twoNames: { text: `distribuidora ${terms.some}`, ...within },
    twoFrequentNames: { text: `distribuidora ${terms.many}`, ...within },
    nameAndNumber: { text: `${terms.many} ${one.number}`, ...within },
    nameAndAmount: { text: `${terms.some} >10000`, ...within },
    nameAndDay: { text: `15/10 ${terms.many}`, ...within },
    amount: { text: '16.471,02', ...within },
    amountRange: { amountFrom: '10000', amountTo: '20000', ...within },
    partOfChave: { text: one.chave.slice(-12), ...within },
    insideRare: { text: 'zirconio', ...within },
    inside3Percent: { text: 'inox', ...within },
    inside25Percent: { text: 'parafuso', ...within },
    insideBeginning: { text: 'marcaa', ...within },
    insideTwo: { text: 'parafuso inox', ...within },
    insideAndName: { text: `inox ${terms.some}`, ...within },
    insideCfop: { text: 'cfop:5102', ...within },
    insideNcm: { ncm: '1012', ...within },
    insideCurrentMonth: { text: 'inox', ...month(0) },
    inside25PercentCurrentMonth: { text: 'parafuso', ...month(0) },
    insideAnyDate: { text: 'inox' },
    insideRareAnyDate: { text: 'zirconio' },
    inside25PercentAnyDate: { text: 'parafuso' },
  }
  const measured: Record<string, Spread & { total: number }> = {}
  for (const [label, filter] of Object.entries(words)) {
    const times: number[] = []
    for (let turn = -3; turn < rounds; turn++) {
      const { ms } = await timed(() => list(name, filter))
      if (turn >= 0) times.push(ms)
    }
    const { total } = await list(name, filter)
    measured[label] = { total, p50: round(quantile(times, 0.5)), p95: round(quantile(times, 0.95)) }
  }
  return measured
}

// The first, the middle and the last page of each order.
async function measureOrders(name: Name) {
  const measured: Record<string, { total: number; first: Spread; middle: Spread; last: Spread }> = {}
  for (const [label, range] of Object.entries({ lastMonth: month(1), noDates: {} }))
    for (const by of ['issued', 'amount', 'arrived', 'due', 'issuer'] as const) {
      const order = { by, ascending: by === 'due' || by === 'issuer' }
      const { total } = await list(name, range)
      const pages = Math.ceil(total / 50)
      const at = (page: number) => list(name, { ...range, order, page })
      measured[`${label}.${by}`] = {
        total,
        first: await manyTimes(10, () => at(1)),
        middle: await manyTimes(10, () => at(Math.ceil(pages / 2))),
        last: await manyTimes(10, () => at(pages)),
      }
    }
  return measured
}

async function manyTimes(turns: number, work: () => Promise<unknown>) {
  const times: number[] = []
  for (let turn = -1; turn < turns; turn++) {
    const { ms } = await timed(work)
    if (turn >= 0) times.push(ms)
  }
  return { p50: round(quantile(times, 0.5)), p95: round(quantile(times, 0.95)) }
}

async function againstFetch(name: Name, ids: bigint[], work: () => Promise<unknown>): Promise<Compared> {
  const { ms, otherMs, ratio } = await sideBySide(work, () => fetchRows(name, ids))
  return { fetchMs: otherMs, ms, ratio }
}

// Medians of the two, turn by turn.
async function sideBySide(one: () => Promise<unknown>, other: () => Promise<unknown>) {
  const [ones, others] = [[] as number[], [] as number[]]
  for (let turn = -5; turn < rounds; turn++) {
    const [ofOther, ofOne] = [await timed(other), await timed(one)]
    if (turn < 0) continue
    ones.push(ofOne.ms)
    others.push(ofOther.ms)
  }
  const [ms, otherMs] = [quantile(ones, 0.5), quantile(others, 0.5)]
  return { ms: round(ms), otherMs: round(otherMs), ratio: round(ms / otherMs) }
}

function list(name: Name, filter: Partial<Filter>) {
  return searchDocuments({ db }, idOf(name), { type: 0, page: 1, ...filter })
}

async function someIds(name: Name, filter: Partial<Filter>): Promise<bigint[]> {
  return (await list(name, filter)).rows.map(({ id }) => id)
}

function fetchRows(name: Name, ids: bigint[]) {
  return readWorkspace({ db }, idOf(name), ({ db }) =>
    sql`select d.id, d.number::float8 as number, s.name as issuer_name, d.chave, d.amount, d.issued_at, d.issued_offset, d.roles, d.event_code, d.event_text,
               d.base_status, d.complete
          from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
         where d.workspace_id = ${idOf(name)} and d.id = any (${ids.map(String)}::bigint[])`.execute(db),
  )
}

/** The whole month so many before this one, as the screen asks for it. */
function month(ago: number): { from: string; to: string } {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' }).format(new Date())
  const [year, number] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))]
  const day = (months: number, date: number) =>
    new Date(Date.UTC(year, number - 1 + months, date)).toISOString().slice(0, 10)
  return { from: `${day(-ago, 1)}T00:00:00`, to: `${day(1 - ago, 0)}T23:59:59` }
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now()
  const result = await work()
  return { ms: performance.now() - began, result }
}

function round(value: number): number {
  return Number(value.toFixed(2))
}
