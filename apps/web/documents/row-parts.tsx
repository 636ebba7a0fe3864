import { type AlertBand, bandNames } from '@vigia/contract/alerts'
import type { DocumentRow } from '@vigia/contract/documents'
import { formatCount } from '@vigia/contract/text'
import { clsx } from 'clsx'
import {
  AlarmClock,
  BookmarkCheck,
  CheckCheck,
  CircleQuestionMark,
  Clock3,
  Eye,
  FileClock,
  Lightbulb,
  type LucideIcon,
  MessageSquareText,
  Send,
  ShieldAlert,
  TriangleAlert,
  UserCheck,
} from 'lucide-react'
import { type ChangeEvent, useId } from 'react'
import { type DocumentKind, kindOf } from '../lib/kinds.ts'
import { buttonClass } from '../ui/button.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { besideLink } from '../ui/hooks/row-keys.ts'
import { describeDeadline } from './deadlines.ts'

/** Props of a row; functions keep their identity, because only changed rows may render again. */
export interface RowProps {
  kind: DocumentKind
  row: DocumentRow
  arrived: boolean
  selected: boolean
  /** The row belongs to the previous list while the next one is loading: it cannot be selected. */
  stale: boolean
  now: Date
  onSelect: (id: string, on: boolean, range: boolean) => void
  onOpen: (id: string) => void
  onView: (row: DocumentRow) => void
}

/** An open alert, in words. */
export const alertWords = (band: AlertBand) => `Alerta ${bandNames[band]}`

/** Marks of a document: alert, failed check, later changes, checked, booked, remarks and others. */
export function RowMarks({ row }: { row: DocumentRow }) {
  const { alerta, conferencia, conferidaPor, lancadaPor, entreguePor, mudouDepois, observacoes } = row
  const { sugestao, aguardaSegunda, eventoSemConfirmacao } = row
  const { ending } = kindOf(row.chave)
  const done = [lancadaPor && `lançad${ending}`, entreguePor && 'entregue'].filter(Boolean).join(' e ')
  return (
    <>
      {conferencia?.confere === false && (
        <RowMark icon={ShieldAlert} className="text-error" words={conferencia.texto} />
      )}
      {alerta && (
        <RowMark
          icon={TriangleAlert}
          className={alerta === 'critico' ? 'text-error' : alerta === 'alto' ? 'text-warning' : 'text-muted'}
          words={alertWords(alerta)}
        />
      )}
      {aguardaSegunda && (
        <RowMark icon={UserCheck} className="text-warning" words={`${aguardaSegunda.evento}: aguarda segunda pessoa`} />
      )}
      {eventoSemConfirmacao && (
        <RowMark
          icon={CircleQuestionMark}
          className="text-warning"
          words={`${eventoSemConfirmacao}: sem confirmação da SEFAZ`}
        />
      )}
      {sugestao && <RowMark icon={Lightbulb} className="text-info" words={suggestionText(sugestao)} />}
      {mudouDepois && (
        <RowMark icon={FileClock} className="text-warning" words={`Mudou depois: ${mudouDepois.evento}`} />
      )}
      {conferidaPor && !mudouDepois && (
        <RowMark
          icon={CheckCheck}
          className="text-muted"
          words={conferidaPor.nome ? `Conferid${ending} por ${conferidaPor.nome}` : `Conferid${ending}`}
        />
      )}
      {done && <RowMark icon={BookmarkCheck} className="text-muted" words={`Marcad${ending} como ${done}`} />}
      {observacoes !== undefined && observacoes > 0 && (
        <RowMark
          icon={MessageSquareText}
          className="text-muted"
          words={formatCount(observacoes, 'observação', 'observações')}
        />
      )}
    </>
  )
}

/** Text of a rule's suggestion. */
export function suggestionText({ tipoManifestacao, regra }: NonNullable<DocumentRow['sugestao']>): string {
  return tipoManifestacao === 2
    ? `Confirmação sugerida pela regra “${regra}”`
    : `Desconhecimento preparado pela regra “${regra}”`
}

function RowMark({ icon: Icon, className, words }: { icon: LucideIcon; className: string; words: string }) {
  return (
    <span title={words} className="shrink-0 self-center">
      <Icon aria-hidden className={clsx('size-4', className)} />
      <span className="sr-only">{words}</span>
    </span>
  )
}

const urgencies = {
  calm: { icon: Clock3, className: 'text-muted' },
  soon: { icon: AlarmClock, className: 'text-warning' },
  now: { icon: TriangleAlert, className: 'font-semibold text-error' },
}

/** The open deadline, with its urgency as text, icon and colour. */
export function DeadlineText({ prazo, now }: { prazo: DocumentRow['prazo']; now: Date }) {
  const words = prazo && describeDeadline(prazo, now)
  if (!words) return null
  const { icon: Icon, className } = urgencies[words.urgency]
  return (
    <span title={words.long} className={clsx('flex min-w-0 items-center gap-1 tabular-nums', className)}>
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 truncate">{words.name}:</span> <span className="shrink-0">{words.left}</span>
    </span>
  )
}

/** An event that was sent and has no response yet. */
export function OnItsWay({ event }: { event: string }) {
  return (
    <span title={`Em envio: ${event}`} className="flex min-w-0 items-center gap-1 text-info">
      <Send aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">Em envio: {event}</span>
    </span>
  )
}

type SelectBoxProps = Pick<RowProps, 'kind' | 'row' | 'selected' | 'stale' | 'onSelect'>

export function SelectBox({ kind, row, selected, stale, onSelect }: SelectBoxProps) {
  return (
    <Checkbox
      bare
      tabIndex={besideLink}
      label={`Selecionar ${kind.short} ${row.numero} de ${row.emitente}`}
      checked={selected}
      disabled={stale}
      onChange={(event) => onSelect(row.idDfe, event.target.checked, withShift(event))}
    />
  )
}

// The change event of a checkbox wraps a click, also for the space bar.
function withShift({ nativeEvent }: ChangeEvent): boolean {
  return nativeEvent instanceof MouseEvent && nativeEvent.shiftKey
}

/** Stays focusable when the document cannot be shown: screen readers then read the reason. */
export function ViewButton({ kind, row, onView }: Pick<RowProps, 'kind' | 'row' | 'onView'>) {
  const id = useId()
  const reason = row.notaCompleta
    ? undefined
    : 'Só o resumo chegou até agora. O documento completo é liberado depois da manifestação.'
  return (
    <>
      <button
        type="button"
        tabIndex={besideLink}
        aria-label={`Visualizar ${kind.short} ${row.numero}`}
        title={reason ?? 'Visualizar'}
        aria-disabled={reason ? true : undefined}
        aria-describedby={reason && id}
        onClick={reason ? undefined : () => onView(row)}
        className={buttonClass({ variant: 'ghost', size: 'icon', className: '-mr-1.5' })}
      >
        <Eye aria-hidden className="size-4.5" />
      </button>
      {reason && (
        <span hidden id={id}>
          {reason}
        </span>
      )}
    </>
  )
}

/** Whether a click was for the row: not for a control in it, and not to select text. */
export function meantForRow(target: EventTarget): boolean {
  if (target instanceof Element && target.closest('a, button, input, label')) return false
  return document.getSelection()?.isCollapsed !== false
}
