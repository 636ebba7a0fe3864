import { Labelled } from '../form/labelled.tsx'
import { Select } from '../form/select.tsx'
import { writeMonth } from './days.ts'
import { monthChoices, withEnd } from './months.ts'

interface MonthSelectsProps {
  /** Prefix of both ids. */
  id: string
  from: string
  to: string
  /** The longest period. */
  max: number
  onChange: (period: { from: string; to: string }) => void
}

/** The first and the last month of a period. */
export function MonthSelects({ id, max, onChange, ...period }: MonthSelectsProps) {
  const months = monthChoices(new Date())
  const ends = [
    ['from', 'De'],
    ['to', 'Até'],
  ] as const
  return ends.map(([end, label]) => (
    <Labelled key={end} id={`${id}-${end}`} label={label}>
      <Select
        id={`${id}-${end}`}
        value={period[end]}
        onChange={({ target }) => onChange(withEnd(period, end, target.value, max))}
      >
        {[...new Set([...months, period[end]])]
          .sort()
          .reverse()
          .map((month) => (
            <option key={month} value={month}>
              {writeMonth(month)}
            </option>
          ))}
      </Select>
    </Labelled>
  ))
}
