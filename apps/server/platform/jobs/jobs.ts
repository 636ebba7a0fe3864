import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../context.ts'
import { isDistributed } from '../database.ts'
import type { Logger } from '../log.ts'
import { pause } from '../pause.ts'

/** A kind of job: rows of a table, of which every process takes those that are due. */
export interface JobKind<Job> {
  /** For the log. */
  name: string
  /** Takes the next job, or null when none is due; `running` are the jobs that this process carries out now. */
  claim(running: readonly Job[]): Promise<Job | null>
  /**
   * Whether a claim may find something; asked instead of claiming after a claim that found nothing. It may say yes when there is nothing, and what it does not
   * know of is found a little later.
   */
  mayFind?(): Promise<boolean>
  /** Carries a job out and writes down what came of it. `signal` says that the process is about to end. */
  run(job: Job, signal: AbortSignal): Promise<void>
  /** Lets a job go whose `run` threw, to be tried later. Without it, and when it throws as well, the lease runs out by itself. */
  postpone?(job: Job): Promise<void>
  /** What the log says of a job that threw. */
  describe?(job: Job): object
  /** How many jobs this process carries out at the same time. */
  concurrency: number
  /** None takes longer than this unless it hangs; two hours unless told otherwise. */
  workMs?: number
  /** About the wait after a claim that found nothing, unless a job ends meanwhile, and after a job that could not be let go. */
  idleMs: number
}

/** Another process took a job over, because its lease ran out here: what this process still knows of it must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

// The loops of this process, and until when (`performance.now`) each has to turn and what it carries out has to end.
const loops = new Map<object, { name: string; dueBy(): number }>()
// A claim takes moments, what is carried out minutes.
const claimMs = 5 * 60_000
const turnMs = 15 * 60_000
// A claim does more than to take a job, and `mayFind` may not know of one.
const claimEveryMs = 15_000
/** What may rightly take long. */
export const longMs = 2 * 3_600_000

/** The loops of this process that should have turned by now: something that they wait for hangs. */
export function lateLoops(): string[] {
  const now = performance.now()
  return [...loops.values()].filter(({ dueBy }) => dueBy() < now).map(({ name }) => name)
}

/** Claims and carries out jobs until disposed; then waits for those under way. */
export function startJobs<Job>(kind: JobKind<Job>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const running = new Map<Job, Promise<void>>()
  const { workMs = longMs } = kind
  // Each by itself: the loop goes on by the places of the others when one hangs.
  const ends = new Map<Job, number>()
  // Wait before the next claim: it could return the job that just failed.
  let restFirst = false
  // When a claim last found nothing, as long as nothing happened after it.
  let foundNothingAt: number | null = null
  // A job that ends leaves its place, and may leave more to do, to a claim that found nothing meanwhile.
  let idle = new AbortController()
  const wake = () => {
    foundNothingAt = null
    idle.abort()
  }
  stop.signal.addEventListener('abort', () => idle.abort(), { once: true })
  const begin = (job: Job) => {
    const done = carryOut(kind, job, stop.signal, log)
      .then((letGo) => {
        if (!letGo) restFirst = true
      })
      .finally(() => {
        running.delete(job)
        ends.delete(job)
        wake()
      })
    running.set(job, done)
    ends.set(job, performance.now() + workMs)
  }
  const loop = async (due: (ms: number) => void) => {
    while (!stop.signal.aborted) {
      if (restFirst) {
        restFirst = false
        due(kind.idleMs + claimMs)
        await pause(kind.idleMs, stop.signal)
      } else if (running.size >= kind.concurrency) {
        due(workMs)
        await Promise.race(running.values())
      } else {
        idle = new AbortController()
        due(kind.idleMs + claimMs)
        const begun = performance.now()
        const isClaimed = foundNothingAt === null || begun - foundNothingAt >= claimEveryMs || !kind.mayFind
        // A claim that fails says why in the log.
        if (isClaimed || (await kind.mayFind?.().catch(() => true))) {
          foundNothingAt = begun
          due(kind.idleMs + claimMs)
          const job = await kind.claim([...running.keys()]).catch((error: unknown) => {
            log.error({ err: error, job: kind.name }, 'no job could be claimed')
            return null
          })
          if (job !== null) {
            foundNothingAt = null
            begin(job)
            continue
          }
        }
        await pause(kind.idleMs, idle.signal)
      }
    }
    await Promise.all(running.values())
  }
  return untilDisposed(stop, kind.name, loop, ends)
}

