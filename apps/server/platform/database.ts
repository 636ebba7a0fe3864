import { createHmac } from 'node:crypto'
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import type { Database, WithDatabase } from './context.ts'
import type { Tables } from './tables.ts'

// bigint as BigInt (NSUs and ids are exact); dates and local times stay text: they are what a document says, not instants.
const parsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1082, String],
  [1114, String],
])
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
}

/** Role of the application: owns nothing and cannot bypass row-level security; `migrate` creates it. */
export const appRole = 'vigia_app'
/** Role of the signer: reads sealed keys and requested events, and records uses of certificates. */
export const signerRole = 'vigia_signer'

/** Role for people limited to some companies: row-level security hides rows of other companies. */
export const limitedRole = 'vigia_limited'

export type DatabaseRole = typeof appRole | typeof signerRole | typeof limitedRole

/**
 * Password of a role, derived from that of the owner in `url`, so every machine can compute it and
 * nothing is stored. Null when `url` has no password: PostgreSQL must then authenticate by other
 * means.
 */
export function rolePassword(url: string, role: DatabaseRole): string | null {
  const address = new URL(url)
  const secret = address.searchParams.get('password') || decodeURIComponent(address.password)
  return secret === '' ? null : createHmac('sha256', secret).update(role).digest('base64url')
}

/**
 * How many connections may be open at once, how long a statement on one of them waits for what another holds, and how long it may take at all
 * (0: as long as it takes).
 */
export interface PoolOptions {
  connections: number
  lockTimeoutMs: number
  role?: DatabaseRole
  statementTimeoutMs: number
}

/**
 * Each role has a pool of its own, so that the API responds whatever the workers wait for. The workers use at the same time:
 *
 * | conversations and their claim | 12 + 1 | one connection each |
 * | batches of events and their claim | 4 + 1 | one connection each |
 * | mails, reviews | 4, 2 | one connection each, for a moment |
 * | certificate files of batches | 8 (of one workspace one after the other) + 1 | one connection each, for a moment |
 *
 * The signer answers each of them with one statement or two, and its own 6 connections.
 *
 * API statements give up on a lock after 10 s and are ended after 30 s, so they cannot use up the pool. Several processes together stay below `max_connections`, which
 * is 100 in the embedded PostgreSQL.
 */
export const pools = {
  api: { connections: 10, lockTimeoutMs: 10_000, statementTimeoutMs: 30_000 },
  worker: { connections: 16, lockTimeoutMs: 0, statementTimeoutMs: 0 },
  task: { connections: 10, lockTimeoutMs: 0, statementTimeoutMs: 0 },
  signer: { connections: 6, lockTimeoutMs: 10_000, statementTimeoutMs: 30_000, role: signerRole },
  /** For people limited to some companies, in the API. */
  limited: { connections: 5, lockTimeoutMs: 10_000, statementTimeoutMs: 30_000, role: limitedRole },
  /** For exports of people limited to some companies, in the workers. */
  limitedWorker: { connections: 2, lockTimeoutMs: 0, statementTimeoutMs: 0, role: limitedRole },
} satisfies Record<string, PoolOptions>

/** A pool of connections of a role, `appRole` unless told otherwise, to the database at `url`, the address of its owner. Close with `destroy`. */
export function openDatabase(url: string, options: Partial<PoolOptions> = {}): Database {
  const {
    connections,
    lockTimeoutMs,
    statementTimeoutMs,
    role = appRole,
  } = { ...pools.task, ...options } as PoolOptions
  const pool = new pg.Pool({
    ...connectionTo(url, lockTimeoutMs, role),
    max: connections,
    types,
    statement_timeout: statementTimeoutMs,
  })
  // A lost connection is replaced by the pool, and its user gets an error of its own; without listeners it would end the
  // process.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  pool.on('connect', (client) => {
    client.on('error', () => {})
    namePrepared(client)
  })
  return db
}

// A prepared statement leaves by its name.
function namePrepared(client: pg.PoolClient): void {
  const send = client.query.bind(client) as (query: string | pg.QueryConfig, values?: unknown[]) => Promise<unknown>
  const query = (text: string, values?: unknown[]) => {
    const name = prepared.get(text)
    return name ? send({ name, text, values }) : send(text, values)
  }
  client.query = query as typeof client.query
}

// Names of prepared statements by their texts. Each connection holds their plans in memory.
const prepared = new Map<string, string>()
const preparedMax = 100

/**
 * Carries out a statement that each connection keeps, with its plan: planning may take longer than carrying it out. Only where there are few texts, and the best
 * plan is the same whatever the parameters are. Plans are kept in transactions of `readWorkspace` and after `keepPlans`; in others each is planned as all
 * statements are.
 */
