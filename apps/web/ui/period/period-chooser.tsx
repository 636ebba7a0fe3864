import { clsx } from 'clsx'
import { cloneElement, Suspense, useState } from 'react'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { Button } from '../button.tsx'
import { Field } from '../form/field.tsx'
import { Input } from '../form/input.tsx'
import { useMedia } from '../hooks/narrow.ts'
import { Dialog } from '../overlay/dialog.tsx'
import type { TriggerProps } from '../overlay/lazy-with-trigger.tsx'
import { Popover } from '../overlay/popover.tsx'
import { fromDay, lastDays, monthPeriod, type Period, parseDay, toDay, writeDay } from './days.ts'

const Calendar = lazyWithPreload(() => import('./calendar.tsx').then((module) => module.Calendar))

interface PeriodChooserProps extends TriggerProps {
  value: Period | null
  onChange: (value: Period | null) => void
}

/** The lazy content of `DateRangePicker`. Covers the page on a phone, where no month fits. */
export function PeriodChooser({ trigger, value, onChange }: PeriodChooserProps) {
  const [open, setOpen] = useState(false)
  const small = useMedia('(width < 40rem)')
  const choose = (period: Period | null) => {
    onChange(period)
    setOpen(false)
  }
  const form = <RangeForm value={value} onChoose={choose} />
  if (small)
    return (
      <>
        {cloneElement(trigger, { 'aria-haspopup': 'dialog', 'aria-expanded': open, onClick: () => setOpen(true) })}
        <Dialog open={open} onClose={() => setOpen(false)} title="Período" className="max-w-md">
          <div className="overflow-y-auto px-5 py-4">{form}</div>
        </Dialog>
      </>
    )
  return (
    <Popover
      trigger={trigger}
      label="Período"
      open={open}
      onOpenChange={setOpen}
      className="max-h-(--radix-popover-content-available-height) overflow-y-auto p-3"
    >
      {form}
    </Popover>
  )
}

function RangeForm({ value, onChoose }: { value: Period | null; onChoose: (period: Period | null) => void }) {
  const today = new Date()
  const [from, setFrom] = useState(value ? writeDay(value.from) : '')
  const [to, setTo] = useState(value ? writeDay(value.to) : '')
  const [tried, setTried] = useState(false)
  const start = parseDay(from)
  const end = parseDay(to)
  const shortcuts: [string, Period | null][] = [
    ['Este mês', monthPeriod(today)],
    ['Mês passado', monthPeriod(today, -1)],
    ['Últimos 7 dias', lastDays(today, 6)],
    ['Últimos 90 dias', lastDays(today, 89)],
    ['Qualquer data', null],
  ]
  return (
    <div className="flex gap-4 max-sm:flex-col">
      <ul className="flex gap-1 max-sm:flex-wrap sm:w-36 sm:flex-col">
        {shortcuts.map(([label, period]) => (
          <li key={label}>
            <Button
              variant="ghost"
              size="sm"
              className={clsx('w-full justify-start!', same(period, value) && 'bg-brand-soft')}
              aria-pressed={same(period, value)}
              onClick={() => onChoose(period)}
            >
              {label}
            </Button>
          </li>
        ))}
      </ul>
      <form
        className="grid gap-3 sm:w-63"
        onSubmit={(event) => {
          event.preventDefault()
          // A form inside a form: the form around the picker must not be submitted.
          event.stopPropagation()
          setTried(true)
          if (start && end) onChoose(start <= end ? { from: start, to: end } : { from: end, to: start })
        }}
      >
        <div className="grid grid-cols-2 gap-2">
          <DayField label="De" value={from} onChange={setFrom} wrong={tried && !start} />
          <DayField label="Até" value={to} onChange={setTo} wrong={tried && !end} />
        </div>
        <Suspense fallback={<div className="h-71 pointer-coarse:h-85" />}>
          <Calendar
            selected={start ? { from: fromDay(start), to: end ? fromDay(end) : undefined } : undefined}
            onSelect={(range) => {
              setFrom(range?.from ? writeDay(toDay(range.from)) : '')
              setTo(range?.to ? writeDay(toDay(range.to)) : '')
            }}
          />
        </Suspense>
        <Button type="submit">Aplicar período</Button>
      </form>
    </div>
  )
}

interface DayFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  wrong: boolean
}

function DayField({ label, value, onChange, wrong }: DayFieldProps) {
  return (
    <Field label={label} error={wrong ? 'Use dd/mm/aaaa' : undefined}>
      {(control) => (
        <Input
          {...control}
          value={value}
          inputMode="numeric"
          placeholder="dd/mm/aaaa"
          className="tabular-nums"
          onChange={(event) => onChange(maskDay(event.target.value))}
        />
      )}
    </Field>
  )
}

function maskDay(text: string): string {
  if (!/^[\d/]*$/.test(text) || /^\d{4}-/.test(text)) return text
  const digits = text.replace(/\D/g, '').slice(0, 8)
  return [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4)].filter(Boolean).join('/')
}

function same(a: Period | null, b: Period | null): boolean {
  return a?.from === b?.from && a?.to === b?.to
}
