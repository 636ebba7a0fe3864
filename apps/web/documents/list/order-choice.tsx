import type { ListOrder } from '@vigia/contract/documents'
import { Select } from '../../ui/form/select.tsx'
import type { Filters } from './filters.ts'

const labels: Record<ListOrder, [descending: string, ascending: string]> = {
  data: ['Emissão mais nova', 'Emissão mais antiga'],
  valor: ['Maior valor', 'Menor valor'],
  chegada: ['Chegada mais nova', 'Chegada mais antiga'],
  prazo: ['Prazo mais distante', 'Prazo que vence antes'],
  emitente: ['Emitente de Z a A', 'Emitente de A a Z'],
}

interface OrderChoiceProps {
  id: string
  filters: Filters
  onChange: (part: Partial<Filters>) => void
}

/** The order of the list, also by columns whose headers are not there. */
export function OrderChoice({ id, filters, onChange }: OrderChoiceProps) {
  return (
    <Select
      id={id}
      aria-label="Ordem"
      value={`${filters.order}-${filters.ascending ? 1 : 0}`}
      onChange={(event) => {
        const [order, ascending] = event.target.value.split('-')
        onChange({ order: order as ListOrder, ascending: ascending === '1' })
      }}
    >
      {Object.entries(labels).flatMap(([order, texts]) =>
        texts.map((text, ascending) => (
          <option key={text} value={`${order}-${ascending}`}>
            {text}
          </option>
        )),
      )}
    </Select>
  )
}
