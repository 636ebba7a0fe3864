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
      title={bare ? 'Imprimir' : undefined}
      busy={busy}
      disabled={disabled}
      onClick={() => print(documents)}
    >
      <Printer aria-hidden className="size-4" />
      <span className={bare ? 'sr-only' : '@max-[420px]/list:sr-only'}>{busy ? 'Preparando...' : 'Imprimir'}</span>
    </Button>
  )
}
