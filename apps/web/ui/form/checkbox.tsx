import { clsx } from 'clsx'
import { Check, Minus } from 'lucide-react'
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'children'> {
  label: ReactNode
  /** Shows only the box, in a target large enough for a finger; the label is for screen readers. */
  bare?: boolean
  /** Only some of its items are selected. */
  partly?: boolean
}

/** The checkbox of the system in our colours. */
export function Checkbox({ label, bare = false, partly = false, className, ...rest }: CheckboxProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current) input.current.indeterminate = partly
  }, [partly])
  const mark = 'pointer-events-none relative hidden size-3 stroke-3 text-brand-ink'
  return (
    <label
      className={clsx(
        'cursor-pointer select-none items-center',
        bare
          ? 'inline-grid size-9 justify-items-center pointer-coarse:size-11'
          : 'flex min-h-7 gap-2.5 pointer-coarse:min-h-11',
        className,
      )}
    >
      <span className="relative inline-grid size-4 shrink-0 place-items-center">
        <input
          ref={input}
          type="checkbox"
          // Not as hidden text, because the row would contain its name twice.
          aria-label={bare && typeof label === 'string' ? label : undefined}
          className="peer absolute inset-0 m-0 size-full cursor-[inherit] appearance-none rounded-[4px] border border-line-strong bg-surface checked:border-brand checked:bg-brand indeterminate:border-brand indeterminate:bg-brand disabled:opacity-55"
          {...rest}
        />
        <Check aria-hidden className={clsx(mark, 'peer-checked:block')} />
        <Minus aria-hidden className={clsx(mark, 'peer-indeterminate:block')} />
      </span>
      {!bare && label}
    </label>
  )
}