// Returns whether the job was let go.
async function carryOut<Job>(kind: JobKind<Job>, job: Job, signal: AbortSignal, log: Logger): Promise<boolean> {
  const about = () => ({ job: kind.name, ...kind.describe?.(job) })
  try {
    await kind.run(job, signal)
    return true
  } catch (error) {
    if (error instanceof LeaseLost) {
      log.warn(about(), error.message)
      return true
    }
    log.error({ err: error, ...about() }, 'a job failed')
  }
  if (!kind.postpone) return false
  try {
    await kind.postpone(job)
    return true
  } catch (error) {
    if (error instanceof LeaseLost) log.warn(about(), error.message)
    else log.error({ err: error, ...about() }, 'a job could not be let go; its lease will run out')
    return false
  }
}

/** Jobs of one kind that are claimed in an order of their own. */
export interface Lane {
  /** Which rows are due. */
  due: RawBuilder<unknown>
  /** A condition that is cheaper to find and holds for all rows that are due. */
  maybeDue?: RawBuilder<unknown>
  order: RawBuilder<unknown>
  /** What a claim writes into a row besides its lease. */
  set?: RawBuilder<unknown>
}

interface Claim<L extends Lane> {
  /** The table, with the alias that the conditions use. Its rows have, where they are leased, `lease_until`. */
  table: RawBuilder<unknown>
  /** All columns of its primary key: without the first one the index is searched once for each workspace. */
  key?: readonly string[]
  /** The column with the workspace, where the rows belong to one and the key does not name it `workspace_id`. */
  workspace?: string
  /** Tried in this order; rows of one lane only are claimed. */
  lanes: readonly L[]
  /** How long the rows are left to this process; null: `set` of each lane makes them not due any more. */
  leaseMs: number | null
  rowsMax?: number
  returning: RawBuilder<unknown>
}

/**
 * Takes the first free rows of the first lane that has some. They come back unordered. `db` is a transaction that sees them. Two claims at
 * the same time never get the same row, and never wait for each other.
 */
