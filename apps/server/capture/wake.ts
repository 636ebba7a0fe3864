import { sql } from 'kysely'
import { noneAccepted } from '../companies/certificates.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { noCertificate } from './decide.ts'
import { lockLines } from './subscriptions.ts'

export interface StopReason {
  /** The authority's response; null: there is no certificate that it accepts, and only a new one helps. */
  cStat: number | null
  /** Its words, of one of the lines. */
  xMotivo: string
  lines: number
  /** It is about the certificate or the CNPJ, which their owner must mend. */
  ofCustomer: boolean
}

// The response that stopped a line is its last one.
const stopped = sql`
  select l.id, case when l.message not in (${noCertificate}, ${noneAccepted}) or c.answer not in ('page', 'end', 'blocked') and l.message <> ${noCertificate}
                    then c.c_stat end as c_stat, c.x_motivo, c.answer in ('refused certificate', 'refused line') as of_customer
    from capture_line l
    left join lateral (select c_stat, x_motivo, answer from capture_call
                        where line_id = l.id and query = 'page' order by id desc limit 1) c on true
   where l.state = 'stopped'`

export async function listStopped(ctx: WithDatabase): Promise<StopReason[]> {
  return inCapture(ctx, async ({ db }) => {
    const { rows } = await sql<StopReason>`
      select c_stat as "cStat", case when c_stat is null then '' else coalesce(max(x_motivo), '') end as "xMotivo", count(*)::int as lines,
             coalesce(bool_or(of_customer), false) as "ofCustomer"
        from (${stopped}) s group by c_stat order by count(*) desc, c_stat`.execute(db)
    return rows
  })
}

/** Lets lines that stopped with a refusal ask again, spread over an hour, none before the authority allows it. Returns how many. */
export async function wakeStopped(ctx: WithConfig, cStat: number): Promise<number> {
  return inCapture(ctx, async ({ db, config }) => {
    const lineIds = await lockLines({ db }, sql`select id from (${stopped}) s where c_stat = ${cStat}`)
    // `wanted`: a certificate that was refused rests; this wakes one of them, as when a person asks.
    const { numAffectedRows } = await sql`
      update capture_line
         set state = 'waiting', failures = 0, wanted = true,
             message = 'A captura foi retomada por quem administra o sistema: a próxima consulta é feita em até uma hora.',
             next_at = least(next_at, greatest(now(), allowed_at) + random() * ${config.sefaz.hourMs} * interval '1 ms')
       where id = any (${lineIds}::int[]) and state = 'stopped'`.execute(db)
    return Number(numAffectedRows)
  })
}
