import { sql } from 'kysely'
import { Counter, Gauge, Registry } from 'prom-client'
import type { Context, Database } from './context.ts'
import { breakOff, isDataError, openDatabase, type PoolOptions, pools, readingFrom } from './database.ts'
import { AppError } from './errors.ts'
import { pause } from './pause.ts'
import { endTrouble, listTroubles, noteTrouble } from './trouble.ts'

// A standby of the database that answers reads: docs/decisions/0065-replica.md. Before each transaction there the primary is asked how far its log has come;
// the transaction begins when the standby has replayed all of that, and on the primary when this takes too long.

/** How far the log of the primary had come at a moment. */
export interface Horizon {
  cluster: string
  timeline: number
  lsn: bigint
  /** What its clock said. */
  clockMs: number
  /** When this process asked. */
  at: number
}

type Standing = 'ready' | 'behind' | 'away' | 'no-standby' | 'other-cluster' | 'other-timeline' | 'other-clock'

export interface Replica extends AsyncDisposable {
  /** `db`, whose transactions of `readWorkspace` take place on the replica while it is ready, with connections of their own; `pools`: how many. */
  reading(
    db: Database,
    pools: Record<'whole' | 'limited', PoolOptions>,
  ): Record<'reading' | 'whole' | 'limited', Database>
  metrics: Registry
}

// A replica that is not there after this long would make people wait.
const waitMs = 100
const lookEveryMs = 1_000
// One that takes longer for the smallest question does not respond.
const lookMs = 2_000
// What passes by itself is not told.
const troubleMs = 60_000
const horizonsMax = 1_000
// What has a time limit would be over on one of the two and not on the other.
const clockMsMax = 5_000

