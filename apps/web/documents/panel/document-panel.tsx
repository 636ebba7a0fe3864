import { type DocumentRow, getDocument } from '@vigia/contract/documents'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import type { AnswerType } from '../../lib/answer-types.ts'
import { ApiError } from '../../lib/api.ts'
import { kindOf } from '../../lib/kinds.ts'
import { loadFailure, useScreenQuery } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { useDebounced } from '../../ui/hooks/debounce.ts'
import { useMedia } from '../../ui/hooks/narrow.ts'
import { Notice } from '../../ui/notice.tsx'
import { SidePanel } from '../../ui/overlay/side-panel.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { type Printed, PrintedForm, printedTitle } from '../printed/printed-form.tsx'
import { PanelEvents } from './events.tsx'
import { PanelHead } from './head.tsx'
import { PanelItems } from './items.tsx'
import { PanelRemarks } from './remarks.tsx'
import { PanelSummary } from './summary.tsx'
import { PanelXml } from './xml.tsx'

interface DocumentPanelProps {
  /** Null while it is closed. */
  id: string | null
  /** Rows that have been on the screen. */
  known: ReadonlyMap<string, DocumentRow>
  /** Ids of the page of the list, for the previous and next document. */
  ids: readonly string[]
  onStep: (ids: readonly string[], by: -1 | 1) => void
  onClose: () => void
  onView: (row: Printed) => void
  onAnswer: (answer: AnswerType, document: DocumentRow) => void
}

const refreshMs = 5_000

/** The details of one document: what it is, what it needs, what happened to it. */
export function DocumentPanel({ id, known, ids, onStep, onClose, ...handlers }: DocumentPanelProps) {
  const [last, setLast] = useState(id)
  // The content stays while the panel slides out.
  if (id !== null && id !== last) setLast(id)
  const shown = id ?? last ?? ''
  const [tab, setTab] = useState('resumo')
  const wide = useMedia('(width >= 1280px)')
  const details = useScreenQuery(getDocument, { params: { idDfe: shown } }, { refreshMs, enabled: id !== null })
  // While the next document loads, the data is that of the one before.
  const detail = details.data?.documento.idDfe === shown ? details.data : undefined
  const row = detail?.documento ?? known.get(shown)
  const error = details.isPlaceholderData || detail ? null : details.error
  // The printed form is not requested for documents that are only passed through.
  const settled = useDebounced(shown, 250) === shown
  const at = ids.indexOf(shown)
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : undefined
    if (by === undefined || at < 0 || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.target instanceof Element && event.target.closest('input, textarea, [role=menu], [data-own-keys]')) return
    event.preventDefault()
    onStep(ids, by)
  }
  return (
    <SidePanel
      open={id !== null}
      onClose={onClose}
      title={detail?.nome ?? (row ? printedTitle(row) : 'Documento')}
      onKeyDown={onKeyDown}
      returnTo={() => document.querySelector(`[data-document="${CSS.escape(shown)}"]`)}
      className={wide ? 'max-w-[min(82rem,94vw)]' : 'max-w-[min(38rem,100vw)]'}
      actions={
        at >= 0 && (
          <>
            <StepButton
              label="Documento anterior"
              hint="←"
              icon={<ChevronLeft aria-hidden />}
              ended={at === 0}
              onStep={() => onStep(ids, -1)}
            />
            <StepButton
              label="Próximo documento"
              hint="→"
              icon={<ChevronRight aria-hidden />}
              ended={at === ids.length - 1}
              onStep={() => onStep(ids, 1)}
            />
          </>
        )
      }
    >
      {error ? (
        <LoadFailure error={error} onRetry={() => void details.refetch()} />
      ) : (
        <div className="flex min-h-0 flex-1">
          <div className="min-h-0 min-w-0 flex-1 overflow-y-auto xl:max-w-[34rem]">
            <PanelHead row={row} detail={detail} wide={wide} {...handlers} />
            <Tabs
              label="Partes do documento"
              value={tab}
              onChange={setTab}
              tabs={[
                { value: 'resumo', label: 'Resumo', content: <PanelSummary row={row} detail={detail} /> },
                { value: 'itens', label: 'Itens', content: <PanelItems detail={detail} /> },
                {
                  value: 'eventos',
                  label: 'Eventos',
                  content: <PanelEvents detail={detail} onView={handlers.onView} />,
                },
                {
                  value: 'anotacoes',
                  label: detail && detail.anotacoes.length > 0 ? `Anotações (${detail.anotacoes.length})` : 'Anotações',
                  content: <PanelRemarks detail={detail} />,
                },
                { value: 'xml', label: 'XML', content: row && <PanelXml key={shown} row={row} /> },
              ]}
            />
          </div>
          {wide && (
            <section
              aria-label="Impressão"
              data-own-keys
              className="flex min-w-0 flex-1 flex-col border-line border-l bg-sunken"
            >
              {row && !row.notaCompleta && <NotPrinted row={row} />}
              {row?.notaCompleta && settled && <PrintedForm key={shown} row={row} />}
            </section>
          )}
        </div>
      )}
    </SidePanel>
  )
}

interface StepButtonProps {
  label: string
  hint: string
  icon: ReactNode
  /** Whether this is the end of the list. */
  ended: boolean
  onStep: () => void
}

function StepButton({ label, hint, icon, ended, onStep }: StepButtonProps) {
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={label}
      title={`${label} (${hint})`}
      aria-disabled={ended || undefined}
      onClick={onStep}
    >
      <span className="[&_svg]:size-4">{icon}</span>
    </Button>
  )
}

function LoadFailure({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const absent = error instanceof ApiError && error.status === 404
  return (
    <div className="p-5">
      <Notice
        tone={absent ? 'warning' : 'error'}
        title={absent ? 'Este documento não está aqui' : loadFailure(error)}
        action={
          !absent && (
            <Button variant="outline" size="sm" onClick={onRetry}>
              Tentar novamente
            </Button>
          )
        }
      >
        {absent
          ? 'O endereço pode ser de outra conta, ou o documento é de um tipo que a empresa deixou de mostrar. Nada foi apagado.'
          : 'O documento continua guardado.'}
      </Notice>
    </div>
  )
}

function NotPrinted({ row }: { row: DocumentRow }) {
  return (
    <p className="m-auto max-w-72 p-6 text-center text-muted">
      O {kindOf(row.chave).form} aparece aqui quando o documento completo chegar.
    </p>
  )
}
