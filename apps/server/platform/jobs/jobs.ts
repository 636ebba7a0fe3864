import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Context, WithDatabase } from '../context.ts'
import { asOperator, asScheduler } from '../database.ts'
import { fromNow } from './claim.ts'
import { LeaseLost, startJobs } from './loop.ts'

/** A job that this process carries out. */
export interface Job {
  id: bigint
  kind: string
  workspaceId: number | null
  /** Subject of the job, unique for its kind and workspace. */
  key: string
  /** Ids, never contents. */
  payload: unknown
  queuedAt: Date
  /** Failures since it last succeeded or was queued. */
  failures: number
  lease: string
}

/** When a job runs again; with `error` it failed. */
export interface Again {
  waitMs: number
  error?: string
}

/** A kind of jobs, and how they are carried out. */
export interface JobKind {
  name: string
  /** How many this process carries out at the same time; failed ones take half of these at most. */
  concurrency: number
  /** How many of these one workspace may take. */
  placesOfEach?: number
  /** Whether what it needs is there; without it jobs wait. */
  mayRun?(ctx: Context): boolean
  /** Jobs that carry something made before events were held wait for the release. */
  isHeld?: boolean
  /** The wait after each failure in a row; the last one repeats. */
  waits?: readonly number[]
  /** Carries a job out; null: it is done. `signal` says that the process is about to end; what throws then runs again at the next start. */
  run(ctx: Context, job: Job, signal: AbortSignal): Promise<Again | null>
}

/** Work of the installation that is done again so long after it ended, by one process. */
export interface Cron {
  name: string
  everyMs: number
  run(ctx: Context, signal: AbortSignal): Promise<unknown>
}

const minuteMs = 60_000
const defaultWaits = [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs]
const leaseMs = 2 * minuteMs
const renewEveryMs = 30_000
const idleMs = 500
const seenMax = 5_000 // Workspaces take turns among the jobs that wait longest.

/**
 * Queues a job (of each kind) in the transaction that `ctx.db` is, if it is one, to run after `waitMs`. A job that waits keeps the earlier time; one
 * that runs, runs once more. Its row stays locked until the commit, so nobody claims it before. Jobs of no workspace are queued once.
 */
export async function queueJob(
  { db }: WithDatabase,
  job: {
    kind: string | string[]
    workspaceId: number | null
    key?: string
    payload?: object
    waitMs?: number
    /** When what it carries was made: a hold since then makes it wait. */
    since?: Date
  },
): Promise<void> {
  const { kind, workspaceId, key = '', payload = {}, waitMs = 0, since = null } = job
  const again = sql`
    on conflict (kind, workspace_id, key) do update set run_at = least(j.run_at, excluded.run_at), payload = excluded.payload
    where j.run_at > excluded.run_at or j.payload <> excluded.payload`
  await sql`
    insert into job as j (kind, workspace_id, key, payload, run_at, queued_at)
    select kind, ${workspaceId}::int, ${key}, ${JSON.stringify(payload)}::jsonb, ${fromNow(waitMs)}, coalesce(${since}::timestamptz, now())
      from unnest(${[kind].flat()}::text[]) kind
    ${workspaceId === null ? sql`` : again}`.execute(db)
}

/** Carries out the jobs of these kinds that are due, until disposed; then waits for those under way. */
export async function startQueue(
  ctx: Context,
  { jobs, crons = [] }: { jobs: readonly JobKind[]; crons?: readonly Cron[] },
): Promise<AsyncDisposable> {
  const kinds = [...jobs, ...crons.map(kindOf)]
  const byName = new Map(kinds.map((kind) => [kind.name, kind]))
  const running = new Set<Job>()
  await queueCrons(ctx, crons)
  const renewing = setInterval(() => {
    renew(ctx, running).catch((error: unknown) => ctx.log.warn({ err: error }, 'leases of jobs could not be renewed'))
  }, renewEveryMs)
  const loop = startJobs<Job>(
    {
      name: 'job',
      claim: (running) => claimJob(ctx, kinds, running),
      run: async (job, signal) => {
        running.add(job)
        try {
          await carryOut(ctx, byName.get(job.kind)!, job, signal)
        } finally {
          running.delete(job)
        }
      },
      describe: ({ kind, workspaceId, key }) => ({ kind, workspaceId, key }),
      concurrency: kinds.reduce((sum, { concurrency }) => sum + concurrency, 0),
      idleMs,
    },
    ctx.log,
  )
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      clearInterval(renewing)
    },
  }
}

const kindOf = ({ name, everyMs, run }: Cron): JobKind => ({
  name,
  concurrency: 1,
  run: async (ctx, _, signal) => {
    await run(ctx, signal)
    return { waitMs: everyMs }
  },
})

async function queueCrons(ctx: WithDatabase, crons: readonly Cron[]): Promise<void> {
  await asOperator(ctx, async ({ db }) => {
    for (const { name, everyMs } of crons)
      await sql`
        insert into job as j (kind) values (${name})
        on conflict (kind, workspace_id, key) do update set run_at = least(j.run_at, ${fromNow(everyMs)})`.execute(db)
  })
}

/** Carries out a job that was claimed, and writes down what came of it. */
export async function carryOut(ctx: Context, kind: JobKind, job: Job, signal: AbortSignal): Promise<void> {
  // Claimed while the program ended.
  if (signal.aborted) return settle(ctx, job, { waitMs: 0, released: true })
  try {
    await settle(ctx, job, await kind.run(ctx, job, signal))
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    if (signal.aborted) return settle(ctx, job, { waitMs: 0, released: true })
    const { waits = defaultWaits } = kind
    const { message } = error instanceof Error ? error : new Error(String(error))
    await settle(ctx, job, { waitMs: waits[job.failures] ?? waits.at(-1)!, error: message })
    throw error
  }
}

