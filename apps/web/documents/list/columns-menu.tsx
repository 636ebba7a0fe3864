import type { TriggerProps } from '../../ui/overlay/lazy-with-trigger.tsx'
import { Menu, MenuCheck, MenuLabel } from '../../ui/overlay/menu.tsx'
import type { Column, ColumnId } from './columns.ts'

interface ColumnsMenuProps extends TriggerProps {
  columns: readonly Column[]
  hidden: readonly ColumnId[]
  onChange: (id: ColumnId, shown: boolean) => void
}

export function ColumnsMenu({ trigger, columns, hidden, onChange }: ColumnsMenuProps) {
  return (
    <Menu inline trigger={trigger}>
      <MenuLabel>Colunas</MenuLabel>
      {columns.map(({ id, label }) => (
        <MenuCheck
          key={id}
          checked={!hidden.includes(id)}
          disabled={id === 'emitente'}
          onChange={(shown) => onChange(id, shown)}
        >
          {label}
        </MenuCheck>
      ))}
    </Menu>
  )
}
