import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from './context.ts'
import { inCapture } from './database.ts'

// Pauses are times of the database's clock, and somebody may set it. What was due for an hour must not become due by that, nor wait a day.

/** Moves the pauses of a subject by `jumpMs` (0: only those that lie too far ahead are brought back). Returns how many rows changed. */
type Move = (ctx: Pick<Context, 'db' | 'config'>, jumpMs: number) => Promise<number>

/** What the clock said between two moments of a clock that nobody can set. */
interface Sample {
  before: number
  after: number
  at: number
  movedMs: number
}

interface Reading extends Pick<Sample, 'at' | 'movedMs'> {
  /** By how much a process saw the clock set, as long as nothing has followed; 0: none did. */
  doubtedMs: number
  /** What an earlier process of this machine saw last. */
  known: Sample | null
}

/** The clock was set, and the pauses have not followed yet. */
interface Doubt {
  /** When it was first seen, and once it is over, when that was first seen. */
  since: number
  jumpMs: number
  /** What pauses were moved by until then. */
  movedMs: number
  /** The clock says again what it said before. */
  isOver: boolean
  /** Another process saw it, and may not live to mend it. Whether it is over, who saw only one of both clocks cannot tell. */
  isForeign: boolean
}

interface ClockWatch {
  /** Carries out `work`, which claims what is due, in a transaction of the capture; null also while the pauses follow a jump of the clock. */
  claim<C extends Pick<Context, 'db' | 'config' | 'log'>, T>(
    ctx: C,
    work: (ctx: C) => Promise<T | null>,
  ): Promise<T | null>
}

/** A clock that is kept right by small steps is left alone, and every pause has a margin of more than this. */
export const jumpMinMs = 30_000
// Transactions that began before the jump write their pauses meanwhile, and these move with the others. One that hangs is waited for, but not for
// ever.
const settleMs = 2_000
const patienceMs = 300_000
/** A sample that took longer could hide a jump. */
export const sharpMs = 1_000
const lookEveryMs = 60_000
const lockNotAvailable = '55P03'

/**
 * Watches the clock of the database for one subject of pauses. `uptimeMs` counts on while the machine sleeps and is not set by anybody, since
 * `boot` (null: not known). Several processes may watch, and end and begin meanwhile: a jump moves the pauses once.
 */
export function watchClock(
  subject: string,
  move: Move,
  uptimeMs = () => uptime() * 1000,
  boot: string | null = bootId,
): ClockWatch {
  let last: Sample | null = null
  let doubt: Doubt | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    async claim(ctx, work) {
      const before = uptimeMs()
      let seen: Sample | null = null
      let looked = false
      let next: Doubt | null = null
      const look = inCapture(ctx, async (ctx) => {
        const { known, doubtedMs, ...read } = await readClock(ctx, subject, last === null ? boot : null)
        const sample = { ...read, before, after: uptimeMs() }
        // What an earlier process of this machine saw: the clock may be wrong at this very moment.
        last ??= known
        if (doubtAfter(doubt, last, sample, doubtedMs)) {
          // Who had the lock before may have done what is to be done.
          const { movedMs, doubtedMs } = await lockClock(ctx, subject)
          const now = { ...sample, movedMs }
          next = doubtAfter(doubt, last, now, doubtedMs)
          if (!next) return null
          const { since, jumpMs, isOver, isForeign } = next
          const waitedMs = before - since
          const isSettled = waitedMs >= settleMs && (waitedMs >= patienceMs || !(await isOlderWorkOpen(ctx, waitedMs)))
          if (isSettled) {
            // What lies too far ahead goes back, and then whatever can be longer gets longer.
            const size = Math.abs(jumpMs)
            if (isForeign) seen = await undo(ctx, [-size, size], now)
            else seen = isOver ? await undo(ctx, [-jumpMs], now) : await follow(ctx, jumpMs, now)
            next = null
          } else await noteDoubt(ctx, subject, jumpMs)
          return null
        }
        if (last === null || sample.after - before <= sharpMs) seen = sample
        looked = before - lookedAt >= lookEveryMs
        if (looked) {
          await bringBack(ctx)
          if (seen) await remember(ctx, subject, boot, seen)
        }
        return work(ctx)
      })
      const claimed = await look.catch((error: unknown) => {
        const { code } = error as { code?: unknown }
        if (doubt && code === lockNotAvailable) {
          next = doubt
          return null
        }
        throw error
      })
      if (looked) lookedAt = before
      last = seen ?? last
      doubt = next
      return claimed
    },
  }

  async function bringBack(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
    const rows = await move(ctx, 0)
    if (rows === 0) return
    // Only a clock that was set back while nobody watched leaves a pause so far ahead.
    await lockClock(ctx, subject)
    ctx.log.warn({ subject, rows }, 'pauses lay further ahead than any rule causes, and were brought back')
  }

  // The clock was right again before the pauses had followed it: what was written meanwhile was written by the other one. A pause may become longer, up to what the
  // rules cause.
  async function undo(
    ctx: Pick<Context, 'db' | 'config' | 'log'>,
    moves: readonly number[],
    now: Sample,
  ): Promise<Sample> {
    await sql`set local lock_timeout = '500ms'`.execute(ctx.db)
    let rows = 0
    for (const jumpMs of moves) rows += await move(ctx, jumpMs)
    await noteDoubt(ctx, subject, 0)
    ctx.log.warn(
      { subject, moves, rows },
      'the clock of the database was set, and it may have been set right before the pauses followed',
    )
    return now
  }

  async function follow(ctx: Pick<Context, 'db' | 'config' | 'log'>, jumpMs: number, now: Sample): Promise<Sample> {
    // Others lock some of these rows in another order. Who moves them gives up first, and tries again.
    await sql`set local lock_timeout = '500ms'`.execute(ctx.db)
    const rows = await move(ctx, jumpMs)
    await noteDoubt(ctx, subject, 0, jumpMs)
    ctx.log.warn({ subject, jumpMs, rows }, 'the clock of the database was set, and pauses were moved by as much')
    const moved = { ...now, movedMs: now.movedMs + jumpMs }
    await remember(ctx, subject, boot, moved)
    return moved
  }
}

