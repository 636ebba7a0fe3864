import { useEffect, useState } from 'react'
import { parseAmount } from '../../lib/amount.ts'
import { Input } from '../../ui/form/input.tsx'
import type { Filters } from './filters.ts'

interface AmountRangeProps {
  id: string
  /** Decimal text; empty: any. */
  from: string
  to: string
  onChange: (part: Partial<Filters>) => void
}

/** A smallest and a largest amount; each applies with Enter or when its field is left. */
export function AmountRange({ id, from, to, onChange }: AmountRangeProps) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-muted text-xs">Valor</legend>
      <div className="grid grid-cols-2 gap-1">
        <AmountField
          id={`${id}-from`}
          label="Valor de"
          placeholder="de"
          value={from}
          onChange={(amountFrom) => onChange({ amountFrom })}
        />
        <AmountField
          id={`${id}-to`}
          label="Valor até"
          placeholder="até"
          value={to}
          onChange={(amountTo) => onChange({ amountTo })}
        />
      </div>
    </fieldset>
  )
}

interface AmountFieldProps {
  id: string
  label: string
  placeholder: string
  value: string
  onChange: (value: string) => void
}

function AmountField({ id, label, placeholder, value, onChange }: AmountFieldProps) {
  const written = value && Number(value).toLocaleString('pt-BR', { minimumFractionDigits: value.includes('.') ? 2 : 0 })
  const [text, setText] = useState(written)
  useEffect(() => setText(written), [written])
  const amount = text.trim() === '' ? '' : parseAmount(text)
  const apply = () => {
    if (amount !== null && amount !== value) onChange(amount)
  }
  return (
    <Input
      id={id}
      aria-label={label}
      inputMode="decimal"
      autoComplete="off"
      placeholder={placeholder}
      maxLength={24}
      value={text}
      aria-invalid={amount === null || undefined}
      title={amount === null ? 'Escreva um valor como 1.234,56.' : undefined}
      className="px-2 text-right tabular-nums"
      onChange={(event) => setText(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply()
      }}
    />
  )
}
