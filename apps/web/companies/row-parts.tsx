import { type CompanyRow, lastSynchronizations } from '@vigia/contract/companies'
import { formatAtMoment, formatInstantDate, formatRelative } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { CalendarClock, CalendarX } from 'lucide-react'
import { type Capture, captureSentence, capturesOf, hasEnded, isOfAll, isTroubled, lampOf } from '../lib/capture.ts'
import { StateMark } from '../ui/state-mark.tsx'
import { endsSoon, validityText } from './work-list.ts'

interface ServiceStateProps {
  company: CompanyRow
  service: Capture['servico']
  now: Date
}

/** When the service last responded, and what its capture does now. */
export function ServiceState({ company, service, now }: ServiceStateProps) {
  const last = lastSynchronizations(company)[service]
  const capture = capturesOf(company, now).find(({ servico }) => servico === service)
  const next = nextStep(company, last, capture, now)
  const state = capture && (last === null || isOfAll(capture) ? restingState(capture) : lampOf(capture))
  // Problems are shown below, and the next query of all companies in the navigation.
  const saidElsewhere =
    !Number.isNaN(Date.parse(last ?? '')) &&
    capture !== undefined &&
    (isTroubled(capture) || capture.estado === 'aguardando')
  return (
    <div className="flex min-w-0 items-start gap-1.5" title={next || undefined}>
      {state && <StateMark state={state} className="mt-0.5" />}
      <p className="min-w-0 @min-[880px]/list:truncate">
        {formatRelative(last, now)}
        {next && (
          <span
            className={clsx(
              'text-muted text-sm tabular-nums',
              saidElsewhere && '@min-[640px]/list:@max-[1200px]/list:hidden',
            )}
          >
            {` ${next}`}
          </span>
        )}
      </p>
    </div>
  )
}

// Nothing arrived yet, or all companies wait for the authority: neither a problem nor well.
function restingState(capture: Capture) {
  const state = lampOf(capture)
  return state === 'waiting' ? 'unlit' : state
}

function nextStep(
  { ativa, captura }: CompanyRow,
  last: string | null,
  capture: Capture | undefined,
  now: Date,
): string {
  if (!ativa) return ''
  if (!capture) return captura ? 'Peça a sincronização' : ''
  if (last !== null && Number.isNaN(Date.parse(last))) return 'Peça a sincronização para acertar a data'
  if (last !== null && capture.estado === 'aguardando' && capture.proximaConsulta)
    return `Próxima ${formatAtMoment(capture.proximaConsulta, now)}`
  if (last !== null) return captureSentence(capture, now)
  if (capture.estado === 'aguardando')
    return capture.proximaConsulta
      ? `Primeira consulta ${formatAtMoment(capture.proximaConsulta, now)}, sem você fazer nada`
      : 'A primeira consulta sai sozinha em instantes'
  if (capture.estado === 'parada') return 'Captura parada. Confira o certificado em Editar'
  return captureSentence(capture, now)
}

/** Expiry date of the certificate; remaining days only when action is needed. */
export function Validity({ company, now }: { company: CompanyRow; now: Date }) {
  const { validadeCertificadoA1: validity } = company
  if (!validity) {
    return (
      <p className="@min-[880px]/list:truncate" title="Envie em Editar">
        Não informado{' '}
        <span className="text-muted text-sm @min-[640px]/list:@max-[880px]/list:hidden">Envie em Editar</span>
      </p>
    )
  }
  const ended = hasEnded(validity, now)
  const soon = endsSoon(company, now)
  const known = !Number.isNaN(Date.parse(validity))
  const words = known ? validityText(validity, now) : undefined
  const Icon = ended ? CalendarX : CalendarClock
  return (
    <p className="flex min-w-0 items-center gap-x-2" title={words}>
      <span className="tabular-nums">{formatInstantDate(validity)}</span>
      {known && (ended || soon) && (
        <span className={`flex min-w-0 items-center gap-1 text-sm ${ended ? 'text-error' : 'text-warning'}`}>
          <Icon aria-hidden className="size-3.5 shrink-0" />
          <span className="truncate">{words}</span>
        </span>
      )}
    </p>
  )
}