// What a process doubts that doubted `doubt` until now; `doubtedMs`: what is written down of all.
function doubtAfter(doubt: Doubt | null, last: Sample | null, sample: Sample, doubtedMs: number): Doubt | null {
  const { before: since, movedMs } = sample
  const jumpMs = last ? jumpBetween(last, sample) : 0
  if (jumpMs !== 0 && last?.movedMs === movedMs)
    return { since: doubt?.isOver === false ? doubt.since : since, jumpMs, movedMs, isOver: false, isForeign: false }
  // Where another process has moved the pauses by something else than this one saw: two that set each other right would never end.
  const foreignMs = jumpMs || doubtedMs
  // Not when another process has moved the pauses.
  if (doubt?.movedMs === movedMs) {
    if (!doubt.isOver) return { ...doubt, since, isOver: true }
    // Unless another process has done what is to be done, or sees something else by now.
    const isSame = doubt.isForeign ? Math.abs(foreignMs - doubt.jumpMs) < jumpMinMs : true
    if (foreignMs !== 0 && isSame) return doubt
  }
  return foreignMs === 0 ? null : { since, jumpMs: foreignMs, movedMs, isOver: true, isForeign: true }
}

// How far the clock was set between two samples beyond what pauses were moved by already; 0: not that one could tell. When in doubt, what makes
// pauses longer.
function jumpBetween(from: Sample, to: Sample): number {
  const elapsed = to.at - from.at - (to.movedMs - from.movedMs)
  const least = Math.round(elapsed - (to.after - from.before))
  const most = Math.round(elapsed - (to.before - from.after))
  return least > jumpMinMs || most < -jumpMinMs ? most : 0
}

// Whether a transaction is open that began before this process began to doubt the clock.
async function isOlderWorkOpen({ db }: Pick<Context, 'db'>, doubtedMs: number): Promise<boolean> {
  const { rows } = await sql<{ open: boolean }>`
    select exists (select 1 from pg_stat_activity
                    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
                      and xact_start not between pg_catalog.clock_timestamp() - ${doubtedMs}::float8 * interval '1 ms'
                                             and pg_catalog.clock_timestamp()) as open`.execute(db)
  return rows[0]!.open
}

async function readClock({ db }: Pick<Context, 'db'>, subject: string, boot: string | null): Promise<Reading> {
  const { rows } = await sql<Reading>`
    select (extract(epoch from now()) * 1000)::float8 as at,
           coalesce((select moved_ms from clock where subject = ${subject}), 0)::float8 as "movedMs",
           coalesce((select doubted_ms from clock where subject = ${subject}), 0)::float8 as "doubtedMs",
           (select samples -> ${boot}::text from clock where subject = ${subject}) as known`.execute(db)
  return rows[0]!
}

// Of the machines, as they last started, only those of the last days: each look writes the newest to the end.
const samplesMax = 20

