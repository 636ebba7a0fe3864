import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import type { ServiceCode } from '../platform/service.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'

const toleranceMs = 5 * 60_000
// One response may be wrong.
const oddMax = 2
// Less is not written: all lines share the row.
const newsSeconds = 30

/**
 * Compares the clock of the database, as it was when a query left (`askedAt`), with the time in its response. Two responses of a service in a row
 * that differ by more than five minutes are told; a response takes less. `ctx.db` is a transaction of the capture.
 */
export async function compareClocks(
  ctx: WithDatabase,
  service: ServiceCode,
  askedAt: Date | null,
  respondedAt: Date | null,
): Promise<void> {
  if (askedAt === null || respondedAt === null) return
  const aheadMs = askedAt.getTime() - respondedAt.getTime()
  const seconds = Math.max(-secondsMax, Math.min(secondsMax, Math.round(aheadMs / 1000)))
  const isOdd = Math.abs(aheadMs) > toleranceMs
  const { rows } = await sql<{ odd: number; oddBefore: number | null }>`
    insert into clock_skew as c (service, seconds, odd) values (${service}, ${seconds}, ${isOdd ? 1 : 0})
    on conflict (service) do update
       set seconds = excluded.seconds, odd = case excluded.odd when 0 then 0 else least(c.odd + 1, ${oddMax}) end
     where abs(c.seconds::bigint - excluded.seconds) >= ${newsSeconds} or (excluded.odd = 0) <> (c.odd = 0) or (c.odd > 0 and c.odd < ${oddMax})
    returning new.odd, old.odd as "oddBefore"`.execute(ctx.db)
  const [row] = rows
  if (!row) return
  if (row.odd >= oddMax) await noteTrouble(ctx, 'relogio', skewSentence(seconds))
  else if (row.odd === 0 && (row.oddBefore ?? 0) >= oddMax) await endTrouble(ctx, 'relogio')
}

// The column holds no more; some sixty years.
const secondsMax = 2 ** 31 - 1

/** The operator's sentence about a clock that is `seconds` ahead of the authority's (negative: behind). */
export function skewSentence(seconds: number): string {
  return `O relógio deste servidor está ${describeSkew(seconds)} em relação ao da SEFAZ. Os documentos já guardados estão seguros, mas as horas mostradas estão erradas e a SEFAZ pode recusar manifestações pela data. Acerte o relógio do computador em que o banco de dados roda e ligue a sincronização automática (NTP); as esperas da captura se ajustam sozinhas e este aviso some com a próxima resposta da SEFAZ.`
}

function describeSkew(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60)
  const amount =
    minutes < 120
      ? `${minutes} min`
      : minutes < 72 * 60
        ? `${Math.round(minutes / 60)} h`
        : `${Math.round(minutes / 1440)} dias`
  return `${amount} ${seconds > 0 ? 'adiantado' : 'atrasado'}`
}
