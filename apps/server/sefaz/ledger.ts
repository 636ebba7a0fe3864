import type { DistributionResponse } from '@vigia/sefaz/distribution'
import { isOfTheHost, type SefazError, type SefazErrorKind } from '@vigia/sefaz/error'
import { type RawBuilder, sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'

/** The outcome of a query: a response, a failure, or a process that died before it could store either. */
export type QueryOutcome = {
  durationMs: number
} & (
  | { response: DistributionResponse; error?: undefined }
  | { error: SefazError | 'interrupted'; response?: undefined }
)

/** A query to the authority and what came of it. */
interface Call {
  query: 'distNSU' | 'consNSU' | 'consChNFe'
  /** Only for `consChNFe`. */
  chave?: string | null
  before: bigint
  after: bigint
  /** The first position that the response passed over without bringing it; null: none. */
  passedFrom?: bigint | null
  outcome: QueryOutcome
}

const unsentMark = ' before sending'
const interruptedText = 'interrupted: a process ended between the query and its answer'

/** Records a call, with or without a response. */
export async function noteCall(
  ctx: WithDatabase,
  line: { id: number },
  { query, chave = null, before, after, passedFrom = null, outcome }: Call,
): Promise<void> {
  const { response, error, durationMs } = outcome
  await inCapture(ctx, ({ db }) =>
    sql`
      insert into capture_call (line_id, query, chave, nsu_before, nsu_after, passed_from, c_stat, x_motivo,
                                documents, bytes, duration_ms, error)
      values (${line.id}, ${query}, ${chave}, ${before}, ${after}, ${passedFrom}, ${response?.cStat ?? null},
              ${response?.xMotivo.slice(0, 500) ?? null}, ${response?.documents.length ?? 0}, ${response?.bytes ?? 0},
              ${Math.round(durationMs)}, ${error ? describe(error).slice(0, 500) : null})`.execute(db),
  )
}

function describe(error: SefazError | 'interrupted'): string {
  if (error === 'interrupted') return interruptedText
  return `${error.kind}${error.sent ? '' : unsentMark}: ${error.detail ?? error.message}`
}

/** A failed call as the ledger keeps it, or as it was thrown. */
type Failure = Pick<SefazError, 'kind' | 'detail' | 'sent'>

const outright = /^HTTP 4|was not recognized|Unable to handle request/

/**
 * Whether the authority may have counted a query without a response. Not when nothing left, nor when the certificate or the address was refused
 * before the query was read.
 */
export function mayHaveBeenCounted({ kind, sent, detail = '' }: Failure): boolean {
  return sent && isOfTheHost({ kind }) && !outright.test(detail)
}

/** Whether a failure, as the ledger keeps it, is a lost response that the authority may have counted. */
export function isLoss(written: string): boolean {
  const [, kind = '', unsent, detail] = /^([\w-]+)( before sending)?: (.*)$/s.exec(written) ?? []
  const error = { kind: kind as SefazErrorKind, sent: unsent === undefined, detail }
  return written === interruptedText || mayHaveBeenCounted(error)
}

/**
 * Whether a response was lost that the authority may have counted, since the last response with its cursor. `ctx.db` is a transaction that
 * sees the line.
 */
export async function wasResponseLost({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql<{ error: string }>`
    select error from capture_call
     where line_id = ${line.id} and query = 'distNSU' and error is not null
       and id > coalesce((select max(id) from capture_call
                           where line_id = ${line.id} and query = 'distNSU'
                             and c_stat in (137, 138, 656)), 0)`.execute(db)
  return rows.some(({ error }) => isLoss(error))
}

/**
 * Whether the database may be a copy, and the line has had no response with the authority's cursor since. `ctx.db` is a transaction that
 * sees the line.
 */
export async function isFirstSinceRestore({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql`
    select from installation i
     where i.restored_at <= now()
       and not exists (select from capture_call where line_id = ${line.id} and query = 'distNSU' and c_stat in (137, 138, 656) and at >= i.restored_at)`.execute(
    db,
  )
  return rows.length > 0
}

/** How often a position was fetched. `ctx.db` is a transaction that sees the line. */
export async function countFetched({ db }: WithDatabase, line: { id: number }, position: bigint): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from capture_call
     where line_id = ${line.id} and query = 'consNSU' and nsu_before = ${position} and c_stat = 138`.execute(db)
  return rows[0]!.n
}

/** Whether the last query for something that is missing was for a note. `ctx.db` is a transaction that sees the line. */
export async function wasNoteLast({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql<{ query: 'distNSU' | 'consNSU' | 'consChNFe' }>`
    select query from capture_call where line_id = ${line.id} and query <> 'distNSU' order by id desc
     limit 1`.execute(db)
  return rows[0]?.query === 'consChNFe'
}

/** The authority allows twenty single queries an hour to all programs of a CNPJ together; two are left to the others. */
export const queriesAnHour = 18
// More calls than fit into an hour, even with pages two seconds apart.
const callsAnHourMax = 2_000

/**
 * How long to wait before a query for one position or one note fits into the quota of the hour; 0: now. The hour after a restore is
 * left alone: when queries left before cannot be told. `ctx.db` is a transaction that sees the line.
 */
export async function quotaWait({ db, config }: WithConfig, line: { id: number }): Promise<number> {
  const { hourMs, marginMs } = config.sefaz
  const hour = sql`${hourMs} * interval '1 ms'`
  const remaining = (at: RawBuilder<unknown>) => sql`extract(epoch from ${at} - now()) * 1000 + ${hourMs}`
  const { rows } = await sql<{ n: number; waitMs: number; unknownMs: number }>`
    select count(*)::int as n, coalesce(${remaining(sql`min(at)`)}, 0)::float8 as "waitMs",
           coalesce((select ${remaining(sql`max(at)`)}
                       from (select restored_at as at from installation) unknown
                      where at > now() - ${hour} and at <= now()), 0)::float8 as "unknownMs"
      from (select at from (select at, query from capture_call where line_id = ${line.id} order by id desc limit ${callsAnHourMax}) r
             where query in ('consNSU', 'consChNFe') and at > now() - ${hour} and at < now() + ${hour}
             order by at desc limit ${queriesAnHour}) c`.execute(db)
  const { n, waitMs, unknownMs } = rows[0]!
  const fullMs = n < queriesAnHour ? 0 : Math.min(Math.max(waitMs, 1), hourMs)
  const restMs = Math.max(fullMs, unknownMs)
  return restMs === 0 ? 0 : restMs + marginMs / 5
}
