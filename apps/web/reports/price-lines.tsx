import type { Prices } from '@vigia/contract/reports'
import { writeMonth } from '../ui/period/days.ts'
import { prices } from './report-table.tsx'

interface PriceLinesProps {
  /** The product first. */
  all: readonly Prices[]
  months: readonly string[]
}

const linesMax = 5
const width = 800
const height = 220
const edge = 12
// Distinct without colours.
const dashes = ['', '7 4', '2 4', '12 4 2 4', '4 2']

/** Prices as lines over the months, like the table below. Skips other units: not comparable. */
export function PriceLines({ all, months }: PriceLinesProps) {
  const shown = all.filter(({ unidade }) => unidade === all[0]?.unidade).slice(0, linesMax)
  const highest = Math.max(0, ...shown.flatMap(({ meses }) => meses.map(({ precoMedio }) => precoMedio ?? 0)))
  if (highest === 0) return null
  const x = (month: string) => edge + (months.indexOf(month) / Math.max(1, months.length - 1)) * (width - 2 * edge)
  const y = (price: number) => height - edge - (price / highest) * (height - 2 * edge)
  return (
    <figure className="ledger py-4">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={labelOf(shown)} className="h-auto w-full">
        {[0, 0.5, 1].map((part) => (
          <line
            key={part}
            x1={edge}
            x2={width - edge}
            y1={y(highest * part)}
            y2={y(highest * part)}
            className="stroke-line"
          />
        ))}
        {shown.map(({ id, meses }, index) => {
          const points = meses.flatMap(({ mes, precoMedio }) =>
            precoMedio === null ? [] : [[x(mes), y(precoMedio)] as const],
          )
          return (
            <g
              key={id}
              className={index === 0 ? 'stroke-brand' : 'stroke-muted'}
              fill="none"
              strokeWidth={index === 0 ? 3 : 2}
            >
              <polyline points={points.map((point) => point.join()).join(' ')} strokeDasharray={dashes[index]} />
              {points.map(([cx, cy]) => (
                <circle key={cx} cx={cx} cy={cy} r={index === 0 ? 4 : 3} className="fill-surface" />
              ))}
            </g>
          )
        })}
      </svg>
      <figcaption className="mt-1 flex flex-wrap justify-between gap-x-5 text-muted text-sm">
        <span>{writeMonth(months[0]!)}</span>
        <span>até {prices.format(highest)}</span>
        <span>{writeMonth(months.at(-1)!)}</span>
      </figcaption>
      <ul className="mt-2 flex flex-wrap gap-x-5 text-sm">
        {shown.map(({ id, fornecedor }, index) => (
          <li key={id} className="flex items-center gap-2">
            <svg aria-hidden className="h-3 w-8">
              <line
                x2="100%"
                y1="50%"
                y2="50%"
                strokeDasharray={dashes[index]}
                strokeWidth={index === 0 ? 3 : 2}
                className={index === 0 ? 'stroke-brand' : 'stroke-muted'}
              />
            </svg>
            <span className="max-w-72 truncate">{fornecedor}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}

function labelOf(shown: readonly Prices[]): string {
  const parts = shown.map(({ fornecedor, meses }) => {
    const known = meses.flatMap(({ precoMedio }) => precoMedio ?? [])
    return known.length > 0
      ? `${fornecedor} de ${prices.format(known[0]!)} a ${prices.format(known.at(-1)!)}`
      : fornecedor
  })
  return `Preço médio por mês: ${parts.join('; ')}. A tabela abaixo tem os mesmos números.`
}
