import { Progress as Radix } from 'radix-ui'

interface ProgressProps {
  label: string
  /** 0 to 100; null when the total is not known. */
  percent: number | null
}

export function Progress({ label, percent }: ProgressProps) {
  return (
    <Radix.Root
      value={percent}
      aria-label={label}
      className="relative h-2 w-full overflow-hidden rounded-full border border-line-strong/60 bg-sunken"
    >
      <Radix.Indicator
        className="h-full rounded-full bg-brand transition-[width] duration-180 data-[state=indeterminate]:animate-pulse data-[state=indeterminate]:opacity-40"
        style={{ width: `${percent ?? 100}%` }}
      />
    </Radix.Root>
  )
}
