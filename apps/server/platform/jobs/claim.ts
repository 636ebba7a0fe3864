import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../context.ts'

/** Jobs of one kind that are claimed in an order of their own. */
export interface Lane {
  /** Condition of the rows that are due. */
  due: RawBuilder<unknown>
  /** Cheaper condition that holds for all rows that are due. */
  maybeDue?: RawBuilder<unknown>
  order: RawBuilder<unknown>
  /** Columns that a claim writes besides the lease. */
  set?: RawBuilder<unknown>
}

interface Claim {
  /** The table, with the alias that the conditions use. Its rows have `lease_until`. */
  table: RawBuilder<unknown>
  /** All columns of its primary key: without the first one the index is searched once for each workspace. */
  key?: readonly string[]
  /** How long the rows are left to this process. */
  leaseMs: number
  returning: RawBuilder<unknown>
}

const isFree = sql`(lease_until is null or lease_until < now())`
// Beyond those that are wanted, because others may be writing the first.
const spareRows = 8

/**
 * Takes the first free rows of a lane. They come back unordered. `db` is a transaction that sees them. Two claims at the same time never get
 * the same row, and never wait for each other.
 */
export async function claimRows<Row>(
  db: Database,
  lane: Lane,
  { table, key = ['id'], leaseMs, returning }: Claim,
  rowsMax = 1,
): Promise<Row[]> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const { rows: seen } = await sql<Record<string, unknown> & { version: string }>`
    select ${columns}, xmin::text as version from ${table}
     where ${lane.due} and ${isFree} order by ${lane.order} limit ${rowsMax + spareRows}`.execute(db)
  const rows: Row[] = []
  // Each is taken as it was seen, or not at all: one statement cannot lock rows of several worker nodes.
  for (const row of seen) {
    if (rows.length === rowsMax) break
    const isIt = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    )
    const taken = await sql<Row>`
      with chosen as materialized (
        select 1 from ${table} where ${isIt} and xmin::text = ${row.version} for no key update skip locked)
      update ${table} set lease_until = ${fromNow(leaseMs)} ${lane.set ? sql`, ${lane.set}` : sql``} from chosen where ${isIt}
      returning ${returning}`.execute(db)
    rows.push(...taken.rows)
  }
  return rows
}

// The workspace that each kind of claim served last in this process.
const servedLast = new Map<string, number>()

interface Turns extends Claim {
  /** The kind of claim. */
  kind: string
  /** Tried in this order, each with a statement of its own, so that each can use its own index. */
  lanes: readonly Lane[]
  /** The workspaces (`id`) of the rows that are due, where a row is of several. */
  workspaces?(due: RawBuilder<unknown>): RawBuilder<unknown>
  /** Restricts `table` to the rows of a workspace. */
  isOf?(workspaceId: number): RawBuilder<unknown>
}

/** Takes one row like `claimRows`, by workspaces in turn: each lane begins with the workspace after the one that was served last. */
export async function claimInTurn<Row>(
  db: Database,
  {
    kind,
    lanes,
    workspaces = (due) => sql`select distinct workspace_id as id from ${claim.table} where ${due}`,
    isOf = (id) => sql`workspace_id = ${id}`,
    ...claim
  }: Turns,
): Promise<Row | null> {
  for (const lane of lanes) {
    const isDue = sql`${lane.maybeDue ?? lane.due} and ${isFree}`
    const { rows: due } = await sql<{ id: number }>`${workspaces(isDue)}`.execute(db)
    const last = servedLast.get(kind) ?? 0
    const ids = due.map(({ id }) => id).sort((a, b) => Number(a <= last) - Number(b <= last) || a - b)
    for (const id of ids) {
      const [row] = await claimRows<Row>(db, { ...lane, due: sql`${lane.due} and ${isOf(id)}` }, claim)
      if (row === undefined) continue
      servedLast.set(kind, id)
      return row
    }
  }
  return null
}

/** A time by the clock of the database, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
