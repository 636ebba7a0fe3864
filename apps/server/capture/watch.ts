import { formatBrasiliaShortMoment, formatCount, formatList } from '@vigia/contract/text'
import { explainFailure } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import type { Context, WithConfig } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { repeat } from '../platform/jobs/loop.ts'
import { lateMinutes } from '../platform/service.ts'
import { endTrouble, noteTrouble, type TroubleKey } from '../platform/trouble.ts'
import { listStopped } from './wake.ts'

const everyMs = 60_000
const silentHours = 3

/** Looks whether the capture as a whole does what it should, until disposed, and notes what is wrong for the operator. */
export function startCaptureWatch(ctx: WithConfig & Pick<Context, 'log'>): AsyncDisposable {
  return repeat(everyMs, () => watchCapture(ctx), ctx.log)
}

export async function watchCapture(ctx: WithConfig): Promise<void> {
  await note(ctx, 'consultas', await describeSilence(ctx))
  await note(ctx, 'paradas', await describeStopped(ctx))
  await note(ctx, 'servico', await describeOutages(ctx))
}

async function note(ctx: WithConfig, key: TroubleKey, sentence: string | null): Promise<void> {
  if (sentence === null) await endTrouble(ctx, key)
  else await noteTrouble(ctx, key, sentence)
}

const safe =
  'Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou.'

// Queries to services in an outage count, too: that silence is not our fault.
async function describeSilence(ctx: WithConfig): Promise<string | null> {
  const { rows } = await inCapture(ctx, ({ db, config }) =>
    sql<{ late: number; since: Date | null }>`
      select count(*)::int as late, coalesce((select max(at) from capture_call), min(greatest(next_at, allowed_at))) as since
        from capture_line
       where next_at is not null and (automatic or wanted) and not paused and coalesce(lease_until <= now(), true)
         and greatest(next_at, allowed_at) < now() - ${lateMinutes} * interval '1 minute'
      having coalesce((select max(at) from capture_call), min(greatest(next_at, allowed_at)))
             < now() - ${silentHours * config.sefaz.hourMs} * interval '1 ms'`.execute(db),
  )
  const [silence] = rows
  if (!silence?.since || silence.late === 0) return null
  const whose = formatCount(silence.late, 'captura está na vez', 'capturas estão na vez')
  return `Nada é consultado na SEFAZ desde ${formatBrasiliaShortMoment(silence.since)} (horário de Brasília), e ${whose}. ${safe} O que fazer: confira no log do programa de captura (worker) o que o detém e, se ele não responder, reinicie-o.`
}

// Leaves out certificates and CNPJs: their owner is told of them and has to fix them.
async function describeStopped(ctx: WithConfig): Promise<string | null> {
  const reasons = (await listStopped(ctx)).filter(({ cStat, ofCustomer }) => cStat !== null && !ofCustomer)
  if (reasons.length === 0) return null
  const total = reasons.reduce((sum, { lines }) => sum + lines, 0)
  const told = reasons
    .slice(0, 5)
    .map(({ cStat, xMotivo, lines }) => `${lines} com ${cStat} (${xMotivo.slice(0, 200)})`)
  const one = total === 1
  return `${formatCount(total, 'captura parou', 'capturas pararam')} com uma recusa da SEFAZ que não é do certificado nem do CNPJ, e não ${one ? 'volta sozinha' : 'voltam sozinhas'}: ${formatList(told)}. ${safe} O que fazer: entenda e corrija a causa; depois, npm run admin -- wake mostra as capturas paradas por motivo e as acorda aos poucos.`
}

// Because waiting mends none of these, the operator hears of them at the first failure.
const mendedHere = ['tls-chain', 'encryption', 'unreached']

async function describeOutages({ db, config }: WithConfig): Promise<string | null> {
  const { rows } = await sql<{ address: string; since: Date; reason: string; detail: string | null }>`
    select address, since, coalesce(reason, 'sem motivo') as reason, detail from circuit
     where failures > 0 and reason = any(${mendedHere})
        or open_until is not null and since < now() - ${silentHours * config.sefaz.hourMs} * interval '1 ms'
     order by address`.execute(db)
  const [first] = rows
  if (!first) return null
  const told = rows.map(({ address, since, reason, detail }) => {
    const why = explainFailure(reason, detail ?? undefined)?.happened ?? reason
    return `${address} desde ${formatBrasiliaShortMoment(since)} (${why}${detail ? `: ${detail}` : ''})`
  })
  const todo =
    explainFailure(first.reason, first.detail ?? undefined)?.todo ?? 'veja se a própria SEFAZ anuncia uma parada.'
  return `A SEFAZ não atende este servidor: ${formatList(told)}, horário de Brasília. Ela é perguntada de tempos em tempos e tudo volta sozinho quando atender. ${safe} O que fazer: ${todo}`
}
