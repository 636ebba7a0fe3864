import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import { Fragment, type ReactElement, type ReactNode } from 'react'
import { Link } from 'react-router'

const itemClass =
  'flex h-8 cursor-default select-none items-center gap-2 rounded-control px-2 text-base outline-none data-highlighted:bg-sunken pointer-coarse:h-11'

interface MenuProps {
  trigger: ReactElement
  /** The edge that it shares with its trigger. */
  align?: 'start' | 'end'
  /**
   * Rendered beside its trigger, not in a portal, to stay in its landmark; no ancestor may clip it.
   */
  inline?: boolean
  children: ReactNode
}

export function Menu({ trigger, align = 'end', inline = false, children }: MenuProps) {
  const Place = inline ? Fragment : Radix.Portal
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Place>
        <Radix.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="data-[state=open]:fade-in data-[state=open]:slide-in-from-top-1 z-50 min-w-56 rounded bg-surface p-1 shadow-float duration-150 data-[state=open]:animate-in"
        >
          {children}
        </Radix.Content>
      </Place>
    </Radix.Root>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 pt-2 pb-1 text-muted text-xs">{children}</Radix.Label>
}

/** A line of explanation; the reason why an item is disabled is in its own `note`. */
export function MenuNote({ children }: { children: ReactNode }) {
  return <p className="max-w-72 px-2 py-1.5 text-muted text-sm">{children}</p>
}

interface MenuItemProps {
  onSelect: () => void
  note?: string | undefined
  disabled?: boolean
  children: ReactNode
}

export function MenuItem({ onSelect, note, disabled = false, children }: MenuItemProps) {
  return (
    <Radix.Item
      disabled={disabled}
      onSelect={onSelect}
      className={clsx(itemClass, note && 'h-auto! max-w-80 flex-col items-start! gap-0! py-1.5')}
    >
      <span className={clsx(disabled && 'text-muted')}>{children}</span>
      {note && <span className="text-muted text-sm">{note}</span>}
    </Radix.Item>
  )
}

interface MenuCheckProps {
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  children: ReactNode
}

/** An option of several that can be on together; the menu stays open. */
export function MenuCheck({ checked, onChange, disabled = false, children }: MenuCheckProps) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      disabled={disabled}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={clsx(itemClass, disabled && 'text-muted')}
    >
      <span className="flex-1">{children}</span>
      <Radix.ItemIndicator>
        <Check aria-hidden className="size-4 text-brand" />
      </Radix.ItemIndicator>
    </Radix.CheckboxItem>
  )
}

export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />
}

interface MenuLinkProps {
  to: string
  icon: ReactNode
  /** Small text after the label. */
  note?: ReactNode
  onIntent?: () => void
  children: ReactNode
}

export function MenuLink({ to, icon, note, onIntent, children }: MenuLinkProps) {
  return (
    <Radix.Item asChild className={itemClass} onFocus={onIntent}>
      <Link to={to}>
        {icon}
        <span className="flex-1">{children}</span>
        {note && <span className="pl-3 text-muted text-sm">{note}</span>}
      </Link>
    </Radix.Item>
  )
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
