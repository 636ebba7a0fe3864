import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { WithDatabase } from '../context.ts'
import { AppError } from '../errors.ts'

/** How often something may be tried within a time. */
export interface Limit {
  /** Name of the limited action; part of the key. */
  name: string
  times: number
  withinMs: number
}

/** Refuses when `who` has used up `limit`; counts nothing. */
export async function requireUnderLimit({ db }: WithDatabase, limit: Limit, who: string): Promise<void> {
  const { rows } = await sql<{ leftMs: number }>`
    select (extract(epoch from until - now()) * 1000)::float8 as "leftMs" from throttle
     where key = ${keyOf(limit, who)} and until > now() and count >= ${limit.times}`.execute(db)
  if (rows[0]) throw tooMany(rows[0].leftMs)
}

/** Counts one try of `who` and refuses when there were too many. Tries that are refused do not lengthen the wait. */
export async function countTry(ctx: WithDatabase, limit: Limit, who: string): Promise<void> {
  const { count, leftMs } = await addTry(ctx, limit, who)
  if (count > limit.times) throw tooMany(leftMs)
}

/** Counts one try of `who`; false when there were too many. Of those that come at once no more get through than of those that come in a row. */
export async function mayTry(ctx: WithDatabase, limit: Limit, who: string): Promise<boolean> {
  return (await addTry(ctx, limit, who)).count <= limit.times
}

/** Counts one try of `who`; tells how many there were, one too many at most, and after how long they are counted anew. */
export async function addTry(
  { db }: WithDatabase,
  limit: Limit,
  who: string,
): Promise<{ count: number; leftMs: number }> {
  const { rows } = await sql<{ count: number; leftMs: number }>`
    insert into throttle as t (key, count, until)
    values (${keyOf(limit, who)}, 1, now() + ${limit.withinMs} * interval '1 ms')
    on conflict (key) do update
       set count = case when t.until <= now() then 1 else least(t.count, ${limit.times}) + 1 end,
           until = case when t.until <= now() then excluded.until else t.until end
    returning count, (extract(epoch from until - now()) * 1000)::float8 as "leftMs"`.execute(db)
  return rows[0]!
}

/** `who` begins anew. */
export async function forgetTries({ db }: WithDatabase, limit: Limit, who: string): Promise<void> {
  await db.deleteFrom('throttle').where('key', '=', keyOf(limit, who)).execute()
}

/** The network that an address stands for: with IPv6 one client has a whole network (to homes /56 are given, RIPE-690 §4.2). */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::')
  const groups = head ? head.split(':') : []
  const rest = tail ? tail.split(':') : []
  const whole = tail === undefined ? groups : [...groups, ...Array(8 - groups.length - rest.length).fill('0'), ...rest]
  const groups56 = [...whole.slice(0, 3), `${whole[3]?.padStart(4, '0').slice(0, 2)}00`]
  return `${groups56.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/56`
}

// A reader of the table does not learn e-mails or addresses from it.
function keyOf({ name }: Limit, who: string): Buffer {
  return createHash('sha256').update(`${name} ${who}`).digest()
}

/** The refusal of what may be retried in `leftMs`. */
export function tooMany(leftMs: number): AppError {
  const minutes = Math.max(1, Math.ceil(leftMs / 60_000))
  return new AppError(
    'too-many',
    `Muitas tentativas em pouco tempo. Por segurança, espere ${minutes === 1 ? '1 minuto' : `${minutes} minutos`} e tente de novo.`,
    { retryAfterMs: leftMs },
  )
}
