import { Check } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

const itemClass =
  'flex h-8 cursor-default select-none items-center gap-2 rounded-control px-2 text-base outline-none data-highlighted:bg-sunken pointer-coarse:h-11'

interface MenuProps {
  trigger: ReactElement
  children: ReactNode
}

export function Menu({ trigger, children }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={6}
          className="data-[state=open]:fade-in data-[state=open]:slide-in-from-top-1 z-50 min-w-56 rounded bg-surface p-1 shadow-float duration-150 data-[state=open]:animate-in"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 pt-2 pb-1 text-muted text-xs">{children}</Radix.Label>
}

export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />
}

interface MenuChoiceProps<T extends string> {
  value: T
  onChange: (value: T) => void
  options: readonly { value: T; label: string; icon: ReactNode }[]
}

export function MenuChoice<T extends string>({ value, onChange, options }: MenuChoiceProps<T>) {
  return (
    <Radix.RadioGroup value={value}>
      {options.map((option) => (
        <Radix.RadioItem
          key={option.value}
          value={option.value}
          className={itemClass}
          onSelect={(event) => {
            event.preventDefault()
            onChange(option.value)
          }}
        >
          {option.icon}
          <span className="flex-1">{option.label}</span>
          <Radix.ItemIndicator>
            <Check aria-hidden className="size-4 text-brand" />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  )
}
