import { Field } from './field.tsx'
import { SearchedChoices, type SearchedChoicesProps } from './searched-choices.tsx'
import { Select } from './select.tsx'

/** The items to choose from, and the texts. */
export interface Offered<Item> extends Omit<SearchedChoicesProps<Item>, 'chosen' | 'onChange'> {
  /** "De quais empresas" */
  label: string
  /** "Todas, também as que vierem depois" */
  all: string
  /** "Só as que eu escolher" */
  some: string
  /** "2 empresas escolhidas" */
  count: (chosen: number) => string
}

interface AllOrChosenProps<Item> {
  offered: Offered<Item>
  /** Null: all. */
  chosen: readonly string[] | null
  onChange: (chosen: readonly string[] | null) => void
  error: string | undefined
  /** Without "all". */
  onlyChosen?: boolean
}

/** Choice of all items or of several. */
export function AllOrChosen<Item>({ offered, chosen, onChange, error, onlyChosen = false }: AllOrChosenProps<Item>) {
  const { label, all, some, count, ...choices } = offered
  return (
    <>
      <Field label={label} error={error}>
        {(control) => (
          <Select
            {...control}
            value={chosen === null ? 'todas' : 'escolhidas'}
            onChange={({ target }) => onChange(target.value === 'todas' ? null : [])}
          >
            {!onlyChosen && <option value="todas">{all}</option>}
            <option value="escolhidas">{some}</option>
          </Select>
        )}
      </Field>
      {chosen && (
        <>
          <SearchedChoices {...choices} chosen={chosen} onChange={onChange} />
          <p role="status" className="text-muted text-sm">
            {count(chosen.length)}
          </p>
        </>
      )}
    </>
  )
}
