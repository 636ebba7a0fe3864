import { CheckCheck } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Button } from '../../ui/button.tsx'

interface CheckLookProps extends ComponentProps<typeof Button> {
  /** Without its word. */
  bare: boolean
}

/** Look of "Conferir", also while its code is loading, because no button may move then. */
export function CheckLook({ bare, ...button }: CheckLookProps) {
  return (
    <Button variant="outline" size="sm" title="Marcar a seleção como conferida" {...button}>
      <CheckCheck aria-hidden className="size-4" />
      <span className={bare ? 'sr-only' : undefined}>Conferir</span>
    </Button>
  )
}
