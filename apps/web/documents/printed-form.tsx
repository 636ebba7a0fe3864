import { CancelledError, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { printDocumentEvent } from '@vigia/contract/documents'
import { Download } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { DocumentRow } from '../lib/answers.ts'
import { ApiError, callBytes, errorMessage } from '../lib/api.ts'
import { fileName } from '../lib/format.ts'
import { notifyError } from '../lib/notify.ts'
import { saveFile } from '../lib/save-file.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Waiting } from '../ui/waiting.tsx'
import { type DocumentKind, kindOf, kinds } from './kinds.ts'

const loadPages = () => import('./pdf-pages.tsx')
const PdfPages = lazy(() => loadPages().then((module) => ({ default: module.PdfPages })))

/** A document to be seen on paper, or one of its events. */
export interface Printed extends DocumentRow {
  /** The list that it was looked at in; otherwise its chave says what it is. */
  list?: DocumentKind['type']
  event?: { id: string; name: string; undone: boolean }
}

/** The pages of a DANFE, a DACTE or an event, or why they cannot be shown. */
export function PrintedForm({ row }: { row: Printed }) {
  const pdf = useQuery(pdfOf(row))
  const [problem, setProblem] = useState<string>()
  useEffect(() => void loadPages().catch(() => undefined), [])
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

/** Saves the printed form as {title}.pdf; it is fetched when that is pressed, unless it is here. */
export function SavePdfButton({ row, children }: { row: Printed; children: string }) {
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      const fetch = () => client.fetchQuery(pdfOf(row))
      // Who closes the form that was loading gives up the sight of it, not the file.
      return fetch().catch((error) => (error instanceof CancelledError ? fetch() : Promise.reject(error)))
    },
    onSuccess: (pdf) => saveFile(pdf, `${fileName(titleOf(row))}.pdf`),
    onError: (error) => notifyError(failureOf(error)),
  })
  return (
    <Button variant="outline" size="sm" busy={save.isPending} onClick={() => save.mutate()}>
      <Download aria-hidden className="size-4" />
      {children}
    </Button>
  )
}

/** What a document is called where its printed form is shown and saved. */
export function titleOf(row: Printed): string {
  const document = `${kindOfPrinted(row).short} ${row.numero}`
  return row.event ? `${row.event.name} - ${document}` : `${document} - ${row.emitente}`
}

const kindOfPrinted = ({ list, chave }: Printed) => (list ? kinds[list] : kindOf(chave))

// Section 8 has words for a status and none for whatever else happens.
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
    // It changes with what is in the key, and with a logo, whose section forgets it; drawn again for nothing, it would lose the place of who
    // reads it.
    staleTime: 'static',
  })
}