// Last workspace that each kind served in this process; the map keeps the latest kind at its end.
const servedLast = new Map<string, number>()

type Waiting = Pick<Job, 'kind' | 'workspaceId'> & { failed: boolean }

/** Takes the next job that is due of a kind that has places; null: none. */
export async function claimJob(ctx: Context, kinds: readonly JobKind[], running: readonly Job[]): Promise<Job | null> {
  const runningOf = (kind: JobKind) => running.filter((job) => job.kind === kind.name)
  const free = kinds.filter((kind) => runningOf(kind).length < kind.concurrency && kind.mayRun?.(ctx) !== false)
  const names = free.map(({ name }) => name)
  const held = free.filter(({ isHeld }) => isHeld).map(({ name }) => name)
  const retrying = free.filter(
    (kind) => runningOf(kind).filter(({ failures }) => failures > 0).length < Math.ceil(kind.concurrency / 2),
  )
  const full = free.flatMap((kind) => {
    const own = runningOf(kind).map(({ workspaceId }) => `${kind.name} ${workspaceId}`)
    return own.filter((one) => own.filter((other) => other === one).length >= (kind.placesOfEach ?? Infinity))
  })
  const isDue = sql`coalesce(lease_until, run_at) <= now() and kind = any (${names}::text[])
    and (attempts = 0 or kind = any (${retrying.map(({ name }) => name)}::text[]))
    and concat(kind, ' ', workspace_id) <> all (${full}::text[])
    and not (kind = any (${held}::text[]) and (queued_at < (select held_since from installation)) is true)`
  return asScheduler(ctx, async ({ db }) => {
    const { rows } = await sql<Waiting>`
      select distinct kind, workspace_id as "workspaceId", attempts > 0 as failed
        from (select * from job where ${isDue} order by coalesce(lease_until, run_at) limit ${seenMax}) j`.execute(db)
    const turn = ({ kind, workspaceId }: Waiting) => {
      const id = workspaceId ?? 0
      return id > (servedLast.get(kind) ?? -1) ? id : id + 2 ** 32
    }
    const served = [...servedLast.keys()]
    for (const kind of free.sort((a, b) => served.indexOf(a.name) - served.indexOf(b.name))) {
      const waiting = rows.filter((row) => row.kind === kind.name)
      for (const next of waiting.sort((a, b) => Number(b.failed) - Number(a.failed) || turn(a) - turn(b))) {
        const job = await take({ db }, next, isDue)
        if (!job) continue
        servedLast.delete(kind.name)
        servedLast.set(kind.name, next.workspaceId ?? 0)
        return job
      }
    }
    return null
  })
}

async function take(
  { db }: WithDatabase,
  { kind, workspaceId, failed }: Waiting,
  isDue: RawBuilder<unknown>,
): Promise<Job | null> {
  const { rows } = await sql<Job>`
    update job set lease = ${randomUUID()}, lease_until = ${fromNow(leaseMs)}, run_at = 'infinity', attempts = attempts + 1
     where id = (select id from job
                  where ${isDue} and kind = ${kind} and workspace_id is not distinct from ${workspaceId} and (attempts > 0) = ${failed}
                  order by coalesce(lease_until, run_at), id limit 1 for no key update skip locked)
    returning id, kind, workspace_id as "workspaceId", key, payload, queued_at as "queuedAt", attempts - 1 as failures, lease`.execute(
    db,
  )
  return rows[0] ?? null
}

/** Keeps other processes from taking these jobs. */
export async function renew(ctx: WithDatabase, running: ReadonlySet<Job>): Promise<void> {
  const leases = [...running].map(({ lease }) => lease)
  if (leases.length === 0) return
  await asScheduler(ctx, ({ db }) =>
    // A transaction that queues one of them again must not keep the others from being renewed.
    sql`
      update job set lease_until = ${fromNow(leaseMs)}
       where id in (select id from job where lease = any (${leases}::uuid[]) for no key update skip locked)`.execute(
      db,
    ),
  )
}

/** Fails when another process has taken the job; else keeps the others from taking it until the transaction `db` ends. */
export async function holdJob({ db }: WithDatabase, { id, lease }: Pick<Job, 'id' | 'lease'>): Promise<void> {
  const { rows } = await sql`select from job where id = ${id} and lease = ${lease} for no key update`.execute(db)
  if (rows.length === 0) throw new LeaseLost('another process has taken this job')
}

type End = (Again & { released?: boolean }) | null

// One that was queued again while it ran has a time by now, and stays.
async function settle(ctx: WithDatabase, { id, lease, failures }: Job, end: End): Promise<void> {
  await asOperator(ctx, async ({ db }) => {
    await holdJob({ db }, { id, lease })
    if (end === null) await sql`delete from job where id = ${id} and run_at = 'infinity'`.execute(db)
    const { waitMs, error = null, released = false } = end ?? {}
    const outcome = error === null ? sql`attempts = 0, error = null` : sql`error = ${error}`
    await sql`
      update job set lease = null, lease_until = null, ${released ? sql`attempts = ${failures}` : outcome},
                     run_at = ${waitMs === undefined ? sql`run_at` : sql`least(run_at, ${fromNow(waitMs)})`}
       where id = ${id}`.execute(db)
  })
}
