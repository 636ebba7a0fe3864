import { countOutsidePeriod } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import { findKey } from '@vigia/dfe/families/lookup'
import { Fragment } from 'react'
import type { DocumentKind } from '../../lib/kinds.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { type Period, writeMonth } from '../../ui/period/days.ts'
import { type Filters, toFilter } from './filters.ts'
import { foundText } from './found.ts'
import { inlineButtonClass } from './whole-filter.tsx'

interface OutsidePeriodProps {
  kind: DocumentKind
  filters: Filters
  onChange: (part: Partial<Filters>) => void
}

// The others are one click away.
const monthsShown = 3

/** Matches of a search outside the period, counted by month, each with a link. */
export function OutsidePeriod({ kind, filters, onChange }: OutsidePeriodProps) {
  const searched = Boolean(filters.search || filters.amountFrom || filters.amountTo)
  const enabled = searched && filters.period !== null && findKey(filters.search) === null
  const { data, isPlaceholderData } = useScreenQuery(
    countOutsidePeriod,
    { query: toFilter(filters, kind) },
    { enabled },
  )
  if (!enabled || !data || isPlaceholderData || data.totalDeItens === 0) return null
  const months = data.meses.slice(0, monthsShown)
  const rest = data.totalDeItens - months.reduce((sum, { totalDeItens }) => sum + totalDeItens, 0)
  return (
    <p role="status" className="mt-1 text-muted first-letter:uppercase">
      {foundText(data, kind)} fora do período:{' '}
      {months.map(({ mes, totalDeItens }, index) => (
        <Fragment key={mes}>
          {index > 0 && ', '}
          <button type="button" className={inlineButtonClass} onClick={() => onChange({ period: monthOf(mes) })}>
            {formatInteger(totalDeItens)} em {writeMonth(mes)}
          </button>
        </Fragment>
      ))}
      {rest > 0 && ` e ${formatInteger(rest)} em outros meses`}
      {'. '}
      <button type="button" className={inlineButtonClass} onClick={() => onChange({ period: null })}>
        Ver em qualquer data
      </button>
    </p>
  )
}

function monthOf(month: string): Period {
  const last = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
  return { from: `${month}-01`, to: `${month}-${last}` }
}
