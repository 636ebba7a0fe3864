import type { exportDocuments } from '@vigia/contract/documents'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { DocumentRow } from '../lib/answers.ts'
import type { CallInput } from '../lib/api.ts'
import type { Answer } from './answers.ts'
import { type DocumentKind, kindOf } from './kinds.ts'
import type { useDeed, usePlace } from './place.tsx'

// None of these is needed to read the list.
const loadPanel = () => import('./document-panel.tsx')
const DocumentPanel = lazy(() => loadPanel().then((module) => ({ default: module.DocumentPanel })))
const DocumentViewer = lazy(() =>
  import('./document-viewer.tsx').then((module) => ({ default: module.DocumentViewer })),
)
const ManifestationDialog = lazy(() =>
  import('./manifestation-dialog.tsx').then((module) => ({ default: module.ManifestationDialog })),
)
const ExportDialog = lazy(() => import('./export-dialog.tsx').then((module) => ({ default: module.ExportDialog })))

/** Fetches the code of the panel before somebody opens it. */
export function preloadPanel() {
  loadPanel().catch(() => undefined)
}

/** What somebody is about to do with documents. */
export type Deed = { does: 'answer'; answer: Answer; kind: DocumentKind; ids: readonly string[] } | { does: 'export' }

/** Whether both say the same of the same documents. */
export function isSameDeed(one: Deed, other: Deed): boolean {
  return nameOf(one) === nameOf(other)
}

function nameOf(deed: Deed): string {
  return deed.does === 'answer' ? [deed.kind.type, deed.answer.code, ...deed.ids].join(' ') : deed.does
}

interface OverlaysProps {
  kind: DocumentKind
  place: ReturnType<typeof usePlace>
  rows: readonly DocumentRow[] | undefined
  filter: CallInput<typeof exportDocuments>['body']['filtro']
  /** Null: nobody told. */
  filterCount: number | null
  selected: ReadonlySet<string>
  deeds: ReturnType<typeof useDeed<Deed>>
  onSent: (ids: string[]) => void
}

/** Whatever opens over the list; its code comes when it is first needed. */
export function Overlays({ kind, place, rows, selected, deeds, onSent, ...filter }: OverlaysProps) {
  const known = useKnownRows(rows)
  const panelNeeded = useOnce(place.opened !== null)
  const viewerNeeded = useOnce(place.viewing !== undefined)
  const { deed, open, finish } = deeds
  // Each waits for its own code: what is open already must not vanish meanwhile.
  return (
    <>
      <Suspense fallback={null}>
        {panelNeeded && (
          <DocumentPanel
            id={place.opened}
            known={known}
            ids={rows?.map(({ idDfe }) => idDfe) ?? []}
            onMove={place.move}
            onClose={place.close}
            onView={place.view}
            onAnswer={(answer, document) => {
              known.set(document.idDfe, document)
              deeds.start({ does: 'answer', answer, kind: kindOf(document.chave), ids: [document.idDfe] })
            }}
          />
        )}
      </Suspense>
      <Suspense fallback={null}>
        {viewerNeeded && <DocumentViewer row={place.viewing} onClose={place.closeView} />}
      </Suspense>
      <Suspense fallback={null}>
        {deed?.does === 'answer' && (
          <ManifestationDialog
            key={nameOf(deed)}
            {...deed}
            open={open}
            known={known}
            onSent={onSent}
            onHold={deeds.hold}
            onClose={finish}
          />
        )}
        {deed?.does === 'export' && open && (
          <ExportDialog kind={kind} selected={[...selected]} {...filter} onClose={finish} />
        )}
      </Suspense>
    </>
  )
}

// A selection outlives its page: the rows that were seen give its documents their names.
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
