import { useId } from 'react'
import { Bar, BarChart, CartesianGrid, LabelList, Tooltip, XAxis, YAxis } from 'recharts'
import { Swatch } from './swatch.tsx'

export interface StackedRow {
  key: string
  /** Under the bar. */
  tick: string
  /** Title of the tooltip of the bar. */
  title: string
  /** Null for days to come. */
  values: readonly [first: number, second: number] | null
}

interface StackedBarsProps {
  /** For screen readers. */
  label: string
  names: readonly [first: string, second: string]
  rows: readonly StackedRow[]
  format: (value: number) => string
  onOpen: (key: string, series: 0 | 1) => void
}

/**
 * A bar of two stacked numbers per row, filled and hatched: distinct in greyscale. No animation;
 * arrow keys move between rows.
 */
export function StackedBars({ label, names, rows, format, onOpen }: StackedBarsProps) {
  const hatch = useId()
  const total = ({ values }: StackedRow) => (values ? values[0] + values[1] : 0)
  const highest = Math.max(...rows.map(total))
  // Only the first of equally high bars has a label: side by side the labels would overlap.
  const peak = rows.find((row) => highest > 0 && total(row) === highest)
  // The label belongs to the upper part of the bar; a part of zero is not rendered.
  const upper = peak?.values?.[1] === 0 ? 0 : 1
  const peakLabel = (series: 0 | 1) => (
    <LabelList
      position="top"
      valueAccessor={({ payload }) => (peak && payload?.key === peak.key && series === upper ? format(highest) : '')}
      className="fill-ink font-semibold text-xs tabular-nums"
    />
  )
  const open = (series: 0 | 1) => (bar: { payload?: StackedRow }) => bar.payload && onOpen(bar.payload.key, series)
  return (
    <BarChart
      data={[...rows]}
      responsive
      title={label}
      margin={{ top: 18, right: 0, bottom: 0, left: 0 }}
      barCategoryGap="18%"
      className="h-full w-full [&>svg]:rounded-control [&>svg]:focus-visible:outline-2"
    >
      <defs>
        <pattern id={hatch} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" className="fill-brand-soft" />
          <rect width="2" height="5" className="fill-brand" />
        </pattern>
      </defs>
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <XAxis
        dataKey="tick"
        tickLine={false}
        axisLine={{ stroke: 'var(--line-strong)' }}
        tick={tickLook}
        minTickGap={6}
        height={22}
      />
      <YAxis
        allowDecimals={false}
        tickLine={false}
        axisLine={false}
        tick={tickLook}
        tickFormatter={format}
        width="auto"
      />
      <Tooltip
        cursor={{ fill: 'var(--sunken)' }}
        isAnimationActive={false}
        content={({ active, payload }) => {
          const row: StackedRow | undefined = payload[0]?.payload
          return active && row?.values ? <Numbers row={row} names={names} format={format} /> : null
        }}
      />
      <Bar
        dataKey={(row: StackedRow) => row.values?.[0]}
        stackId="row"
        isAnimationActive={false}
        fill="var(--brand)"
        className="cursor-pointer"
        onClick={open(0)}
      >
        {peakLabel(0)}
      </Bar>
      <Bar
        dataKey={(row: StackedRow) => row.values?.[1]}
        stackId="row"
        isAnimationActive={false}
        fill={`url(#${hatch})`}
        stroke="var(--brand)"
        className="cursor-pointer"
        onClick={open(1)}
      >
        {peakLabel(1)}
      </Bar>
    </BarChart>
  )
}

const tickLook = { fill: 'var(--muted)', fontSize: 12 }

interface NumbersProps extends Pick<StackedBarsProps, 'names' | 'format'> {
  row: StackedRow
}

function Numbers({ row, names, format }: NumbersProps) {
  return (
    <div className="rounded-control bg-surface px-3 py-2 shadow-float">
      <p className="font-semibold">{row.title}</p>
      <ul className="tabular-nums">
        {names.map((name, index) => (
          <li key={name} className="flex items-center gap-2">
            <Swatch hatched={index === 1} />
            {format(row.values?.[index] ?? 0)} {name}
          </li>
        ))}
      </ul>
    </div>
  )
}
