import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type DateRange, DayPicker } from 'react-day-picker'
import { ptBR } from 'react-day-picker/locale/pt-BR'
import { buttonClass } from '../button.tsx'

interface CalendarProps {
  selected: DateRange | undefined
  onSelect: (range: DateRange | undefined) => void
}

const weekdays = ['dom', 'seg', 'ter', 'qua', 'qui', 'sex', 'sáb']
const stepClass = buttonClass({ variant: 'ghost', size: 'icon' })

/** A month for choosing a range of days; loaded on first use. */
export function Calendar({ selected, onSelect }: CalendarProps) {
  return (
    <DayPicker
      mode="range"
      locale={ptBR}
      selected={selected}
      onSelect={onSelect}
      defaultMonth={selected?.to ?? selected?.from}
      showOutsideDays
      fixedWeeks
      components={{ Chevron }}
      formatters={{ formatWeekdayName: (day) => weekdays[day.getDay()] ?? '' }}
      classNames={{
        root: 'relative',
        months: 'relative',
        month_caption: 'flex h-8 items-center justify-center pointer-coarse:h-10',
        caption_label: 'font-semibold first-letter:uppercase',
        nav: 'absolute inset-x-0 top-0 flex justify-between',
        button_previous: stepClass,
        button_next: stepClass,
        month_grid: 'mt-1 w-full border-collapse',
        weekday: 'h-8 w-[14.28%] p-0 text-center font-normal text-muted text-xs',
        day: 'h-9 p-0 pointer-coarse:h-11 text-center tabular-nums',
        day_button: 'h-full w-full rounded-control hover:bg-sunken',
        today: 'font-semibold text-brand',
        outside: 'text-muted',
        selected: '[&>button:hover]:bg-transparent',
        range_middle: 'bg-brand-soft text-ink',
        range_start: 'rounded-l-control bg-brand text-brand-ink',
        range_end: 'rounded-r-control bg-brand text-brand-ink',
      }}
    />
  )
}

function Chevron({ orientation }: { orientation?: 'up' | 'down' | 'left' | 'right' | undefined }) {
  const Icon = orientation === 'left' ? ChevronLeft : ChevronRight
  return <Icon aria-hidden className="size-4" />
}
