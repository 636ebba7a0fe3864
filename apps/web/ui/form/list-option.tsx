import { clsx } from 'clsx'
import { type ReactNode, useEffect, useRef } from 'react'

interface ListOptionProps {
  id: string
  selected: boolean
  /** The pointer came over it, or the keys. */
  onIntent?: () => void
  onChoose: () => void
  children: ReactNode
}

/** One option of the list below a field. */
export function ListOption({ id, selected, onIntent, onChoose, children }: ListOptionProps) {
  const option = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selected) option.current?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is another one at each render.
  useEffect(() => {
    if (selected) onIntent?.()
  }, [selected])
  return (
    // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field keeps the focus and has the keys.
    <div
      ref={option}
      id={id}
      role="option"
      aria-selected={selected}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onPointerEnter={onIntent}
      className={clsx(
        'flex min-h-8 cursor-pointer items-center gap-2 px-2.5 pointer-coarse:min-h-11',
        selected ? 'bg-brand-soft' : 'hover:bg-sunken',
      )}
    >
      {children}
    </div>
  )
}

export const listClass =
  'absolute inset-x-0 top-full z-30 mt-1 min-w-72 overflow-hidden rounded border border-line bg-surface py-1 shadow-float'
