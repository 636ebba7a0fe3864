import { type RawBuilder, sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { fromNow } from '../../platform/jobs/claim.ts'
import { quotaWait, wasNoteLast } from '../../sefaz/ledger.ts'
import { type CaptureLine, changeLine } from '../lease.ts'
import type { GapClosing, Gap as NewGap, NsuRange } from '../situation.ts'
import type { Question } from '../source.ts'
import { findNote } from './notes.ts'

/** The next question for a missing position or note, in turns, and the milliseconds to wait; null: nothing is missing. In a transaction of the capture. */
export async function planMissing(
  ctx: WithConfig,
  line: Pick<CaptureLine, 'id' | 'service'>,
): Promise<{ question: Question; waitMs: number } | { question: null; waitMs: number | null }> {
  const position = await findPosition(ctx, line)
  const note = await findNote(ctx, line)
  const isNotesTurn = note?.waitMs === 0 && (position === null || !(await wasNoteLast(ctx, line)))
  const question = isNotesTurn ? { note: note.chave } : position === null ? null : { at: position }
  if (question) return { question, waitMs: await quotaWait(ctx, line) }
  const waits = [await findRest(ctx, line), note?.waitMs ?? null].filter((waitMs) => waitMs !== null)
  return { question, waitMs: waits.length > 0 ? Math.min(...waits) : null }
}

// The authority keeps 90 days: when this many in a row have expired, all older ones are taken as expired, unless a probe finds one.
const expiredInARow = 20
const restHoursMax = 24

/** The missing position to query now: the newest, without recent failures, passed positions last. `ctx.db` is a transaction of the capture. */
export async function findPosition(ctx: WithConfig, line: Pick<CaptureLine, 'id'>): Promise<bigint | null> {
  // The newest position not paused is either the end of a gap or the one before a paused position.
  const { rows } = await sql<{ nsu: bigint }>`
    with resting as (${resting(ctx, line)}),
         gap as (select from_nsu, to_nsu, passed from capture_gap where line_id = ${line.id} and not lost)
    select nsu from (select to_nsu as nsu, passed from gap
                     union all
                     select r.nsu - 1, passed from resting r join gap on r.nsu > gap.from_nsu and r.nsu <= gap.to_nsu) c
     where nsu not in (select nsu from resting)
     order by passed, nsu desc limit 1`.execute(ctx.db)
  const newest = rows[0]?.nsu
  if (newest === undefined) return null
  const gap = await findGap(ctx, line, newest)
  if (!gap || !isProbed(gap) || !(await seemsExpired(ctx, line, gap))) return newest
  // A few probes spread over the gap show whether all of it has expired.
  const probes = probesOf(gap)
  const { rows: open } = await sql<{ nsu: bigint }>`
    select nsu from unnest(${probes}::bigint[]) with ordinality p (nsu, place)
     where nsu not in (select nsu from (${resting(ctx, line)}) r) and nsu <> all (${await listExpired(ctx, line, probes)}::bigint[])
     order by place limit 1`.execute(ctx.db)
  return open[0]?.nsu ?? newest
}

// A passed position found empty says nothing about the others. For very many, a few probes must do.
const passedMax = 2_000n

const isProbed = ({ from, to, passed }: Gap) => !passed || to - from >= passedMax

interface Gap extends NsuRange {
  passed: boolean
}

// The middle of a gap and of its halves; the positions of a very small gap are queried one by one.
function probesOf({ from, to }: NsuRange): bigint[] {
  const quarter = (to - from) / 4n
  return quarter === 0n ? [] : [from + 2n * quarter, from + quarter, from + 3n * quarter]
}

// Positions that a query of the last day found expired.
async function listExpired(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  positions: bigint[],
): Promise<bigint[]> {
  const { rows } = await sql<{ nsu: bigint }>`
    select distinct nsu_before as nsu from capture_call
     where line_id = ${line.id} and query = 'position' and answer = 'gone' and nsu_before = any (${positions}::bigint[])
       and at > now() - interval '1 day'`.execute(db)
  return rows.map((row) => row.nsu)
}

/** In how many milliseconds the next of the positions that failed lately may be queried; null when nothing is missing. */
export async function findRest(ctx: WithConfig, line: Pick<CaptureLine, 'id'>): Promise<number | null> {
  const { rows } = await sql<{ waitMs: number | null }>`
    select (extract(epoch from min(until) - now()) * 1000)::float8 as "waitMs"
      from (${resting(ctx, line)}) r
     where exists (select 1 from capture_gap g
                    where g.line_id = ${line.id} and not g.lost
                      and r.nsu between g.from_nsu and g.to_nsu)`.execute(ctx.db)
  const waitMs = rows[0]?.waitMs ?? null
  return waitMs === null ? null : Math.max(waitMs, ctx.config.sefaz.pagePauseMs)
}

// A failure doubles the pause of a position, up to a day. The index finds gaps by their first position, so they are joined last.
function resting({ config }: WithConfig, line: Pick<CaptureLine, 'id'>): RawBuilder<unknown> {
  const { hourMs } = config.sefaz
  return sql`
    select r.nsu, r.until from (
      select nsu_before as nsu,
             max(at) + least(power(2, least(count(*), 6) - 1), ${restHoursMax}::int) * ${hourMs} * interval '1 ms' as until
        from capture_call
       where line_id = ${line.id} and query = 'position'
         and at > now() - interval '90 days' and at < now() + ${hourMs} * interval '1 ms'
         and answer not in ('gone', 'blocked', 'down')
       group by nsu_before
      having max(at) + least(power(2, least(count(*), 6) - 1), ${restHoursMax}::int) * ${hourMs} * interval '1 ms'
             > now()) r
     where (select g.to_nsu >= r.nsu and not g.lost from capture_gap g
             where g.line_id = ${line.id} and g.from_nsu <= r.nsu order by g.from_nsu desc limit 1)`
}

/** The gap in which a position is missing, also while it rests. `ctx.db` is a transaction of the capture. */
export async function findGap({ db }: WithDatabase, line: Pick<CaptureLine, 'id'>, nsu: bigint): Promise<Gap | null> {
  const { rows } = await sql<Gap>`
    select from_nsu as "from", to_nsu as "to", passed from capture_gap
     where line_id = ${line.id} and not lost and from_nsu <= ${nsu} and to_nsu >= ${nsu}`.execute(db)
  return rows[0] ?? null
}

// Many in a row right above have expired, and nothing older than these was still there in the last day.
async function seemsExpired(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { to: nsu, passed }: Gap,
): Promise<boolean> {
  const { rows } = await sql<{ expired: boolean }>`
    select exists (select 1 from capture_gap
                    where line_id = ${line.id} and lost and passed = ${passed} and from_nsu = ${nsu}::bigint + 1 and to_nsu - from_nsu + 1 >= ${expiredInARow})
       and not exists (select 1 from capture_call
                        where line_id = ${line.id} and query = 'position' and answer = 'page' and nsu_before < ${nsu}
                          and at > now() - interval '1 day') as expired`.execute(db)
  return rows[0]!.expired
}

/** Takes a position out of its gap. An expired one is lost, and after fruitless probes all older ones too. In a transaction of the capture. */
export async function closePosition(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  nsu: bigint,
  closing: GapClosing,
): Promise<void> {
  const { db } = ctx
  const gap = await findGap(ctx, line, nsu)
  if (!gap) throw new Error(`position ${nsu} of line ${line.id} is not missing`)
  const probes = probesOf(gap)
  const isProbe = closing === 'expired' && nsu !== gap.to && isProbed(gap) && probes.includes(nsu)
  const expired = isProbe ? [nsu, ...(await listExpired(ctx, line, probes))] : []
  if (isProbe && !probes.every((probe) => expired.includes(probe))) return
  const closed = isProbe ? { from: gap.from, to: probes[2]! } : { from: nsu, to: nsu }
  await db.deleteFrom('capture_gap').where('line_id', '=', line.id).where('from_nsu', '=', gap.from).execute()
  const { passed } = gap
  for (const range of besides(gap, closed)) await insertGap(ctx, line, { ...range, passed }, false)
  // Positions that were not queried one by one count as lost, except those that the authority
  // passed over at the first contact: nobody here expected them.
  const isEmpty = passed && (!isProbe || gap.from === 1n)
  if (closing === 'expired') await insertExpired(ctx, line, { ...closed, passed: isEmpty })
  if (closing === 'damaged') await insertGap(ctx, line, { ...closed, passed: false }, true)
}

const besides = (gap: NsuRange, { from, to }: NsuRange): NsuRange[] =>
  [
    { from: gap.from, to: from - 1n },
    { from: to + 1n, to: gap.to },
  ].filter((range) => range.from <= range.to)

/** Notes positions as missing. `ctx.db` is a transaction of the capture that holds the line. */
export async function noteGap(ctx: WithConfig, line: CaptureLine, { from, to, passed, waitMs }: NewGap): Promise<void> {
  // A document that came damaged with an NSU beyond the cursor may be missing already.
  await sql`
    delete from capture_gap where line_id = ${line.id} and from_nsu >= ${from} and to_nsu <= ${to}`.execute(ctx.db)
  // Positions that turn out to be missing are neither lost nor passed over any more.
  const { rows: covering } = await sql<Gap & { lost: boolean }>`
    delete from capture_gap
     where line_id = ${line.id} and from_nsu <= ${from} and to_nsu >= ${to} and (lost or passed > ${passed})
    returning from_nsu as "from", to_nsu as "to", passed, lost`.execute(ctx.db)
  for (const { lost, ...gap } of covering)
    for (const range of besides(gap, { from, to })) await insertGap(ctx, line, { ...range, passed: gap.passed }, lost)
  // Positions inside a larger gap stay part of it.
  await sql`
    insert into capture_gap (line_id, from_nsu, to_nsu, passed)
    select ${line.id}, ${from}, ${to}, ${passed}
     where not exists (select 1 from capture_gap g
                        where g.line_id = ${line.id} and not g.lost and g.passed <= ${passed}::boolean
                          and g.from_nsu <= ${from} and g.to_nsu >= ${to})
    on conflict do nothing`.execute(ctx.db)
  // Limits an older `gap_at` to one hour: it may wait a day for a note and must not delay these positions.
  const hour = fromNow(ctx.config.sefaz.hourMs)
  await changeLine(ctx, line, {
    gap_at: sql<Date>`greatest(${fromNow(waitMs)}, case when gap_at is not null then least(gap_at, ${hour}) end)`,
  })
}

// Joined with the lost positions right above it, so that a run of them is one row.
async function insertExpired(ctx: WithDatabase, line: Pick<CaptureLine, 'id'>, { from, to, passed }: Gap) {
  const { rows } = await sql<{ to: bigint }>`
    delete from capture_gap where line_id = ${line.id} and lost and passed = ${passed} and from_nsu = ${to + 1n}
    returning to_nsu as "to"`.execute(ctx.db)
  await insertGap(ctx, line, { from, to: rows[0]?.to ?? to, passed }, true)
}

async function insertGap(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { from, to, passed }: Gap,
  lost: boolean,
) {
  await db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: from, to_nsu: to, lost, passed }).execute()
}
