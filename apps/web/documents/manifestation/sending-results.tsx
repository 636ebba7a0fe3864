import type { DocumentRow } from '@vigia/contract/documents'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { CircleCheck, CircleDashed, CircleQuestionMark, CircleX, type LucideIcon, Send, UserCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { DocumentKind } from '../../lib/kinds.ts'
import type { SendingResult } from './sending.ts'

type SendingState = SendingResult['situacao']

const stateLooks: Record<SendingState, { word: string; many: string; icon: LucideIcon; className: string }> = {
  recusada: { word: 'Recusada', many: 'recusadas', icon: CircleX, className: 'text-error' },
  'nao-enviada': { word: 'Não enviada', many: 'não enviadas', icon: CircleDashed, className: 'text-warning' },
  'sem-confirmacao': {
    word: 'Sem confirmação',
    many: 'sem confirmação',
    icon: CircleQuestionMark,
    className: 'text-warning',
  },
  aceita: { word: 'Aceita', many: 'aceitas', icon: Send, className: 'text-info' },
  'aguarda-segunda-pessoa': {
    word: 'Aguarda segunda pessoa',
    many: 'aguardam segunda pessoa',
    icon: UserCheck,
    className: 'text-info',
  },
  enviando: { word: 'Em envio', many: 'em envio', icon: Send, className: 'text-info' },
  registrada: { word: 'Registrada', many: 'registradas', icon: CircleCheck, className: 'text-success' },
}
const order: readonly SendingState[] = [
  'recusada',
  'nao-enviada',
  'sem-confirmacao',
  'aceita',
  'aguarda-segunda-pessoa',
  'enviando',
  'registrada',
]

interface SendingResultsProps {
  kind: DocumentKind
  results: readonly SendingResult[]
  known: ReadonlyMap<string, DocumentRow>
}

/** The result of each document, problems first. */
export function SendingResults({ kind, results, known }: SendingResultsProps) {
  const summary = useRef<HTMLParagraphElement>(null)
  useEffect(() => summary.current?.focus(), [])
  const lines = linesOf(kind, results, known)
  return (
    <div className="min-h-0 overflow-y-auto px-5 py-4">
      <p ref={summary} tabIndex={-1} className="font-semibold outline-none">
        {countsOf(results)}
      </p>
      <ul
        aria-label="Resultado de cada documento"
        className="mt-2 border-line border-t [&>li]:border-line [&>li]:border-b"
      >
        {lines.slice(0, shownMax).map(({ key, situacao, name, mensagem }) => {
          const { word, icon: Icon, className } = stateLooks[situacao]
          return (
            <li key={key} className="flex gap-x-3 py-2 max-sm:flex-col">
              <span className={`flex w-28 shrink-0 items-start gap-1.5 font-semibold ${className}`}>
                <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
                {word}
              </span>
              <div className="min-w-0">
                <p className="break-words tabular-nums">{name}</p>
                <p className="break-words text-muted">{mensagem}</p>
              </div>
            </li>
          )
        })}
        {lines.length > shownMax && (
          <li className="py-2 text-muted">e mais {formatInteger(lines.length - shownMax)}</li>
        )}
      </ul>
    </div>
  )
}

/** The number of documents with each result. */
export function countsOf(results: readonly SendingResult[]): string {
  const counts = order.flatMap((state) => {
    const count = results.filter(({ situacao }) => situacao === state).length
    return count > 0
      ? [`${formatInteger(count)} ${count === 1 ? stateLooks[state].word.toLowerCase() : stateLooks[state].many}`]
      : []
  })
  return `${counts.join(', ')}.`
}

const shownMax = 300

// Unsent documents that were never on the screen have no known number: they are counted.
function linesOf(kind: DocumentKind, results: readonly SendingResult[], known: SendingResultsProps['known']) {
  const unnamed = new Map<string, number>()
  const lines = results.flatMap(({ idDfe, numero, situacao, mensagem }) => {
    const row = known.get(idDfe)
    const number = numero ?? row?.numero
    if (number !== undefined) {
      return [{ key: idDfe, situacao, name: `${kind.short} ${number}${row ? ` de ${row.emitente}` : ''}`, mensagem }]
    }
    const key = `${situacao} ${mensagem}`
    const before = unnamed.get(key) ?? 0
    unnamed.set(key, before + 1)
    return before === 0 ? [{ key, situacao, name: '', mensagem }] : []
  })
  return lines
    .map((line) => ({ ...line, name: line.name || formatCount(unnamed.get(line.key) ?? 0, kind.one, kind.many) }))
    .sort((a, b) => order.indexOf(a.situacao) - order.indexOf(b.situacao))
}