export async function executePrepared<T>(db: Database, statement: RawBuilder<T>): Promise<T[]> {
  const compiled = statement.compile(db)
  if (!prepared.has(compiled.sql) && prepared.size < preparedMax)
    prepared.set(compiled.sql, `statement_${prepared.size}`)
  const { rows } = await db.executeQuery<T>(compiled)
  return rows
}

/** Keeps the plans of prepared statements, and of foreign keys, in the transaction `db`. None reads a whole table: the plan would stay while the table grows. */
export async function keepPlans({ db }: WithDatabase): Promise<void> {
  await sql`set local plan_cache_mode = auto; set local enable_seqscan = off`.execute(db)
}

// To compile a statement takes longer than to carry it out: all of ours are short.
const sessionSettings = {
  plan_cache_mode: 'force_custom_plan',
  jit: 'off',
  timezone: 'UTC',
  default_text_search_config: 'pg_catalog.simple',
  // Has `set local` reach the other servers of a database that is distributed over several; a server that is alone knows nothing of it.
  'citus.propagate_set_commands': 'local',
}

/** How a role connects to the database at `url`, the address of its owner: so that it can never act as the owner. */
export function connectionTo(
  url: string,
  lockTimeoutMs: number,
  role: DatabaseRole,
): { connectionString: string; options: string } {
  const address = new URL(addressOf(url, role))
  // Options of the address would take the place of ours instead of standing beside them.
  const theirs = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options')
  const ours = Object.entries({ ...sessionSettings, lock_timeout: lockTimeoutMs }).map(
    ([name, value]) => `-c ${name}=${value}`,
  )
  return { connectionString: address.href, options: [theirs, ...ours].join(' ') }
}

function addressOf(url: string, role: DatabaseRole): string {
  const address = new URL(url)
  // Query parameters override the user before the host, which an address without host cannot have.
  address.searchParams.set('user', role)
  address.searchParams.set('password', rolePassword(url, role) ?? '')
  address.username = ''
  address.password = ''
  return address.href
}

