import { ChevronDown } from 'lucide-react'
import { useMemo, useState } from 'react'
import { hasWords } from '../../lib/matching.ts'
import { useCombobox } from '../hooks/combobox.ts'
import { Input } from './input.tsx'
import { ListOption, listClass } from './list-option.tsx'

interface SearchSelectProps {
  id: string
  /** The words of the empty value. */
  all: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onChange: (value: string) => void
}

// Limit of shown options; typing narrows them.
const shownMax = 50

/** A choice among so many that typing finds it sooner than scrolling. */
export function SearchSelect({ id, all, value, options, onChange }: SearchSelectProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const found = useMemo(() => find([['', all], ...options], typed ?? ''), [options, all, typed])
  const box = useCombobox(found, ([chosen]) => {
    setTyped(null)
    onChange(chosen)
  })
  const label = options.find(([one]) => one === value)?.[1] ?? all
  return (
    <div className="relative min-w-0">
      <Input
        id={id}
        role="combobox"
        aria-expanded={box.shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={box.current && `${id}-${box.current[0]}`}
        value={typed ?? label}
        title={label}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        className="truncate pr-8"
        onFocus={({ target }) => target.select()}
        onClick={box.show}
        onChange={({ target }) => {
          setTyped(target.value)
          box.show()
        }}
        onBlur={() => {
          setTyped(null)
          box.close()
        }}
        onKeyDown={(event) => {
          // Enter takes the first option found.
          const [first] = found
          if (event.key === 'Enter' && !box.current && typed && first) {
            event.preventDefault()
            box.choose(first)
          } else box.onKeyDown(event)
        }}
      />
      <ChevronDown aria-hidden className="pointer-events-none absolute inset-y-0 right-2.5 my-auto size-4 text-muted" />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Opções"
        hidden={!box.shown}
        className={`${listClass} max-h-80 overflow-y-auto`}
      >
        {box.shown &&
          found.map((option) => (
            <ListOption
              key={option[0]}
              id={`${id}-${option[0]}`}
              selected={option === box.current}
              onChoose={() => box.choose(option)}
            >
              <span className="min-w-0 break-words">{option[1]}</span>
            </ListOption>
          ))}
      </div>
      <p role="status" className="sr-only">
        {box.shown && typed !== null && `${found.length} ${found.length === 1 ? 'opção' : 'opções'}`}
      </p>
    </div>
  )
}

function find(options: SearchSelectProps['options'], typed: string): SearchSelectProps['options'] {
  return options.filter(([, label]) => hasWords(label, typed)).slice(0, shownMax)
}
