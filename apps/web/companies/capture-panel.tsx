import { formatCount, formatInteger } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Capture, captureProgress, captureSentence, capturesOf, isTroubled, lampOf } from '../lib/capture.ts'
import { useScreenQuery } from '../lib/query.ts'
import { type CompanyDetail, documentsQuery } from '../lib/response-adapter.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Progress } from '../ui/progress.tsx'
import { StateMark } from '../ui/state-mark.tsx'
import { cienciaId } from './automatic-ciencia.tsx'
import { durationText, isMoving, isNothingThere, isUnheard, remainingMs, type Sighting } from './capture-pace.ts'
import { captureHeading, validityOf } from './work-list.ts'

const names = { nfe: 'NF-e', cte: 'CT-e' } as const
const lists = { nfe: ['/notas-fiscais', 'Ver notas fiscais'], cte: ['/cte', 'Ver CT-e'] } as const

interface CapturePanelProps {
  companyId: string
  company: CompanyDetail
  /** It has just been registered. */
  isNew: boolean
}

/** What is being captured for a company, and, right after its registration, what to expect. */
export function CapturePanel({ companyId, company, isNew }: CapturePanelProps) {
  const now = useNow(1_000)
  const captures = capturesOf({ ...company, validadeCertificadoA1: validityOf(company) }, now)
  const moving = isMoving(captures)
  if (company.captura === null && captures.length === 0 && !isNew) return null
  return (
    <section aria-labelledby={captureHeading} className="ledger pt-4">
      <h2 id={captureHeading} tabIndex={-1} className="text-lg outline-none">
        {isNew ? (moving ? 'Primeira captura em andamento' : 'Primeira captura') : 'Captura'}
      </h2>
      {isNew && (
        <FirstWords moving={moving} acknowledges={company.configuracaoNFe.manifestarCienciaAutomaticamente === true} />
      )}
      {company.captura?.length === 0 && <p className="mt-2 text-muted">Nada é capturado para esta empresa.</p>}
      <div className="mt-3 grid gap-x-10 gap-y-5 @min-[720px]:grid-cols-2">
        {captures.map((capture) => (
          <ServiceCapture
            key={capture.servico}
            companyId={companyId}
            capture={capture}
            unheard={isUnheard(capture)}
            isNew={isNew}
            now={now}
          />
        ))}
      </div>
      <p aria-live="polite" className="sr-only">
        {captures.map(spoken).join(' ')}
      </p>
    </section>
  )
}

function FirstWords({ moving, acknowledges }: { moving: boolean; acknowledges: boolean }) {
  return (
    <div className="mt-1 grid max-w-[75ch] gap-2">
      <p>
        {moving && <span className="font-semibold">Você pode fechar esta página: a captura continua sem ela. </span>}
        Ela pode trazer até cerca de três meses de documentos, ou nada, se o CNPJ ainda não usava o serviço da SEFAZ. O
        que passou de três meses já saiu de lá.
      </p>
      <p>
        Tudo o que a SEFAZ entregar é guardado. A Ciência automática está{' '}
        {acknowledges ? 'ligada' : 'desligada: nenhuma resposta é enviada em seu nome'}.{' '}
        <button
          type="button"
          onClick={showChoice}
          className="rounded-control font-semibold text-brand underline underline-offset-3"
        >
          Escolher o que capturar
        </button>
      </p>
    </div>
  )
}

function showChoice() {
  const choice = document.getElementById(cienciaId)
  choice?.scrollIntoView({ block: 'center' })
  choice?.querySelector('button')?.focus({ preventScroll: true })
}

interface ServiceCaptureProps {
  companyId: string
  capture: Capture
  /** The authority has not responded yet. */
  unheard: boolean
  isNew: boolean
  now: Date
}

function ServiceCapture({ companyId, capture, unheard, isNew, now }: ServiceCaptureProps) {
  const left = useRemaining(capture, now)
  const lamp = lampOf(capture)
  const percent = percentOf(capture)
  const name = names[capture.servico]
  const [address, words] = lists[capture.servico]
  const whole = percent === 100 && !isNew
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
      {!unheard && (
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
      {isNew && <ComeSoFar companyId={companyId} capture={capture} />}
      {Number(capture.ultimoNsu) > 0 && (
        <Link
          to={`${address}?empresa=${companyId}&periodo=todos`}
          className="mt-1.5 inline-block min-h-6 rounded-control font-semibold text-brand underline underline-offset-3"
        >
          {words}
        </Link>
      )}
    </div>
  )
}

const tipos = { nfe: 0, cte: 2 } as const
const counted: Record<Capture['servico'], [one: string, many: string]> = {
  nfe: ['nota fiscal chegou', 'notas fiscais chegaram'],
  cte: ['CT-e chegou', 'CT-e chegaram'],
}

/** How many documents the first capture has brought. */
function ComeSoFar({ companyId, capture }: Pick<ServiceCaptureProps, 'companyId' | 'capture'>) {
  // In an order of its own: the list, which is opened next, must not begin with what was here meanwhile.
  const query = { TipoDFe: tipos[capture.servico], IdEmpresa: companyId, Ordem: 'chegada', PaginaAtual: 1 } as const
  const { data } = useScreenQuery(documentsQuery, { query }, { refreshMs: isMoving([capture]) ? 3_000 : 15_000 })
  const count = data?.totalDeItens ?? 0
  if (count === 0) return null
  return <p className="mt-1.5 font-semibold">{`${formatCount(count, ...counted[capture.servico])} até agora`}</p>
}

// 100 means that the authority has nothing more; null that it has not responded yet.
function percentOf(capture: Capture): number | null {
  if (Number(capture.maxNsu) === 0) return isNothingThere(capture) ? 100 : null
  return captureProgress(capture) ?? 100
}

// For screen readers: steps of ten, so that not every percent is read aloud.
function spoken(capture: Capture): string {
  const percent = percentOf(capture)
  const name = names[capture.servico]
  const runs = capture.estado === 'capturando' || capture.estado === 'aguardando'
  if (runs && percent !== null && percent < 100) return `${name}: ${Math.floor(percent / 10) * 10}%.`
  return capture.mensagem ? `${name}: ${capture.mensagem}` : ''
}

function useRemaining(capture: Capture, now: Date): number | null {
  const [first] = useState<Sighting>(() => ({ nsu: Number(capture.ultimoNsu), at: Date.now() }))
  return remainingMs(capture, first, now.getTime())
}
