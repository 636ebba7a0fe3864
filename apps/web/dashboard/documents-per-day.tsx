import { formatCount, formatDate, formatInteger, formatWeekday } from '@vigia/contract/text'
import type { Dashboard } from '@vigia/contract/workspace'
import { clsx } from 'clsx'
import { ChartColumn, Table } from 'lucide-react'
import { Suspense, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useNavigate } from 'react-router'
import { lazyWithPreload } from '../lib/lazy.ts'
import { Button } from '../ui/button.tsx'
import { useSeen } from '../ui/hooks/seen.ts'
import { fromDay, monthPeriod } from '../ui/period/days.ts'
import type { StackedRow } from '../ui/stacked-bars.tsx'
import { Swatch } from '../ui/swatch.tsx'

type DayCounts = NonNullable<Dashboard['documentosPorDia']>[number]

const StackedBars = lazyWithPreload(() => import('../ui/stacked-bars.tsx').then((module) => module.StackedBars))
const seriesNames = ['Notas Fiscais', 'CTe'] as const
const listPaths = ['/notas-fiscais', '/cte'] as const

/** The month day by day, as a chart or as a table of the same numbers. */
export function DocumentsPerDay({ days }: { days: readonly DayCounts[] | undefined }) {
  const heading = useId()
  const frame = useRef<HTMLDivElement>(null)
  const seen = useSeen(frame)
  const [asTable, setAsTable] = useState(false)
  const printing = usePrinting()
  const Icon = asTable ? ChartColumn : Table
  const empty = days?.every((day) => day.qtdNfe + day.qtdCte === 0) ?? false
  // The code of a chart that was never visible is not loaded: on paper its place would be empty.
  const inNumbers = asTable || (printing && !seen && !empty)
  return (
    <section aria-labelledby={heading}>
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-x-4 pb-2">
        <h2 id={heading} className="text-lg">
          Documentos por Dia
        </h2>
        {days && !empty && (
          <Button variant="ghost" size="sm" className="-mr-2.5" onClick={() => setAsTable(!asTable)}>
            <Icon aria-hidden className="size-4" />
            {asTable ? 'Ver gráfico' : 'Ver tabela'}
          </Button>
        )}
      </div>
      <div ref={frame} className="ledger pt-2.5">
        {inNumbers && days ? (
          <DaysTable days={days} />
        ) : (
          <figure>
            <figcaption className="flex min-h-5 flex-wrap gap-x-5 text-muted text-sm">
              {!empty &&
                seriesNames.map((name, index) => (
                  <span key={name} className="flex items-center gap-2">
                    <Swatch hatched={index === 1} />
                    {name}
                  </span>
                ))}
              <span className="ml-auto">por data de emissão</span>
            </figcaption>
            <div className={clsx('mt-1 h-55', (empty || !days) && 'border-line border-b')}>
              {empty ? (
                <p className="py-2 text-muted">
                  Nenhum documento emitido neste mês chegou até agora. O que chegar aparece aqui no dia da emissão.
                </p>
              ) : (
                days &&
                seen && (
                  <Suspense fallback={null}>
                    <MonthChart days={days} />
                  </Suspense>
                )
              )}
            </div>
          </figure>
        )}
      </div>
    </section>
  )
}

function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false)
  useEffect(() => {
    // The page is printed as it is when the event handler returns.
    const tell = ({ type }: Event) => flushSync(() => setPrinting(type === 'beforeprint'))
    addEventListener('beforeprint', tell)
    addEventListener('afterprint', tell)
    return () => {
      removeEventListener('beforeprint', tell)
      removeEventListener('afterprint', tell)
    }
  }, [])
  return printing
}

function MonthChart({ days }: { days: readonly DayCounts[] }) {
  const navigate = useNavigate()
  return (
    <StackedBars
      label={chartLabel(days)}
      names={seriesNames}
      rows={wholeMonth(days)}
      format={formatInteger}
      onOpen={(day, series) => void navigate(listOf(day, series))}
    />
  )
}

function DaysTable({ days }: { days: readonly DayCounts[] }) {
  return (
    <table className="w-full text-right tabular-nums [&_td]:h-8 [&_th]:h-8 [&_th]:font-semibold">
      <caption className="sr-only">Documentos por dia de emissão</caption>
      <thead>
        <tr className="border-line border-b text-muted text-sm">
          <th scope="col" className="text-left">
            Dia
          </th>
          <th scope="col">Notas Fiscais</th>
          <th scope="col">CTe</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map(({ dia, qtdNfe, qtdCte }) => (
          <tr key={dia} className="border-line border-b">
            <th scope="row" className="text-left">
              {formatDate(dia)}
            </th>
            {[qtdNfe, qtdCte].map((count, index) => (
              <td key={seriesNames[index]}>
                {count === 0 ? (
                  0
                ) : (
                  <Link to={listOf(dia, index === 0 ? 0 : 1)} className="underline underline-offset-3 hover:text-brand">
                    {formatInteger(count)}
                  </Link>
                )}
              </td>
            ))}
            <td className="font-semibold">{formatInteger(qtdNfe + qtdCte)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function listOf(day: string, series: 0 | 1): string {
  return `${listPaths[series]}?de=${day}&ate=${day}`
}

// Includes future days, because the chart must have the same shape all month.
function wholeMonth(days: readonly DayCounts[]): StackedRow[] {
  const known = new Map(days.map((day) => [day.dia, day]))
  const first = days[0]?.dia
  if (!first) return []
  const last = Number(monthPeriod(fromDay(first)).to.slice(8))
  return Array.from({ length: last }, (_, index) => {
    const key = `${first.slice(0, 8)}${String(index + 1).padStart(2, '0')}`
    const day = known.get(key)
    return {
      key,
      tick: String(index + 1),
      title: formatWeekday(fromDay(key)),
      values: day ? [day.qtdNfe, day.qtdCte] : null,
    }
  })
}

function chartLabel(days: readonly DayCounts[]): string {
  const sum = (pick: (day: DayCounts) => number) => days.reduce((total, day) => total + pick(day), 0)
  const nfe = formatCount(
    sum((day) => day.qtdNfe),
    'nota fiscal',
    'notas fiscais',
  )
  return `Documentos por dia: ${nfe} e ${formatInteger(sum((day) => day.qtdCte))} CTe neste mês. As setas do teclado percorrem os dias; “Ver tabela” mostra os mesmos números.`
}