/** Follows the standby at `url` of the primary at `primaryUrl`, both the addresses of the owner, until disposed. */
export function followReplica(
  { db, log }: Pick<Context, 'db' | 'log'>,
  primaryUrl: string,
  replicaUrl: string,
): Replica {
  const url = replicaAddress(primaryUrl, replicaUrl)
  const primary = openDatabase(primaryUrl, pools.horizon)
  const watched = openDatabase(url, { ...pools.horizon, connections: 1 })
  const opened = [watched]
  const nextHorizon = shared(async () => {
    try {
      return await inTime(readHorizon(primary))
    } catch (error) {
      breakOff(primary)
      throw error
    }
  })
  let passed: Horizon[] = []
  const metrics = new Registry()
  const reads = new Counter({
    name: 'vigia_reads_total',
    help: 'Read transactions that may take place on the replica, by where they did and why they did not there (behind, away, busy, failed, and what is wrong with it).',
    labelNames: ['place', 'reason'],
    registers: [metrics],
  })
  new Gauge({
    name: 'vigia_replica_ready',
    help: 'Whether the replica is read from: 1, or 0 while all reads go to the primary.',
    registers: [metrics],
    collect() {
      this.set(standing === 'ready' ? 1 : 0)
    },
  })
  new Gauge({
    name: 'vigia_replica_lag_seconds',
    help: 'Age of the oldest moment of the primary, of those looked at once a second, that the replica has not reached; 0: it has all of them.',
    registers: [metrics],
    collect() {
      this.set(passed[0] ? (performance.now() - passed[0].at) / 1000 : 0)
    },
  })

  // Until the first look.
  let standing: Standing = 'away'
  let since = performance.now()
  const become = (next: Standing, err?: unknown) => {
    if (next === standing) return
    if (next === 'ready' || standing === 'ready') since = performance.now()
    log[next === 'ready' ? 'info' : 'warn']({ err, standing: next, before: standing }, 'the replica has changed')
    standing = next
  }

  const read = async <T>(from: Database, work: (db: Database) => Promise<T>): Promise<{ result: T } | null> => {
    const refuse = (reason: string) => {
      reads.inc({ place: 'primary', reason })
      return null
    }
    if (standing !== 'ready') return refuse(standing)
    let begun = false
    try {
      return await from.connection().execute(async (db) => {
        // What it has replayed before is in each picture that is taken afterwards.
        const [horizon, first] = await Promise.all([nextHorizon().catch(() => null), find(db)])
        // A primary that does not respond says so itself.
        if (!horizon) return refuse('no-horizon')
        const found = standingOf(horizon, await reach(db, horizon, first))
        if (found !== 'ready') {
          become(found)
          return refuse(found)
        }
        begun = true
        const result = await work(db)
        reads.inc({ place: 'replica', reason: '' })
        return { result }
      })
    } catch (error) {
      if (begun && (error instanceof AppError || isDataError(error))) throw error
      // Whatever else it was, the primary says it again if it was not the replica's.
      const isBusy = !begun && error instanceof Error && error.message === noConnectionInTime
      if (!begun && !isBusy) become('away', error)
      log.info({ err: error }, 'a read begins anew on the primary')
      return refuse(isBusy ? 'busy' : 'failed')
    }
  }

  const stop = new AbortController()
  // Null: a process before this one may have told something.
  let told: Standing | null = null
  const isNoted = async () => (await listTroubles({ db })).some(({ key }) => key === 'replica')
  const tell = async () => {
    const now = standing
    if (now !== 'ready' && performance.now() - since < troubleMs) return
    // Another process, which has the replica or wants none, may have ended it.
    if (now === told && (now === 'ready' || (await isNoted()))) return
    if (now === 'ready') await endTrouble({ db }, 'replica')
    else await noteTrouble({ db }, 'replica', sentences[now])
    told = now
  }
  const look = async () => {
    const horizon = await nextHorizon().catch(() => null)
    if (horizon) passed.push(horizon)
    const newest = passed.at(-1) ?? null
    try {
      // Without a primary nothing is known but that the replica responds.
      if (!newest) return
      const found = await inTime(watched.connection().execute(async (db) => reach(db, newest, await find(db))))
      const now = standingOf(newest, found)
      while (passed[0] && now !== 'other-cluster' && passed[0].lsn <= found.replayed) passed.shift()
      become(now)
    } catch (error) {
      become('away', error)
      // Reads that wait for it begin anew at once.
      for (const db of opened) breakOff(db)
    }
    if (passed.length > horizonsMax) passed = passed.filter((_, index) => index % 2 === 0)
  }
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await look()
      await tell().catch((err: unknown) => log.warn({ err }, 'what is wrong with the replica could not be told'))
      await pause(lookEveryMs, stop.signal)
    }
  })()

  return {
    metrics,
    reading(db, { whole: wholePool, limited: limitedPool }) {
      const [whole, limited] = [openDatabase(url, wholePool), openDatabase(url, limitedPool)]
      opened.push(whole, limited)
      const elsewhere = {
        read: <T>(isLimited: boolean, work: (db: Database) => Promise<T>) => read(isLimited ? limited : whole, work),
      }
      return { reading: readingFrom(db, elsewhere), whole, limited }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await looking
      for (const db of opened) breakOff(db)
      await Promise.all([primary, ...opened].map((db) => db.destroy()))
    },
  }
}

const never = new AbortController().signal

// The log is written ahead by whole pages, and a record that is not whole is not replayed before its rest comes, which may take 0.2 s.
const pageBytes = 8_192n

async function readHorizon(primary: Database): Promise<Horizon> {
  const horizon = await readFlushed(primary)
  if (horizon.lsn % pageBytes !== 0n) return horizon
  // Ends the record by the next one, of which nobody reads anything.
  await sql`select pg_logical_emit_message(false, 'vigia', '', true)`.execute(primary)
  return readFlushed(primary)
}

const clock = sql`(extract(epoch from clock_timestamp()) * 1000)::float8`

async function readFlushed(primary: Database): Promise<Horizon> {
  const at = performance.now()
  // What a commit showed is in the flushed log, unless commits do not wait for that.
  const { rows } = await sql<{ cluster: string; timeline: string; lsn: string; clockMs: number }>`
    select ${clock} as "clockMs", (select system_identifier from pg_control_system())::text as cluster, left(pg_walfile_name(lsn), 8) as timeline, (lsn - '0/0')::text as lsn
      from (select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn) log`.execute(
    primary,
  )
  const { timeline, lsn, ...row } = rows[0]!
  return { ...row, timeline: Number.parseInt(timeline, 16), lsn: BigInt(lsn), at }
}

