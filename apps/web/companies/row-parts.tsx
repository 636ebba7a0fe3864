import { formatAtMoment, formatInstantDate, formatRelative } from '@vigia/contract/text'
import { CalendarClock, CalendarX } from 'lucide-react'
import { type Capture, captureSentence, capturesOf, hasEnded, lampOf } from '../lib/capture.ts'
import type { CompanyRow } from '../lib/response-adapter.ts'
import { Lamp } from '../ui/lamp.tsx'
import { endsSoon, validityText } from './work-list.ts'

interface ServiceStateProps {
  company: CompanyRow
  service: Capture['servico']
  now: Date
}

/** When the service last responded, and what its capture does now. */
export function ServiceState({ company, service, now }: ServiceStateProps) {
  const last = service === 'nfe' ? company.ultimaSincronizacaoNFe : company.ultimaSincronizacaoCTe
  const capture = capturesOf(company, now).find(({ servico }) => servico === service)
  return (
    <div className="flex gap-2">
      {capture && <Lamp state={lampOf(capture)} className="mt-0.5" />}
      <div className="min-w-0">
        <p>{formatRelative(last, now)}</p>
        <p className="text-muted text-sm tabular-nums">{nextStep(company, last, capture, now)}</p>
      </div>
    </div>
  )
}

function nextStep({ captura }: CompanyRow, last: string | null, capture: Capture | undefined, now: Date): string {
  if (!capture) return captura === null ? '' : 'Peça a sincronização'
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

export function Validity({ company, now }: { company: CompanyRow; now: Date }) {
  const { validadeCertificadoA1: validity, certificadoRevogadoEm: revoked } = company
  if (!validity) {
    return (
      <>
        <p>Não informado</p>
        <p className="text-muted text-sm">Envie em Editar</p>
      </>
    )
  }
  const ended = revoked !== null || hasEnded(validity, now)
  const soon = endsSoon(company, now)
  const Icon = ended ? CalendarX : CalendarClock
  return (
    <>
      <p className="tabular-nums">{formatInstantDate(validity)}</p>
      {!Number.isNaN(Date.parse(validity)) && (
        <p className={`flex items-start gap-1 text-sm ${ended ? 'text-error' : soon ? 'text-warning' : 'text-muted'}`}>
          {soon && <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0" />}
          {revoked === null ? validityText(validity, now) : `Revogado em ${formatInstantDate(revoked)}`}
        </p>
      )}
    </>
  )
}
