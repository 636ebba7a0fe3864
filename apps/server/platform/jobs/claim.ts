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

interface Claim<L extends Lane> {
  /** The table, with the alias that the conditions use. Its rows have `lease_until`. */
  table: RawBuilder<unknown>
  /** All columns of its primary key: without the first one the index is searched once for each workspace. */
  key?: readonly string[]
  /** Tried in this order; rows of one lane only are claimed. */
  lanes: readonly L[]
  /** How long the rows are left to this process. */
  leaseMs: number
  rowsMax?: number
  returning: RawBuilder<unknown>
}

const isFree = sql`(lease_until is null or lease_until < now())`
// Beyond those that are wanted, because others may be writing the first.
const spareRows = 8

/**
 * Takes the first free rows of the first lane that has some. They come back unordered. `db` is a transaction that sees them. Two claims at
 * the same time never get the same row, and never wait for each other.
 */
export async function claimRows<Row, L extends Lane>(
  db: Database,
  { table, key = ['id'], lanes, leaseMs, rowsMax = 1, returning }: Claim<L>,
): Promise<{ lane: L; rows: Row[] } | null> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  // A statement for each lane, so that each can use its own index.
  for (const lane of lanes) {
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
    if (rows.length > 0) return { lane, rows }
  }
  return null
}

// The workspace that each kind of claim served last in this process.
const servedLast = new Map<string, number>()

interface Turns<L extends Lane> extends Claim<L> {
  /** The kind of claim. */
  kind: string
  /** The workspaces (`id`) of the rows that are due, where a row is of several. */
  workspaces?(due: RawBuilder<unknown>): RawBuilder<unknown>
  /** Restricts `table` to the rows of a workspace. */
  isOf?(workspaceId: number): RawBuilder<unknown>
}

/** `claimRows` by workspaces in turn: each lane begins with the workspace after the one that was served last. */
export async function claimInTurn<Row, L extends Lane>(
  db: Database,
  {
    kind,
    workspaces = (due) => sql`select distinct workspace_id as id from ${claim.table} where ${due}`,
    isOf = (id) => sql`workspace_id = ${id}`,
    ...claim
  }: Turns<L>,
): Promise<{ lane: L; rows: Row[] } | null> {
  for (const lane of claim.lanes) {
    const isDue = sql`${lane.maybeDue ?? lane.due} and ${isFree}`
    const { rows: due } = await sql<{ id: number }>`${workspaces(isDue)}`.execute(db)
    const last = servedLast.get(kind) ?? 0
    const ids = due.map(({ id }) => id).sort((a, b) => Number(a <= last) - Number(b <= last) || a - b)
    for (const id of ids) {
      const claimed = await claimRows<Row, L>(db, {
        ...claim,
        lanes: [{ ...lane, due: sql`${lane.due} and ${isOf(id)}` }],
      })
      if (!claimed) continue
      servedLast.set(kind, id)
      return { lane, rows: claimed.rows }
    }
  }
  return null
}

/** A time by the clock of the database, which all processes share. */
export function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`
}