async function remember(
  { db }: Pick<Context, 'db'>,
  subject: string,
  boot: string | null,
  sample: Sample,
): Promise<void> {
  if (boot === null) return
  const samples = sql`(select coalesce(jsonb_object_agg(key, value), '{}')
    from (select key, value from jsonb_each(c.samples) where key <> ${boot} order by value -> 'at' desc limit ${samplesMax}) others)`
  const own = sql`jsonb_build_object(${boot}::text, ${JSON.stringify(sample)}::jsonb)`
  await sql`insert into clock as c (subject, samples) values (${subject}, ${own})
            on conflict (subject) do update set samples = ${samples} || excluded.samples`.execute(db)
}

const bootId = readBootId()

// Null where the system has none: then each process begins to watch when it starts.
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}

// Also tells those who count by times of the ledger.
async function lockClock(
  { db }: Pick<Context, 'db'>,
  subject: string,
): Promise<{ movedMs: number; doubtedMs: number }> {
  const { rows } = await sql<{ movedMs: number; doubtedMs: number }>`
    insert into clock (subject, jumped_at) values (${subject}, now())
    on conflict (subject) do update set jumped_at = now()
    returning moved_ms::float8 as "movedMs", doubted_ms::float8 as "doubtedMs"`.execute(db)
  return rows[0]!
}

// In a transaction that has locked the clock.
async function noteDoubt({ db }: Pick<Context, 'db'>, subject: string, doubtedMs: number, movedMs = 0): Promise<void> {
  await sql`update clock set doubted_ms = ${doubtedMs}::bigint, moved_ms = moved_ms + ${movedMs}::bigint
             where subject = ${subject}`.execute(db)
}

/** By how much a clock is ahead of another one (negative: behind), for people. */
export function describeSkew(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60)
  const amount =
    minutes < 120
      ? `${minutes} min`
      : minutes < 72 * 60
        ? `${Math.round(minutes / 60)} h`
        : `${Math.round(minutes / 1440)} dias`
  return `${amount} ${seconds > 0 ? 'adiantado' : 'atrasado'}`
}

/**
 * A pause as it is after a jump of the clock (0: there was none): `pause` is the time to which it lasts, `mostMs` the longest that the rules cause.
 * What was written since the jump stays: a pause that would become longer than that by moving it ahead, or that is not longer and would be moved
 * back.
 */
export function movedPause(
  pause: RawBuilder<unknown>,
  mostMs: number | RawBuilder<number>,
  jumpMs: number,
): RawBuilder<Date> {
  const most = sql`now() + ${mostMs}::float8 * interval '1 ms'`
  if (jumpMs === 0) return sql`case when ${pause} is not null then least(${pause}, ${most}) end`
  const moved = sql`${pause} + ${jumpMs}::float8 * interval '1 ms'`
  const isOlder = jumpMs > 0 ? sql`${moved} <= ${most}` : sql`${pause} > ${most}`
  return sql`case when ${pause} is not null then least(case when ${isOlder} then ${moved} else ${pause} end, ${most}) end`
}

/**
 * Writes these values into those of the rows for which they differ. Returns how many. With the `key` of a table whose rows belong to workspaces they are
 * computed first: one statement writes no clock into rows of several servers. What changes meanwhile was written after the jump, and stays.
 */
export async function writeChanged(
  { db }: Pick<Context, 'db'>,
  table: string,
  rows: RawBuilder<unknown>,
  values: Record<string, RawBuilder<unknown>>,
  { key = [] }: { key?: readonly string[] } = {},
): Promise<number> {
  const columns = Object.entries(values)
  if (key.length > 0) {
    const all = (make: (name: string) => RawBuilder<unknown>, of: readonly string[], between = sql`, `) =>
      sql.join(of.map(make), between)
    const own = Object.keys(values)
    const moved = sql.join(columns.map(([name, value]) => sql`${value} as ${sql.ref(`new_${name}`)}`))
    const { numAffectedRows } = await sql`
      with moved as materialized (
        select ${all((name) => sql.ref(name), [...key, ...own])}, ${moved} from ${sql.table(table)} where ${rows})
      update ${sql.table(table)} t set ${all((name) => sql`${sql.ref(name)} = m.${sql.ref(`new_${name}`)}`, own)} from moved m
       where ${all((name) => sql`t.${sql.ref(name)} = m.${sql.ref(name)}`, key, sql` and `)}
         and ${all((name) => sql`t.${sql.ref(name)} is not distinct from m.${sql.ref(name)}`, own, sql` and `)}
         and (${all((name) => sql`m.${sql.ref(name)} is distinct from m.${sql.ref(`new_${name}`)}`, own, sql` or `)})`.execute(
      db,
    )
    return Number(numAffectedRows ?? 0)
  }
  const names = sql.join(columns.map(([name]) => sql.ref(name)))
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.join(columns.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}
     where ${rows} and (${names}) is distinct from (${sql.join(columns.map(([, value]) => value))})`.execute(db)
  return Number(numAffectedRows ?? 0)
}