/** What a moment later is found at the server that `db` is a connection to, if `found` is behind `horizon`. */
async function reach(db: Database, horizon: Horizon, found: Found): Promise<Found> {
  const until = performance.now() + waitMs
  let last = found
  for (let pauseMs = 1; standingOf(horizon, last) === 'behind' && performance.now() < until; pauseMs *= 2) {
    await pause(Math.min(pauseMs, 10), never)
    last = await find(db)
  }
  return last
}

// A statement of its own, before the transaction takes its picture.
async function find(db: Database): Promise<Found> {
  // The files of a standby name the timeline that it follows, or the one before.
  const { rows } = await sql<Omit<Found, 'replayed' | 'at'> & { replayed: string }>`
    select ${clock} as "clockMs", pg_is_in_recovery() as standby, coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::text as replayed,
           (select system_identifier from pg_control_system())::text as cluster,
           greatest((select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery())) as timeline`.execute(
    db,
  )
  return { ...rows[0]!, replayed: BigInt(rows[0]!.replayed), at: performance.now() }
}

interface Found extends Omit<Horizon, 'lsn'> {
  standby: boolean
  replayed: bigint
}

/** Whether a server of which this was found may be read from by who has to see all that `horizon` has. */
export function standingOf(horizon: Horizon, { standby, cluster, timeline, replayed, clockMs, at }: Found): Standing {
  if (cluster !== horizon.cluster) return 'other-cluster'
  if (!standby) return 'no-standby'
  if (timeline !== horizon.timeline) return 'other-timeline'
  if (Math.abs(clockMs - horizon.clockMs - (at - horizon.at)) > clockMsMax) return 'other-clock'
  return replayed < horizon.lsn ? 'behind' : 'ready'
}

/** The address of the owner on the replica: login and name of the database are those of the primary. */
function replicaAddress(primaryUrl: string, replicaUrl: string): string {
  const [primary, replica] = [new URL(primaryUrl), new URL(replicaUrl)]
  replica.username = primary.username
  replica.password = ''
  replica.searchParams.set('password', primary.searchParams.get('password') || decodeURIComponent(primary.password))
  replica.pathname = primary.pathname
  return replica.href
}

/** One question at a time, whose answer is for all who wanted one before it was asked. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | null = null
  return () => {
    next ??= asking.then(() => {
      next = null
      const asked = ask()
      asking = asked.catch(() => {})
      return asked
    })
    return next
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const tooLate = pause(lookMs, late.signal).then(() => {
    throw new Error('a database did not respond in time')
  })
  return Promise.race([work, tooLate]).finally(() => late.abort())
}

// What the library of the pool says.
const noConnectionInTime = 'timeout exceeded when trying to connect'

const safe = 'As leituras vão para o banco principal; nada se perdeu, e ninguém lê dados velhos.'
const sentences: Record<Exclude<Standing, 'ready'>, string> = {
  behind: `A réplica de leitura (DATABASE_REPLICA_URL) está atrasada. ${safe} Veja o disco, a rede e as consultas longas dela.`,
  away: `A réplica de leitura (DATABASE_REPLICA_URL) não responde. ${safe} Veja se ela está de pé e se aceita as conexões deste servidor.`,
  'no-standby': `O servidor de DATABASE_REPLICA_URL não é réplica: ou foi promovido, ou é o próprio banco principal. ${safe} Aponte para uma réplica, ou esvazie DATABASE_REPLICA_URL.`,
  'other-cluster': `O servidor de DATABASE_REPLICA_URL é réplica de outro banco. ${safe} Faça a réplica a partir do banco de DATABASE_URL.`,
  'other-timeline': `A réplica de leitura (DATABASE_REPLICA_URL) não segue o banco principal desde que ele foi trocado. ${safe} Se isso não passar em uma hora, refaça a réplica.`,
  'other-clock': `O relógio da réplica de leitura (DATABASE_REPLICA_URL) difere do relógio do banco principal. ${safe} Acerte os dois (NTP).`,
}