export async function claimRows<Row, L extends Lane>(
  db: Database,
  { table, key = ['id'], workspace, lanes, leaseMs, rowsMax = 1, returning }: Claim<L>,
): Promise<{ lane: L; rows: Row[] } | null> {
  const free = leaseMs === null ? sql`true` : sql`(lease_until is null or lease_until < now())`
  const lease = leaseMs === null ? [] : [sql`lease_until = ${fromNow(leaseMs)}`]
  const columns = key.map((name) => ({ own: sql.ref(name), chosen: sql.ref(`chosen_${name}`) }))
  const chosen = sql.join(columns.map(({ own, chosen }) => sql`${own} as ${chosen}`))
  const isChosen = sql.join(
    columns.map(({ own, chosen }) => sql`${own} = ${chosen}`),
    sql` and `,
  )
  const take = async (lane: L, which: RawBuilder<unknown>, own = sql`true`) => {
    const { rows } = await sql<Row>`
      with chosen as materialized (
        select ${chosen}, now() as chosen_at from ${table} where ${which} for no key update skip locked)
      update ${table} set ${sql.join([...lease, ...(lane.set ? [lane.set] : [])])} from chosen where ${own} and ${isChosen}
      returning ${returning}`.execute(db)
    return rows
  }
  const firstOf = (lane: L, rowsMax: number) => sql`${lane.due} and ${free} order by ${lane.order} limit ${rowsMax}`
  // Rows of several servers cannot be locked by one statement: it is asked whose turn it is, more than are wanted because another process may be
  // taking the first, and then each is taken as it was seen, or not at all.
  const takeSeen = async (lane: L, column: string) => {
    const names = [...new Set([column, ...key])]
    const { rows: seen } = await sql<Record<string, unknown> & { version: string }>`
      select ${sql.join(names.map((name) => sql.ref(name)))}, xmin::text as version from ${table}
       where ${firstOf(lane, rowsMax + 8)}`.execute(db)
    const rows: Row[] = []
    for (const row of seen) {
      if (rows.length === rowsMax) break
      const isIt = sql.join(
        names.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
        sql` and `,
      )
      rows.push(
        ...(await take(lane, sql`${isIt} and xmin::text = ${row.version}`, sql`${sql.ref(column)} = ${row[column]}`)),
      )
    }
    return rows
  }
  const column = workspace ?? key.find((name) => name === 'workspace_id')
  const isFar = column !== undefined && (await isDistributed({ db }))
  // A statement for each lane, so that each can use its own index.
  for (const lane of lanes) {
    const rows = isFar ? await takeSeen(lane, column) : await take(lane, firstOf(lane, rowsMax))
    if (rows.length > 0) return { lane, rows }
  }
  return null
}

// The workspace that each kind of claim served last in this process.
const servedLast = new Map<string, number>()

interface Turns<L extends Lane> extends Claim<L> {
  /** The kind of claim. */
  kind: string
  workspaceOf?: RawBuilder<unknown>
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
    workspaceOf = sql`workspace_id`,
    workspaces = (due) => sql`select distinct ${workspaceOf} as id from ${claim.table} where ${due}`,
    isOf = (id) => sql`${workspaceOf} = ${id}`,
    ...claim
  }: Turns<L>,
): Promise<{ lane: L; rows: Row[] } | null> {
  for (const lane of claim.lanes) {
    const isDue = sql`${lane.maybeDue ?? lane.due} and (lease_until is null or lease_until < now())`
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

/** Calls `cut` a while after `signal`, unless disposed before: what is under way may end, but a process does not wait for ever. */
export function afterGrace(signal: AbortSignal, graceMs: number, cut: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    timer = setTimeout(cut, graceMs)
  }
  if (signal.aborted) begin()
  signal.addEventListener('abort', begin, { once: true })
  return {
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}

/**
 * Carries out `work` at once and then every `everyMs`, until disposed; when it fails it is tried the next time. What takes longer than `workMs`
 * hangs.
 */
export function repeat(everyMs: number, work: () => Promise<void>, log: Logger, workMs = turnMs): AsyncDisposable {
  const stop = new AbortController()
  const loop = async (due: (ms: number) => void) => {
    while (!stop.signal.aborted) {
      due(workMs)
      await work().catch((error: unknown) => log.error({ err: error }, 'periodic work failed'))
      due(everyMs + claimMs)
      await pause(everyMs, stop.signal)
    }
  }
  return untilDisposed(stop, work.name || `every ${everyMs / 1000} s`, loop)
}

/** Stops all at once, so that none goes on because it waits for another, and throws what the first that failed says, after the others. */
export function together(loops: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      const ends = await Promise.allSettled(loops.map(async (loop) => loop[Symbol.asyncDispose]()))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}

function untilDisposed(
  stop: AbortController,
  name: string,
  loop: (due: (ms: number) => void) => Promise<void>,
  ends: ReadonlyMap<unknown, number> = new Map(),
): AsyncDisposable {
  const due = (ms: number) => {
    const turnBy = performance.now() + ms
    loops.set(stop, { name, dueBy: () => Math.min(turnBy, ...ends.values()) })
  }
  const done = loop(due).finally(() => loops.delete(stop))
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}
