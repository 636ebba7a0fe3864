import { clsx } from 'clsx'
import { CalendarDays } from 'lucide-react'
import type { ComponentProps } from 'react'
import { controlClass } from '../form/input.tsx'
import { lazyWithTrigger } from '../overlay/lazy-with-trigger.tsx'
import { type Period, writeDay } from './days.ts'

const PeriodChooser = lazyWithTrigger('dialog', () =>
  import('./period-chooser.tsx').then((module) => module.PeriodChooser),
)

interface DateRangePickerProps {
  id?: string
  /** Null means any day. */
  value: Period | null
  onChange: (value: Period | null) => void
}

/** dd/MM/yyyy – dd/MM/yyyy: by a shortcut, by typing, or on the calendar. */
export function DateRangePicker({ id, value, onChange }: DateRangePickerProps) {
  return <PeriodChooser trigger={<PeriodButton id={id} value={value} />} value={value} onChange={onChange} />
}

function PeriodButton({ value, ...rest }: Omit<ComponentProps<'button'>, 'value'> & { value: Period | null }) {
  return (
    <button
      {...rest}
      type="button"
      className={clsx(controlClass, 'flex items-center gap-2 whitespace-nowrap text-left tabular-nums')}
    >
      <CalendarDays aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="truncate">{value ? periodText(value) : 'Qualquer data'}</span>
    </button>
  )
}

function periodText({ from, to }: Period): string {
  return from === to ? writeDay(from) : `${writeDay(from)} – ${writeDay(to)}`
}
