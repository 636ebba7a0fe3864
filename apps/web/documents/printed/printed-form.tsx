import { CancelledError, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { printDocumentEvent } from '@vigia/contract/document-files'
import type { DocumentRow } from '@vigia/contract/documents'
import { Download } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { ApiError, callBytes, errorMessage } from '../../lib/api.ts'
import { type DocumentKind, documentKinds, kindOf } from '../../lib/kinds.ts'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { notifyError } from '../../lib/notify.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { fileName, saveFile } from '../../ui/save-file.ts'
import { Waiting } from '../../ui/waiting.tsx'

const PdfPages = lazyWithPreload(() => import('./pdf-pages.tsx').then((module) => module.PdfPages))

/** A document, or one of its events, whose printed form is shown. */
export interface Printed extends DocumentRow {
  /** The list that it was opened from; without it the chave decides the kind. */
  list?: DocumentKind['type']
  event?: { id: string; name: string; undone: boolean }
}

/** The pages of a DANFE, a DACTE or an event, or why they cannot be shown. */
export function PrintedForm({ row }: { row: Printed }) {
  const pdf = useQuery(pdfOf(row))
  const [problem, setProblem] = useState<string>()
  useEffect(() => void PdfPages.preload(), [])
  if (pdf.error || problem) {
    return (
      <div className="p-5">
        <Notice
          tone="error"
          title={failureOf(pdf.error)}
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
      <PdfPages key={`${row.idDfe} ${row.event?.id}`} file={pdf.data} loading={loading} onProblem={setProblem} />
    </Suspense>
  )
}

/** Saves the printed form as {title}.pdf; fetches it on press unless it is loaded. */
export function SavePdfButton({ row, children }: { row: Printed; children: string }) {
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      const fetch = () => client.fetchQuery(pdfOf(row))
      // Closing the form cancels its query, but the download continues.
      return fetch().catch((error) => (error instanceof CancelledError ? fetch() : Promise.reject(error)))
    },
    onSuccess: (pdf) => saveFile(pdf, `${fileName(printedTitle(row))}.pdf`),
    onError: (error) => notifyError(failureOf(error)),
  })
  return (
    <Button variant="outline" size="sm" busy={save.isPending} onClick={() => save.mutate()}>
      <Download aria-hidden className="size-4" />
      {children}
    </Button>
  )
}

/** Title and file name of a printed form. */
export function printedTitle(row: Printed): string {
  const document = `${kindOfPrinted(row).short} ${row.numero}`
  return row.event ? `${row.event.name} - ${document}` : `${document} - ${row.emitente}`
}

const kindOfPrinted = ({ list, chave }: Printed) => (list ? documentKinds[list] : kindOf(chave))

// Section 8 defines the text for a status, and none for other errors.
function failureOf(error: Error | null): string {
  return `Erro: ${error instanceof ApiError && error.status > 0 ? errorMessage(error) : 'Erro desconhecido'}`
}

function pdfOf(row: Printed) {
  const { print } = kindOfPrinted(row)
  const { idDfe, event } = row
  return queryOptions({
    queryKey: [print.path, idDfe, row.status.codigoEvento, event?.id, event?.undone],
    queryFn: ({ signal }) =>
      event
        ? callBytes(printDocumentEvent, { params: { idDfe, idEvento: event.id } }, { signal })
        : callBytes(print, { params: { idDfe } }, { signal }),
    // The form changes only with its key, and with a logo, whose section removes the query. Another
    // render would lose the scroll position.
    staleTime: 'static',
  })
}
