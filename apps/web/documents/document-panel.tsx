import { getDocument } from '@vigia/contract/documents'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import type { DocumentRow } from '../lib/answers.ts'
import { ApiError } from '../lib/api.ts'
import { loadFailure, useRoute } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { useDebounced } from '../ui/debounce.ts'
import { useMedia } from '../ui/narrow.ts'
import { Notice } from '../ui/notice.tsx'
import { SidePanel } from '../ui/side-panel.tsx'
import { Tabs } from '../ui/tabs.tsx'
import type { Answer } from './answers.ts'
import { kindOf } from './kinds.ts'
import { PanelEvents } from './panel-events.tsx'
import { PanelHead } from './panel-head.tsx'
import { PanelItems } from './panel-items.tsx'
import { PanelSummary } from './panel-summary.tsx'
import { PanelXml } from './panel-xml.tsx'
import { type Printed, PrintedForm, titleOf } from './printed-form.tsx'

interface DocumentPanelProps {
  /** Null while it is closed. */
  id: string | null
  /** Rows that were on the screen. */
  known: ReadonlyMap<string, DocumentRow>
  /** The page of the list, for the way to the next one. */
  ids: readonly string[]
  onMove: (id: string) => void
  onClose: () => void
  onView: (row: Printed) => void
  onAnswer: (answer: Answer, document: DocumentRow) => void
}

const refreshMs = 5_000

/** One document, looked at closely: what it is, what it needs, what happened to it. */
export function DocumentPanel({ id, known, ids, onMove, onClose, ...deeds }: DocumentPanelProps) {
  const [last, setLast] = useState(id)
  // It stays while the panel slides away.
  if (id !== null && id !== last) setLast(id)
  const shown = id ?? last ?? ''
  const [tab, setTab] = useState('resumo')
  const wide = useMedia('(width >= 1280px)')
  const details = useRoute(getDocument, { params: { idDfe: shown } }, { refreshMs, enabled: id !== null })
  // The answer of the document before is not this one's.
  const detail = details.data?.documento.idDfe === shown ? details.data : undefined
  const row = detail?.documento ?? known.get(shown)
  const error = details.isPlaceholderData || detail ? null : details.error
  // Who leafs through documents has no form printed for each.
  const settled = useDebounced(shown, 250) === shown
  const at = ids.indexOf(shown)
  const [before, after] = at < 0 ? [] : [ids[at - 1], ids[at + 1]]
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.key === 'ArrowLeft' ? before : event.key === 'ArrowRight' ? after : undefined
    if (!target || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.target instanceof Element && event.target.closest('input, textarea, [role=menu], [data-own-keys]')) return
    event.preventDefault()
    onMove(target)
  }
  return (
    <SidePanel
      open={id !== null}
      onClose={onClose}
      title={detail?.nome ?? (row ? titleOf(row) : 'Documento')}
      onKeyDown={onKeyDown}
      returnTo={() => document.querySelector(`[data-document="${CSS.escape(shown)}"]`)}
      className={wide ? 'max-w-[min(82rem,94vw)]' : 'max-w-[min(38rem,100vw)]'}
      actions={
        at >= 0 && (
          <>
            <Step label="Documento anterior" hint="←" icon={<ChevronLeft aria-hidden />} to={before} onMove={onMove} />
            <Step label="Próximo documento" hint="→" icon={<ChevronRight aria-hidden />} to={after} onMove={onMove} />
          </>
        )
      }
    >
      {error ? (
        <Failure error={error} onRetry={() => void details.refetch()} />
      ) : (
        <div className="flex min-h-0 flex-1">
          <div className="min-h-0 min-w-0 flex-1 overflow-y-auto xl:max-w-[34rem]">
            <PanelHead row={row} detail={detail} wide={wide} {...deeds} />
            <Tabs
              label="Partes do documento"
              value={tab}
              onChange={setTab}
              tabs={[
                { value: 'resumo', label: 'Resumo', content: <PanelSummary row={row} detail={detail} /> },
                { value: 'itens', label: 'Itens', content: <PanelItems detail={detail} /> },
                { value: 'eventos', label: 'Eventos', content: <PanelEvents detail={detail} onView={deeds.onView} /> },
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

interface StepProps {
  label: string
  hint: string
  icon: ReactNode
  to: string | undefined
  onMove: (id: string) => void
}

function Step({ label, hint, icon, to, onMove }: StepProps) {
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={label}
      title={`${label} (${hint})`}
      aria-disabled={to === undefined || undefined}
      onClick={() => to !== undefined && onMove(to)}
    >
      <span className="[&_svg]:size-4">{icon}</span>
    </Button>
  )
}

function Failure({ error, onRetry }: { error: Error; onRetry: () => void }) {
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
