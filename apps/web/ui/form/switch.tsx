import { Switch as Radix } from 'radix-ui'
import { type ReactNode, type Ref, useId } from 'react'

interface SwitchProps {
  label: ReactNode
  /** Meaning of on and off, in one line. */
  help: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  name?: string
  ref?: Ref<HTMLButtonElement>
}

/** On or off, with its label beside it, which can be pressed too. */
export function Switch({ label, help, checked, onChange, name, ref }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex gap-3">
      <Radix.Root
        id={id}
        ref={ref}
        checked={checked}
        onCheckedChange={onChange}
        data-name={name}
        aria-describedby={`${id}-help`}
        className="group relative h-6 w-10 shrink-0 rounded-full border border-line-strong bg-sunken transition-colors duration-150 disabled:cursor-not-allowed disabled:opacity-55 data-[state=checked]:border-brand data-[state=checked]:bg-brand"
      >
        <Radix.Thumb className="block size-4 translate-x-1 rounded-full bg-line-strong transition-transform duration-150 data-[state=checked]:translate-x-4.5 data-[state=checked]:bg-brand-ink" />
      </Radix.Root>
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="font-semibold leading-6">
          {label}
        </label>
        <p id={`${id}-help`} className="text-muted">
          {help}
        </p>
      </div>
    </div>
  )
}
