import { clsx } from 'clsx'
import { Check, Minus } from 'lucide-react'
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'children'> {
  label: ReactNode
  /** The label is heard and not seen: the box stands alone in a target that is large enough for a finger. */
  bare?: boolean
  /** Some of what it stands for is chosen, and some is not. */
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
          // Not as hidden text: a row would read, and be found, with its name twice.
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
