import { useMutation } from '@tanstack/react-query'
import { listExports, printDocuments } from '@vigia/contract/document-files'
import { ApiError, type CallInput, call } from '../../lib/api.ts'
import { notifyError, notifyInfo, notifyWarning } from '../../lib/notify.ts'
import { accepted, actionFailure, dataOf, read } from '../../lib/query.ts'
import { useGone } from '../../ui/hooks/gone.ts'
import { startDownload } from '../../ui/save-file.ts'

type Body = CallInput<typeof printDocuments>['body']

interface PrintFile {
  address: string
  name: string
  /** Message about documents missing in the file. */
  problem: string | null
}

/** Prints documents as one PDF of the server with the browser's print dialog. */
export function usePrint(): { print: (documents: Body) => void; busy: boolean } {
  const isGone = useGone()
  const action = useMutation({
    mutationFn: prepare,
    onSuccess: ({ address, name, problem }) => {
      if (problem) notifyWarning('Nem tudo está na impressão', { description: problem })
      // Opens no print dialog after the person has left the screen.
      if (isGone())
        return notifyInfo('A impressão está pronta.', { description: 'O arquivo está no sino, por um dia.' })
      openPrintDialog(address, name)
    },
    onError: (error) => notifyError(actionFailure(error)),
  })
  return { print: action.mutate, busy: action.isPending }
}

const lookMs = 500

async function prepare(body: Body): Promise<PrintFile> {
  const { idExportacao, endereco, nome } = dataOf(accepted(await call(printDocuments, { body })))
  for (;;) {
    const item = (await read(listExports, {})).find(({ id }) => id === idExportacao)
    if (item?.situacao === 'pronta') return { address: endereco, name: nome, problem: item.problema }
    if (!item || item.situacao === 'falhou')
      throw new ApiError(item?.problema ?? 'A impressão não está mais no servidor. Peça de novo.', 409)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

const frameId = 'print-frame'

// Uses a frame, because only a displayed document can be printed. Without a PDF viewer it is saved.
function openPrintDialog(address: string, name: string) {
  if (!navigator.pdfViewerEnabled) {
    startDownload(address, name)
    notifyInfo('Este navegador não mostra PDF.', { description: `${name} foi baixado: abra o arquivo e imprima.` })
    return
  }
  document.getElementById(frameId)?.remove()
  const frame = document.createElement('iframe')
  frame.id = frameId
  frame.title = name
  frame.tabIndex = -1
  // A frame that is not displayed prints nothing.
  frame.className = 'pointer-events-none fixed bottom-0 left-0 size-px opacity-0'
  frame.addEventListener('load', () => {
    try {
      frame.contentWindow!.focus()
      frame.contentWindow!.print()
    } catch {
      // The viewer of this browser is out of reach for the page.
      if (!window.open(address, '_blank')) startDownload(address, name)
    }
  })
  frame.src = address
  document.body.append(frame)
}
