import { markChecked } from '@vigia/contract/workspace'
import { CheckCheck } from 'lucide-react'
import { notifySuccess } from '../../lib/notify.ts'
import { useAction } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'

interface CheckButtonProps {
  /** Without its word. */
  bare: boolean
  ids: ReadonlySet<string>
  onDone: () => void
}

/** Marks the selected documents as checked. */
export function CheckButton({ bare, ids, onDone }: CheckButtonProps) {
  const may = useMay('fiscal')
  const action = useAction(markChecked, {
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onDone()
    },
  })
  if (!may) return null
  return (
    <Button
      variant="outline"
      size="sm"
      title="Marcar a seleção como conferida"
      busy={action.isPending}
      onClick={() => action.mutate({ body: { idsDFe: [...ids], conferida: true } })}
    >
      <CheckCheck aria-hidden className="size-4" />
      <span className={bare ? 'sr-only' : undefined}>Conferir</span>
    </Button>
  )
}
