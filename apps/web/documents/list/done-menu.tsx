import { markChecked, markDone } from '@vigia/contract/remarks'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifySuccess } from '../../lib/notify.ts'
import { useAction } from '../../lib/query.ts'
import type { TriggerProps } from '../../ui/overlay/lazy-with-trigger.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/overlay/menu.tsx'

export interface DoneMenuProps extends TriggerProps {
  kind: DocumentKind
  ids: ReadonlySet<string>
  onDone: () => void
}

/** Marks the selected documents as done elsewhere, or removes the marks. */
export function DoneMenu({ kind: { ending }, ids, onDone, ...menu }: DoneMenuProps) {
  const onSuccess = ({ message }: { message: string }) => {
    notifySuccess(message)
    onDone()
  }
  const done = useAction(markDone, { onSuccess })
  const checked = useAction(markChecked, { onSuccess })
  const idsDFe = [...ids]
  const mark = (marca: 'lancada' | 'entregue', marcada: boolean) => done.mutate({ body: { idsDFe, marca, marcada } })
  return (
    <Menu {...menu}>
      <MenuItem onSelect={() => mark('lancada', true)}>Marcar como lançad{ending}s</MenuItem>
      <MenuItem onSelect={() => mark('entregue', true)}>Marcar como entregues</MenuItem>
      <MenuLine />
      <MenuItem onSelect={() => checked.mutate({ body: { idsDFe, conferida: false } })}>
        Tirar a marca de conferid{ending}s
      </MenuItem>
      <MenuItem onSelect={() => mark('lancada', false)}>Tirar a marca de lançad{ending}s</MenuItem>
      <MenuItem onSelect={() => mark('entregue', false)}>Tirar a marca de entregues</MenuItem>
    </Menu>
  )
}
