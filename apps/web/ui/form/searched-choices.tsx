import { Search } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { Checkbox } from './checkbox.tsx'
import { Input } from './input.tsx'

export interface SearchedChoicesProps<T> {
  legend: string
  /** The words of the box in which people search. */
  search: string
  items: readonly T[]
  idOf: (item: T) => string
  labelOf: (item: T) => ReactNode
  matches: (item: T, typed: string) => boolean
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
  /** Text for an empty list, and for no match. */
  none: string
  nothing: string
}

// Limit of shown options; typing narrows them.
const shownMax = 50

/** Multiple choice from many items, found by typing. */
export function SearchedChoices<T>({
  legend,
  search,
  items,
  idOf,
  labelOf,
  matches,
  chosen,
  onChange,
  none,
  nothing,
}: SearchedChoicesProps<T>) {
  const [typed, setTyped] = useState('')
  const listId = useId()
  const found = items.filter((item) => matches(item, typed))
  const rest = found.length - shownMax
  return (
    <div className="grid gap-2">
      <div className="relative">
        <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
        <Input
          type="search"
          aria-label={search}
          placeholder={search}
          aria-controls={listId}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={typed}
          className="pl-8.5"
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={(event) => {
            // It would send the form.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
      </div>
      <fieldset id={listId} className="max-h-48 overflow-y-auto rounded-control border border-line px-3 py-1.5">
        <legend className="sr-only">{legend}</legend>
        {found.slice(0, shownMax).map((item) => {
          const id = idOf(item)
          return (
            <Checkbox
              key={id}
              label={<span className="min-w-0 break-words">{labelOf(item)}</span>}
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
          )
        })}
        {found.length === 0 && <p className="py-1 text-muted">{items.length === 0 ? none : nothing}</p>}
        {rest > 0 && <p className="py-1 text-muted">E mais {rest}: busque pelo nome.</p>}
      </fieldset>
    </div>
  )
}
