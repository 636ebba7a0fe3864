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
import { openDatabase, readWorkspace } from '../../platform/database.ts'
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
try {
  for (const name of names) {
    const page1 = await measurePageOne(name)
    const dashboard = await againstFetch(name, await someIds(name), () => readDashboard({ db, ids }, idOf(name)))
    const search = await measureSearch(name)
    const orders = await measureOrders(name)
    report('list', { workspace: name, ...workspaces[name], page1, dashboard, search, orders }, [
      ...Object.entries(page1).map(([filter, { ms, ratio }]) => ({
        what: `first page of ${documentsOf(name)}, ${filter}`,
        number: `${ms} ms, ratio ${ratio}`,
        against: fetched,
        goal: 'ratio ≤ 1.6',
      })),
      {
        what: `dashboard of ${documentsOf(name)}`,
        number: `${dashboard.ms} ms, ratio ${dashboard.ratio}`,
        against: fetched,
        goal: 'ratio ≤ 2',
      },
      ...Object.entries(search).map(([words, { p50, p95 }]) => ({
        what: `search in ${documentsOf(name)}, ${words}`,
        number: `${p50} ms, p95 ${p95}`,
        against: '',
        goal: 'p95 ≤ 35 ms',
      })),
      ...Object.entries(orders).map(([order, { p50 }]) => ({
        what: `middle page of ${documentsOf(name)} by ${order}`,
        number: `${p50} ms`,
        against: '',
        goal: '1000 ms',
      })),
    ])
  }
} finally {
  await db.destroy()
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
  const firstPage = async (filter: Partial<Filter>): Promise<Compared> => {
    const first = await list(name, filter)
    // Shorter lists are compared with a whole page, too.
    const ids = first.rows.length === 50 ? first.rows.map(({ id }) => id) : await someIds(name)
    return { rows: first.rows.length, ...(await againstFetch(name, ids, () => list(name, filter))) }
  }
  const month = await firstPage(monthsAgo(0))
  const noDates = await firstPage({})
  const hide = (shown: number) =>
    owner.query(
      `insert into company_family select workspace_id, id, 0, $1 from company
       on conflict (workspace_id, company_id, family) do update set shown = excluded.shown`,
      [shown],
    )
  await hide(511 & ~(1 << 2))
  const monthWithSwitches = await firstPage(monthsAgo(0))
  await hide(511)
  return { month, noDates, monthWithSwitches }
}

async function measureSearch(name: Name): Promise<Record<string, Spread>> {
  const [one] = (await list(name, {})).rows
  const within = name === 'large' ? monthsAgo(1) : {}
  const words: Record<string, Partial<Filter>> = {
    twoNames: { CampoPesquisa: `distribuidora ${terms.some}`, ...within },
    amountRange: { ValorDe: '10000', ValorAte: '20000', ...within },
    inside3Percent: { CampoPesquisa: 'inox', ...within },
    partOfChave: { CampoPesquisa: one!.chave.slice(-12), ...within },
  }
  const measured: Record<string, Spread> = {}
  for (const [label, filter] of Object.entries(words))
    measured[label] = await manyTimes(rounds, () => list(name, filter))
  return measured
}

async function measureOrders(name: Name): Promise<Record<string, Spread>> {
  const { total } = await list(name, {})
  const middle = Math.ceil(total / 50 / 2)
  const measured: Record<string, Spread> = {}
  for (const by of ['issued', 'amount', 'due'] as const)
    measured[by] = await manyTimes(10, () => list(name, { order: { by, ascending: by === 'due' }, page: middle }))
  return measured
}

async function manyTimes(turns: number, work: () => Promise<unknown>): Promise<Spread> {
  const times: number[] = []
  for (let turn = -1; turn < turns; turn++) {
    const ms = await timed(work)
    if (turn >= 0) times.push(ms)
  }
  return { p50: round(quantile(times, 0.5)), p95: round(quantile(times, 0.95)) }
}

// Medians of the two, turn by turn.
async function againstFetch(name: Name, ids: bigint[], work: () => Promise<unknown>): Promise<Compared> {
  const [times, fetches] = [[] as number[], [] as number[]]
  for (let turn = -5; turn < rounds; turn++) {
    const [fetchMs, ms] = [await timed(() => fetchRows(name, ids)), await timed(work)]
    if (turn < 0) continue
    times.push(ms)
    fetches.push(fetchMs)
  }
  const [ms, fetchMs] = [quantile(times, 0.5), quantile(fetches, 0.5)]
  return { ms: round(ms), fetchMs: round(fetchMs), ratio: round(ms / fetchMs) }
}

function list(name: Name, filter: Partial<Filter>) {
  return searchDocuments({ db }, idOf(name), { TipoDFe: 0, page: 1, ...filter })
}

async function someIds(name: Name): Promise<bigint[]> {
  return (await list(name, {})).rows.map(({ id }) => id)
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
function monthsAgo(ago: number): Pick<Filter, 'DataDe' | 'DataAte'> {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' }).format(new Date())
  const [year, number] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))]
  const day = (months: number, date: number) =>
    new Date(Date.UTC(year, number - 1 + months, date)).toISOString().slice(0, 10)
  return { DataDe: `${day(-ago, 1)}T00:00:00`, DataAte: `${day(1 - ago, 0)}T23:59:59` }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function round(value: number): number {
  return Number(value.toFixed(2))
}
