import type { exportDocuments } from '@vigia/contract/document-files'
import type { DocumentRow } from '@vigia/contract/documents'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { AnswerType } from '../lib/answer-types.ts'
import type { CallInput } from '../lib/api.ts'
import { type DocumentKind, kindOf } from '../lib/kinds.ts'
import { lazyWithPreload } from '../lib/lazy.ts'
import type { usePlace, useTask } from './place.tsx'

// None of these is needed to show the list.
const DocumentPanel = lazyWithPreload(() => import('./panel/document-panel.tsx').then((module) => module.DocumentPanel))
const DocumentViewer = lazyWithPreload(() =>
  import('./printed/document-viewer.tsx').then((module) => module.DocumentViewer),
)
const ManifestationDialog = lazyWithPreload(() =>
  import('./manifestation/manifestation-dialog.tsx').then((module) => module.ManifestationDialog),
)
const ExportDialog = lazyWithPreload(() => import('./list/export-dialog.tsx').then((module) => module.ExportDialog))

/** Loads the code of the panel ahead of time. */
export function preloadPanel() {
  void DocumentPanel.preload()
}

/** The task that a person has started with documents. */
type OverlayTask =
  | { does: 'answer'; answer: AnswerType; kind: DocumentKind; ids: readonly string[] }
  | { does: 'export' }

/** Whether both are the same answer for the same documents. */
export function isSameTask(one: OverlayTask, other: OverlayTask): boolean {
  return nameOf(one) === nameOf(other)
}

function nameOf(task: OverlayTask): string {
  return task.does === 'answer' ? [task.kind.type, task.answer.code, ...task.ids].join(' ') : task.does
}

interface OverlaysProps {
  kind: DocumentKind
  place: ReturnType<typeof usePlace>
  rows: readonly DocumentRow[] | undefined
  filter: CallInput<typeof exportDocuments>['body']['filtro']
  /** Null: not known. */
  filterCount: number
  selected: ReadonlySet<string>
  tasks: ReturnType<typeof useTask<OverlayTask>>
  onSent: (ids: string[]) => void
  onSelectAgain: (ids: string[]) => void
}

/** Everything that opens over the list; the code is loaded when it is first needed. */
export function Overlays({ kind, place, rows, selected, tasks, onSent, onSelectAgain, ...filter }: OverlaysProps) {
  const known = useKnownRows(rows)
  const panelNeeded = useOnce(place.opened !== null)
  const viewerNeeded = useOnce(place.viewing !== undefined)
  const { task, open, finish } = tasks
  // Each has its own Suspense: loading one must not hide another that is open.
  return (
    <>
      <Suspense fallback={null}>
        {panelNeeded && (
          <DocumentPanel
            id={place.opened}
            known={known}
            ids={rows?.map(({ idDfe }) => idDfe) ?? []}
            onStep={place.step}
            onClose={place.close}
            onView={place.view}
            onAnswer={(answer, document) => {
              known.set(document.idDfe, document)
              tasks.start({ does: 'answer', answer, kind: kindOf(document.chave), ids: [document.idDfe] })
            }}
          />
        )}
      </Suspense>
      <Suspense fallback={null}>
        {viewerNeeded && <DocumentViewer row={place.viewing} onClose={place.closeView} />}
      </Suspense>
      <Suspense fallback={null}>
        {task?.does === 'answer' && (
          <ManifestationDialog
            key={nameOf(task)}
            {...task}
            open={open}
            known={known}
            onSent={onSent}
            onSelectAgain={onSelectAgain}
            onHold={tasks.hold}
            onClose={finish}
          />
        )}
        {task?.does === 'export' && open && (
          <ExportDialog kind={kind} selected={[...selected]} {...filter} onClose={finish} />
        )}
      </Suspense>
    </>
  )
}

// Names of selected documents of other pages come from rows that were on the screen.
function useKnownRows(rows: readonly DocumentRow[] | undefined): Map<string, DocumentRow> {
  const known = useRef(new Map<string, DocumentRow>())
  useEffect(() => {
    for (const row of rows ?? []) known.current.set(row.idDfe, row)
  }, [rows])
  return known.current
}

function useOnce(when: boolean): boolean {
  const [once, setOnce] = useState(when)
  if (when && !once) setOnce(true)
  return once || when
}
