import { Printer } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { usePrint } from './print.ts'

interface PrintButtonProps {
  documents: Parameters<ReturnType<typeof usePrint>['print']>[0]
  disabled?: boolean
  /** Only screen readers get the word. */
  bare?: boolean
}

/** Opens the print dialog of the browser with the printed forms of documents. */
export function PrintButton({ documents, disabled = false, bare = false }: PrintButtonProps) {
  const { print, busy } = usePrint()
  return (
    <Button
      variant="outline"
      size="sm"
      title={busy ? 'Preparando a impressão...' : bare ? 'Imprimir' : undefined}
      busy={busy}
      disabled={disabled}
      onClick={() => print(documents)}
    >
      {/* As wide while it is busy: a toolbar that wraps would move the list below it. */}
      {!busy && <Printer aria-hidden className="size-4" />}
      <span className={bare ? 'sr-only' : '@max-[420px]/list:sr-only'}>Imprimir</span>
    </Button>
  )
}
