import type { DocumentDetail, TimelineEntry } from '@vigia/contract/documents'
import { formatInstantDate, formatTime } from '@vigia/contract/text'
import { clsx } from 'clsx'
import {
  CircleCheck,
  CircleQuestionMark,
  CircleX,
  Inbox,
  type LucideIcon,
  Printer,
  Send,
  ShieldAlert,
  ShieldCheck,
  Undo2,
  UserCheck,
} from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import type { Printed } from '../printed/printed-form.tsx'
import { FactsSkeleton } from './summary.tsx'

const situationLooks: Record<TimelineEntry['situacao'], { word: string; icon: LucideIcon; className: string }> = {
  registrado: { word: '', icon: CircleCheck, className: 'text-success' },
  'em-envio': { word: 'em envio', icon: Send, className: 'text-info' },
  'aguarda-segunda-pessoa': { word: 'aguarda segunda pessoa', icon: UserCheck, className: 'text-info' },
  recusado: { word: 'recusado', icon: CircleX, className: 'text-error' },
  'sem-confirmacao': { word: 'sem confirmação', icon: CircleQuestionMark, className: 'text-warning' },
  desfeito: { word: 'desfeito', icon: Undo2, className: 'text-muted' },
}

interface PanelEventsProps {
  detail: DocumentDetail | undefined
  onView: (row: Printed) => void
}

/** Timeline of a document, newest first. */
export function PanelEvents({ detail, onView }: PanelEventsProps) {
  if (!detail) return <FactsSkeleton />
  return (
    <ol aria-label="Histórico do documento" className="px-5 py-4 max-sm:px-4">
      {detail.historico.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and keep no state.
        <HistoryEntry key={index} entry={entry} onPrint={(event) => onView({ ...detail.documento, event })} />
      ))}
    </ol>
  )
}

interface HistoryEntryProps {
  entry: TimelineEntry
  onPrint: (event: NonNullable<Printed['event']>) => void
}

function HistoryEntry({ entry, onPrint }: HistoryEntryProps) {
  const { word, icon, className } = situationLooks[entry.situacao]
  const Icon = entry.origem === 'chegada' ? Inbox : icon
  return (
    <li className="relative flex gap-3 pb-4 before:absolute before:top-6 before:bottom-1 before:left-[7.5px] before:w-px before:bg-line last:pb-0 last:before:hidden">
      <Icon
        aria-hidden
        className={clsx('mt-0.5 size-4 shrink-0', entry.origem === 'chegada' ? 'text-muted' : className)}
      />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span className={clsx('font-semibold', entry.situacao === 'desfeito' && 'line-through')}>
            {entry.descricao}
          </span>
          <time dateTime={entry.quando} className="text-muted text-sm tabular-nums">
            {formatInstantDate(entry.quando)} {formatTime(entry.quando)}
          </time>
        </p>
        <p className="break-words text-muted">
          {word && <span className={clsx('font-semibold', className)}>{word} · </span>}
          {entry.autor}
        </p>
        {entry.texto && <p className="mt-0.5 whitespace-pre-line break-words">{entry.texto}</p>}
        {entry.protocolo && <p className="text-muted text-xs tabular-nums">Protocolo {entry.protocolo}</p>}
        {entry.conferencia && <Verification {...entry.conferencia} />}
        {entry.idEvento && <PrintButton id={entry.idEvento} entry={entry} onPrint={onPrint} />}
      </div>
    </li>
  )
}

function Verification({ confere, texto }: NonNullable<TimelineEntry['conferencia']>) {
  const [Icon, className] = confere ? [ShieldCheck, 'text-muted'] : [ShieldAlert, 'text-error']
  if (confere === null) return <p className="text-muted text-xs">{texto}</p>
  return (
    <p className={clsx('flex items-start gap-1 text-xs', className)}>
      <Icon aria-hidden className="mt-px size-3.5 shrink-0" />
      {texto}
    </p>
  )
}

function PrintButton({ id, entry, onPrint }: HistoryEntryProps & { id: string }) {
  // The second of the three numbers in the id distinguishes several Cartas de Correção.
  const name = `${entry.descricao} ${id.split('-')[1]}`
  return (
    <Button
      variant="ghost"
      size="sm"
      aria-label={`Imprimir ${name}`}
      onClick={() => onPrint({ id, name, undone: entry.situacao === 'desfeito' })}
      className="-ml-2 mt-0.5"
    >
      <Printer aria-hidden className="size-4" />
      Imprimir
    </Button>
  )
}
