import { markChecked } from '@vigia/contract/remarks'
import { notifySuccess } from '../../lib/notify.ts'
import { useAction } from '../../lib/query.ts'
import { CheckLook } from './check-look.tsx'

interface CheckButtonProps {
  /** Without its word. */
  bare: boolean
  ids: ReadonlySet<string>
  onDone: () => void
}

/** Marks the selected documents as checked. */
export function CheckButton({ bare, ids, onDone }: CheckButtonProps) {
  const action = useAction(markChecked, {
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onDone()
    },
  })
  return (
    <CheckLook
      bare={bare}
      busy={action.isPending}
      onClick={() => action.mutate({ body: { idsDFe: [...ids], conferida: true } })}
    />
  )
}