/** How many rows there are; `from`: their tables and conditions. */
export async function countRows(db: Database, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n ${from}`.execute(db)
  return rows[0]!.n
}

/** A time as JSON writes a `Date`. */
export const jsonTime = (time: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Checks that connections of `db` have `role`, and cannot get past row-level security. */
export async function requireRole(db: Database, role: DatabaseRole): Promise<void> {
  const { rows } = await sql<{ name: string; login: string; free: boolean }>`
    select current_user as name, session_user as login,
           rolsuper or rolbypassrls or rolcreaterole or exists (select 1 from pg_auth_members where member = r.oid)
             or exists (select 1 from pg_class where relowner = r.oid) as free
      from pg_roles r where rolname = current_user`.execute(db)
  const { name, login, free } = rows[0]!
  if (name !== role || login !== role || free)
    throw new Error(`connections of ${login} act as ${name}${free ? ', who may do more than the application' : ''}`)
}

/** Companies that a limited person may see, and the unlimited database. */
interface Limit {
  companies: readonly number[]
  whole: Database
}

const limits = new WeakMap<Database, Limit>()

/**
 * Database of the limited role for a person who may see `companies` only: its transactions neither
 * read nor write rows of other companies. `whole` is the unlimited database.
 */
export function limitTo(limited: Database, companies: readonly number[], whole: Database): Database {
  const db = limited.withTables()
  limits.set(db, { companies, whole })
  return db
}

/** The companies that `ctx.db` shows; null: all of the workspace. */
export function companiesShown({ db }: WithDatabase): number[] | null {
  const limit = limits.get(db)
  return limit ? [...limit.companies] : null
}

/**
 * The context with all of the workspace, for a deed on rows that were shown before: it may have to know of other companies, and of other
 * workspaces with the same one. Outside of transactions only.
 */
export function beyondLimit<C extends WithDatabase>(ctx: C): C {
  const limit = limits.get(ctx.db)
  return limit ? { ...ctx, db: limit.whole } : ctx
}

// The first statement of a transaction that `of` begins.
async function applyLimit(db: Database, of: Database): Promise<void> {
  const limit = limits.get(of)
  if (!limit) return
  limits.set(db, limit)
  const { companies } = limit
  if (!companies.every((id) => Number.isSafeInteger(id) && id > 0)) throw new Error('not the ids of companies')
  await sql.raw(`set local app.companies = '${companies.join()}'`).execute(db)
}

/**
 * Runs `work` in one transaction that sees and writes only rows of the workspace. Inside a transaction
 * it joins it, and leaves the workspace entered.
 */
export function inWorkspace<C extends WithDatabase, T>(
  ctx: C,
  workspaceId: number,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  return transact(ctx, enter(workspaceId), work)
}

/**
 * Like `inWorkspace`, on one unchanging picture of the data and unable to write. Inside a transaction
 * it joins it and enters nothing: the workspace is entered already.
 */
export async function readWorkspace<C extends WithDatabase, T>(
  ctx: C,
  workspaceId: number,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  if (ctx.db.isTransaction) return work(ctx)
  return ctx.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (db) => {
      await applyLimit(db, ctx.db)
      // `auto` lets prepared statements keep their plans (`executePrepared`); all others are planned for their parameters as before.
      await sql`${enter(workspaceId)}; set local plan_cache_mode = auto`.execute(db)
      return work({ ...ctx, db })
    })
}

/** Runs `work` in one transaction of the capture, which sees the conversations of all workspaces. */
export function inCapture<C extends WithDatabase, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  return transact(ctx, sql`set local app.capture = 'on'`, work)
}

/** Runs `work` in one transaction that sees the plans, mails and messages of all workspaces, and nothing else of them. */
export function asOperator<C extends WithDatabase, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  return transact(ctx, sql`set local app.operator = 'on'`, work)
}

/**
 * Runs `work` in one transaction that sees what `inCapture` and `asOperator` do, takes two seconds at most for each statement, and looks into indexes: before a
 * table is analysed the planner would rather read all of it.
 */
export function asScheduler<C extends WithDatabase, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  const settings = sql`set local app.operator = 'on'; set local app.capture = 'on';
    set local enable_seqscan = off; set local statement_timeout = '2s'`
  return transact(ctx, settings, work)
}

/** Runs `work` in a savepoint of the transaction `db`: an error rolls back only its writes. */
export async function guarded<T>(db: Database, work: () => Promise<T>): Promise<T> {
  await sql`savepoint guarded`.execute(db)
  try {
    const result = await work()
    await sql`release savepoint guarded`.execute(db)
    return result
  } catch (error) {
    await sql`rollback to savepoint guarded`.execute(db)
    throw error
  }
}

/** Whether the database refused the data, and would refuse it again. */
export function isDataError(error: unknown): boolean {
  // SQLSTATE classes 22 (data exception), 23 (integrity) and 54 (limits).
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^(22|23|54)/.test(code)
}

// Errors in what a document says: it fails again, and others do not.
const isOfData = (error: unknown) => isDataError(error) || error instanceof TypeError || error instanceof RangeError

/** Does `work` with all of these, or, when what they say fails, with each alone; `refused` is called with each that fails alone. */
export async function batchOrEach<T>(
  db: Database,
  all: readonly T[],
  work: (some: readonly T[]) => Promise<void>,
  refused: (one: T, error: unknown) => void,
): Promise<void> {
  if (all.length === 0) return
  try {
    await guarded(db, () => work(all))
  } catch (error) {
    if (!isOfData(error)) throw error
    if (all.length === 1) return refused(all[0]!, error)
    for (const one of all) await batchOrEach(db, [one], work, refused)
  }
}

/** Switches the workspace of the transaction that `ctx.db` already is. */
export async function enterWorkspace({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await enter(workspaceId).execute(db)
}

// A statement, not `set_config`: only the statement reaches the other servers of a database that is distributed over several. It takes
// no parameters, so the number is checked before it is written into the text.
function enter(workspaceId: number): RawBuilder<unknown> {
  if (!Number.isSafeInteger(workspaceId) || workspaceId <= 0)
    throw new Error(`not the id of a workspace: ${workspaceId}`)
  return sql.raw(`set local app.ws = '${workspaceId}'`)
}

function transact<C extends WithDatabase, T>(
  ctx: C,
  setting: RawBuilder<unknown>,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  return inTransaction(ctx, async (ctx) => {
    await setting.execute(ctx.db)
    return work(ctx)
  })
}

/** Lock of one workspace that the last work of a transaction takes. */
interface LastLock {
  lock: 'audit' | 'changes' | 'jobs' | `announcement ${string}`
  workspaceId: number
}

const lastWork = new WeakMap<Database, (LastLock & { work: () => Promise<void> })[]>()

/** Runs `work` in a transaction that has entered no workspace yet, or joins the one under way. */
export function inTransaction<C extends WithDatabase, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  if (ctx.db.isTransaction) return work(ctx)
  return ctx.db.transaction().execute(async (db) => {
    const last: (LastLock & { work: () => Promise<void> })[] = []
    lastWork.set(db, last)
    await applyLimit(db, ctx.db)
    const result = await work({ ...ctx, db })
    // All transactions take these locks in one order, so that two never wait for each other.
    last.sort((a, b) => a.lock.localeCompare(b.lock) || a.workspaceId - b.workspaceId)
    for (const { work } of last) await work()
    return result
  })
}

/**
 * Has `work` done as the last thing of the transaction that `ctx.db` is: a lock that it takes is held for a moment only, and nothing waits for
 * another lock meanwhile. By then the transaction may be in another workspace.
 */
export function beforeCommit({ db }: WithDatabase, lock: LastLock, work: () => Promise<void>): void {
  const last = lastWork.get(db)
  if (!last) throw new Error('not in a transaction of inTransaction')
  last.push({ ...lock, work })
}
