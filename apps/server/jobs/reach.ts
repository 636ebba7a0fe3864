import { type RawBuilder, sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { asScheduler, inTransaction, isDistributed } from '../platform/database.ts'

// Where rows lie on several servers, a statement about all workspaces asks all of them, and fails while one is away:
// docs/decisions/0080-turns-while-a-server-is-away.md.

// Workspaces on servers that respond, while others do not.
const withinReach = new WeakMap<object, readonly number[]>()

// One for a pool and its transactions.
const keyOf = (db: Database) => db.getExecutor().adapter

// What transactions began with.
const keptIn = new WeakMap<Database, readonly number[] | null>()

/** The workspaces whose servers respond; null: all, as always on a single server. */
export function reachable({ db }: WithDatabase): readonly number[] | null {
  const kept = keptIn.get(db)
  return kept === undefined ? (withinReach.get(keyOf(db)) ?? null) : kept
}

/** Has all statements of a transaction take the same workspaces for reachable: what one of them knows of others has to hold for the next. */
export function keepReachable({ db }: WithDatabase): void {
  keptIn.set(db, reachable({ db }))
}

/** A further condition of a statement about all workspaces, for each table of workspaces in it: only those whose servers respond. Nothing while all do. */
export function andReachable(ctx: WithDatabase, column: string): RawBuilder<unknown> {
  const ids = reachable(ctx)
  // Citus refuses some statements about an empty list; no workspace has this number.
  const named = ids?.length === 0 ? [0] : ids
  return named ? sql`and ${sql.ref(column)} = any (${[...named]}::int[])` : sql``
}

/** Done with the workspaces within reach (null: all) before any that was not is within reach again; when it throws it stays as it was. */
export type BeforeBack = (ids: readonly number[] | null) => Promise<void>

// Numbers of workspaces, of which some lie on each server, whether there are such workspaces or not.
const numbersTried = 1000

/** Asks the servers for rows whether they respond, for `andReachable` of `ctx.db`. Returns the addresses of those that do not. */
export async function lookAtServers(ctx: WithDatabase, beforeBack: BeforeBack = async () => {}): Promise<string[]> {
  if (!(await isDistributed(ctx))) return []
  const responds = (which: RawBuilder<unknown>) =>
    asScheduler(ctx, ({ db }) => sql`select max(id) from workspace where ${which}`.execute(db)).then(
      () => true,
      () => false,
    )
  const keep = async (ids: readonly number[] | null) => {
    const before = withinReach.get(keyOf(ctx.db))
    const known = before && new Set(before)
    if (known && (ids === null || ids.some((id) => !known.has(id)))) await beforeBack(ids)
    if (ids) withinReach.set(keyOf(ctx.db), ids)
    else withinReach.delete(keyOf(ctx.db))
  }
  if (await responds(sql`true`)) {
    await keep(null)
    return []
  }
  // Of the coordinator alone: when it fails too, nothing is known of the others.
  const { rows: servers } = await inTransaction(ctx, ({ db }) =>
    sql<{ name: string; lies: number; ids: number[] }>`
      with places as (
        select i.id, i.is_workspace, p.groupid
          from (select id, true as is_workspace from all_workspaces() w (id) union all select n, false from generate_series(1, ${numbersTried}::int) n) i
          join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('workspace', i.id))
      select n.nodename || ':' || n.nodeport as name, min(p.id) as lies, coalesce(array_agg(p.id) filter (where p.is_workspace), '{}') as ids
        from places p join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary' group by 1 order by 1`.execute(
      db,
    ),
  )
  const known = await Promise.all(
    servers.map(async ({ lies, ...server }) => ({ ...server, there: await responds(sql`id = ${lies}`) })),
  )
  const away = known.filter(({ there }) => !there)
  await keep(away.length === 0 ? null : known.flatMap(({ ids, there }) => (there ? ids : [])))
  return away.map(({ name }) => name)
}
