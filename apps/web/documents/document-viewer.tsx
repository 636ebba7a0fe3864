import { useQuery } from '@tanstack/react-query'
import type { DocumentRow } from '@vigia/contract/documents'
import { Download } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ApiError, callBytes, errorMessage } from '../lib/api.ts'
import { fileName } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { Waiting } from '../ui/waiting.tsx'
import type { DocumentKind } from './kinds.ts'

const loadPages = () => import('./pdf-pages.tsx')
const PdfPages = lazy(() => loadPages().then((module) => ({ default: module.PdfPages })))

interface DocumentViewerProps {
  kind: DocumentKind
  row: DocumentRow | undefined
  onClose: () => void
}

/** The printed form over the list. */
export function DocumentViewer({ kind, row, onClose }: DocumentViewerProps) {
  const [last, setLast] = useState(row)
  // The words stay while the dialog fades away.
  if (row && row !== last) setLast(row)
  const shown = row ?? last
  return (
    <Dialog
      open={row !== undefined}
      onClose={onClose}
      title={shown ? titleOf(kind, shown) : ''}
      actions={row && <DownloadButton kind={kind} row={row} />}
      className="h-full! max-w-260 max-sm:max-h-dvh! max-sm:w-full! max-sm:rounded-none!"
    >
      {row && <PrintedForm kind={kind} row={row} />}
    </Dialog>
  )
}

function PrintedForm({ kind, row }: { kind: DocumentKind; row: DocumentRow }) {
  const pdf = usePdf(kind, row)
  const [problem, setProblem] = useState<string>()
  useEffect(() => void loadPages().catch(() => undefined), [])
  if (pdf.error || problem) {
    const status = pdf.error instanceof ApiError ? pdf.error.status : 0
    return (
      <div className="p-5">
        <Notice
          tone="error"
          title={`Erro: ${status > 0 ? errorMessage(pdf.error) : 'Erro desconhecido'}`}
          action={
            <Button
              variant="outline"
              size="sm"
              onClick={() => {
                setProblem(undefined)
                void pdf.refetch()
              }}
            >
              Tentar novamente
            </Button>
          }
        >
          {problem ?? 'O documento continua guardado; só a impressão não pôde ser mostrada agora.'}
        </Notice>
      </div>
    )
  }
  const loading = <Waiting text="Carregando documento..." className="min-h-60 flex-1" />
  if (!pdf.data) return loading
  return (
    <Suspense fallback={loading}>
      <PdfPages file={pdf.data} loading={loading} onProblem={setProblem} />
    </Suspense>
  )
}

function DownloadButton({ kind, row }: { kind: DocumentKind; row: DocumentRow }) {
  const pdf = usePdf(kind, row)
  return (
    <Button
      variant="outline"
      size="sm"
      disabled={!pdf.data}
      onClick={() => pdf.data && save(pdf.data, `${fileName(titleOf(kind, row))}.pdf`)}
    >
      <Download aria-hidden className="size-4" />
      Download
    </Button>
  )
}

function usePdf(kind: DocumentKind, row: DocumentRow) {
  return useQuery({
    queryKey: [kind.print.path, row.idDfe],
    queryFn: ({ signal }) => callBytes(kind.print, { params: { idDfe: row.idDfe } }, { signal }),
    staleTime: 60_000,
  })
}

function titleOf(kind: DocumentKind, row: DocumentRow): string {
  return `${kind.short} ${row.numero} - ${row.emitente}`
}

function save(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
