interface RankedBarsProps {
  /** For screen readers; the numbers are in a table below. */
  label: string
  rows: readonly { key: string; name: string; value: number; before: number; text: string }[]
  /** Name of the mark on a bar. */
  beforeName: string
  valueName: string
}

/** A bar per row with a mark for the earlier value. Decorative: the table has the same data. */
export function RankedBars({ label, rows, beforeName, valueName }: RankedBarsProps) {
  const highest = Math.max(1, ...rows.flatMap(({ value, before }) => [value, before]))
  const share = (value: number) => `${Math.max(0, Math.min(100, (value / highest) * 100))}%`
  return (
    <figure>
      <div role="img" aria-label={label} className="grid gap-1.5">
        {rows.map(({ key, name, value, before, text }) => (
          <div
            key={key}
            className="grid grid-cols-[minmax(0,14rem)_minmax(0,1fr)_7.5rem] items-center gap-x-3 text-sm max-sm:grid-cols-[minmax(0,1fr)_7.5rem]"
          >
            <span className="truncate">{name}</span>
            <svg className="h-4 w-full max-sm:order-last max-sm:col-span-2" role="presentation">
              <rect width={share(value)} height="100%" className="fill-brand" />
              {before > 0 && (
                <>
                  <line
                    x1={share(before)}
                    x2={share(before)}
                    y1="0"
                    y2="100%"
                    className="stroke-surface"
                    strokeWidth="5"
                  />
                  <line x1={share(before)} x2={share(before)} y1="0" y2="100%" className="stroke-ink" strokeWidth="2" />
                </>
              )}
            </svg>
            <span className="text-right tabular-nums">{text}</span>
          </div>
        ))}
      </div>
      <figcaption className="mt-2 flex gap-x-5 text-muted text-sm">
        <span className="flex items-center gap-2">
          <span aria-hidden className="size-3 bg-brand" />
          {valueName}
        </span>
        {rows.some(({ before }) => before > 0) && (
          <span className="flex items-center gap-2">
            <span aria-hidden className="h-3 w-0.5 bg-ink" />
            {beforeName}
          </span>
        )}
      </figcaption>
    </figure>
  )
}
