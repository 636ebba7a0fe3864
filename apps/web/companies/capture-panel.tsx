import type { CompanyDetail } from '@vigia/contract/companies'
import { listDocuments } from '@vigia/contract/documents'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Capture, captureProgress, captureSentence, capturesOf, isTroubled, lampOf } from '../lib/capture.ts'
import { documentKinds } from '../lib/kinds.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Progress } from '../ui/progress.tsx'
import { StateMark } from '../ui/state-mark.tsx'
import { durationText, isMoving, isNothingThere, isUnheard, remainingMs, type Sighting } from './capture-pace.ts'
import { captureHeading, validityOf } from './work-list.ts'

export function CapturePanel({ companyId, company }: { companyId: string; company: CompanyDetail }) {
  const captures = useCaptures(company)
  if (!company.captura) return null
  return (
    <section aria-labelledby={captureHeading} className="ledger pt-4">
      <h2 id={captureHeading} tabIndex={-1} className="text-lg outline-none">
        Captura
      </h2>
      <ServiceCaptures companyId={companyId} company={company} captures={captures} />
    </section>
  )
}

/** The captures of a company, as they are this second. */
export function useCaptures(company: CompanyDetail): Capture[] {
  const now = useNow(1_000)
  return capturesOf({ ...company, validadeCertificadoA1: validityOf(company) }, now)
}

interface ServiceCapturesProps {
  companyId: string
  company: Pick<CompanyDetail, 'captura'>
  captures: readonly Capture[]
  /** For the first capture: also shows its completed progress and the documents so far. */
  first?: boolean
}

/** Progress and state of the capture of each service. */
export function ServiceCaptures({ companyId, company, captures, first = false }: ServiceCapturesProps) {
  const now = useNow(1_000)
  return (
    <>
      {company.captura?.length === 0 && <p className="mt-2 text-muted">Nada é capturado para esta empresa.</p>}
      <div className="mt-3 grid gap-x-10 gap-y-5 @min-[720px]:grid-cols-2">
        {captures.map((capture) => (
          <ServiceCapture key={capture.servico} companyId={companyId} capture={capture} first={first} now={now} />
        ))}
      </div>
      <p aria-live="polite" className="sr-only">
        {captures.map(spoken).join(' ')}
      </p>
    </>
  )
}

interface ServiceCaptureProps {
  companyId: string
  capture: Capture
  first: boolean
  now: Date
}

function ServiceCapture({ companyId, capture, first, now }: ServiceCaptureProps) {
  const left = useRemaining(capture, now)
  const lamp = isUnheard(capture) ? 'unlit' : lampOf(capture)
  const percent = percentOf(capture)
  const { short: name, path, seeAll } = documentKinds[capture.servico]
  const whole = percent === 100 && !first
  return (
    <div>
      <p className="flex items-center gap-2 font-semibold">
        <StateMark state={lamp} />
        {name}
        {!whole && percent !== null && <span className="ml-auto text-xl tabular-nums">{percent}%</span>}
      </p>
      {!whole && (
        <div className="mt-1.5">
          <Progress label={`Captura de ${name}`} percent={percent} />
        </div>
      )}
      {!isUnheard(capture) && (
        <p className="mt-1.5 text-muted tabular-nums">
          {captureSentence(capture, now)}
          {Number(capture.maxNsu) > 0 &&
            ` · posição ${formatInteger(Number(capture.ultimoNsu))} de ${formatInteger(Number(capture.maxNsu))}`}
          {left !== null && ` · faltam ${durationText(left)} neste ritmo`}
        </p>
      )}
      {isNothingThere(capture) ? (
        <p className="mt-1.5">
          A SEFAZ ainda não tem {name} para este CNPJ. Não é preciso fazer nada: o que for emitido daqui em diante chega
          sozinho. Um documento mais antigo, só quem o emitiu tem.
        </p>
      ) : (
        <p
          className={clsx(
            isTroubled(capture) ? 'mt-2 rounded-control px-3 py-1.5' : 'mt-1.5',
            lamp === 'blocked' && 'bg-warning-soft text-warning',
            lamp === 'stopped' && 'bg-error-soft text-error',
          )}
        >
          {capture.mensagem}
        </p>
      )}
      {first && <ComeSoFar companyId={companyId} capture={capture} />}
      {Number(capture.ultimoNsu) > 0 && (
        <Link
          to={`${path}?empresa=${companyId}&periodo=todos`}
          className="mt-1.5 inline-block min-h-6 rounded-control font-semibold text-brand underline underline-offset-3"
        >
          {seeAll}
        </Link>
      )}
    </div>
  )
}

/** How many documents the first capture has brought. */
function ComeSoFar({ companyId, capture }: Pick<ServiceCaptureProps, 'companyId' | 'capture'>) {
  // An order of its own avoids the cache entry of the list, which must not open with old rows.
  const { tipoDFe, arrived } = documentKinds[capture.servico]
  const query = {
    TipoDFe: tipoDFe,
    IdEmpresa: companyId,
    Ordem: 'chegada',
    PaginaAtual: 1,
  } as const
  const { data } = useScreenQuery(listDocuments, { query }, { refreshMs: isMoving([capture]) ? 3_000 : 15_000 })
  const count = data?.totalDeItens ?? 0
  if (count === 0) return null
  return <p className="mt-1.5 font-semibold">{`${formatCount(count, ...arrived)} até agora`}</p>
}

// 100 means that the authority has nothing more; null that it has not responded yet.
function percentOf(capture: Capture): number | null {
  if (Number(capture.maxNsu) === 0) return isNothingThere(capture) ? 100 : null
  return captureProgress(capture) ?? 100
}

// Steps of ten, because screen readers would read every percent aloud.
function spoken(capture: Capture): string {
  const percent = percentOf(capture)
  const { short: name } = documentKinds[capture.servico]
  const runs = capture.estado === 'capturando' || capture.estado === 'aguardando'
  if (runs && percent !== null && percent < 100) return `${name}: ${Math.floor(percent / 10) * 10}%.`
  return capture.mensagem ? `${name}: ${capture.mensagem}` : ''
}

function useRemaining(capture: Capture, now: Date): number | null {
  const [first] = useState<Sighting>(() => ({ nsu: Number(capture.ultimoNsu), at: Date.now() }))
  return remainingMs(capture, first, now.getTime())
}
