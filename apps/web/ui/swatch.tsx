import { useId } from 'react'

/** The look of a series of `StackedBars`, beside its name. */
export function Swatch({ hatched }: { hatched: boolean }) {
  const id = useId()
  return (
    <svg aria-hidden="true" viewBox="0 0 12 12" className="size-3 shrink-0">
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="5" height="5" className="fill-brand-soft" />
        <rect width="2" height="5" className="fill-brand" />
      </pattern>
      <rect
        x="0.5"
        y="0.5"
        width="11"
        height="11"
        fill={hatched ? `url(#${id})` : 'var(--brand)'}
        stroke="var(--brand)"
      />
    </svg>
  )
}
