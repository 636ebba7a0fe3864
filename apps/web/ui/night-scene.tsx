import { clsx } from 'clsx'
import { useId } from 'react'

// Widths of the reflection, top down: short and bright near the house, then long and faint.
const reflection = [34, 52, 26, 70, 44, 88, 58, 30, 104, 66, 124, 48, 90, 140, 72]

interface NightSceneProps {
  /** Sets `--horizon`, the top of the sea, and `--house`, the width of the house. */
  className: string
  houseClassName: string
}

/** A watch-house on a dark sea; its light lies on the water as the bars of a key. */
export function NightScene({ className, houseClassName }: NightSceneProps) {
  const glow = useId()
  return (
    <div
      aria-hidden
      className={clsx(
        'absolute inset-0 overflow-hidden bg-linear-to-b from-[oklch(0.17_0.034_252)] to-[oklch(0.285_0.052_240)]',
        className,
      )}
    >
      <div className="absolute inset-x-0 top-(--horizon) bottom-0 border-[oklch(0.42_0.05_238)] border-t bg-linear-to-b from-[oklch(0.215_0.042_243)] to-[oklch(0.15_0.03_252)]" />
      <svg
        viewBox="0 0 400 640"
        aria-hidden="true"
        className={clsx('absolute top-[calc(var(--horizon)-var(--house)*0.75)] w-(--house)', houseClassName)}
      >
        <defs>
          <radialGradient id={glow}>
            <stop offset="0" stopColor="oklch(0.84 0.14 78)" stopOpacity="0.5" />
            <stop offset="0.35" stopColor="oklch(0.8 0.15 75)" stopOpacity="0.13" />
            <stop offset="1" stopColor="oklch(0.8 0.15 75)" stopOpacity="0" />
          </radialGradient>
        </defs>
        <circle cx="200" cy="226" r="200" fill={`url(#${glow})`} />
        <path d="M140 300c16-10 36-15 60-15s44 5 60 15z" fill="oklch(0.13 0.025 252)" />
        <path d="M200 176 162 205v85h76v-85z" fill="oklch(0.93 0.012 235)" />
        <path d="M200 176v114h38v-85z" fill="oklch(0.82 0.02 238)" />
        <circle cx="200" cy="229" r="15" fill="oklch(0.82 0.15 76)" />
        <path d="M180 258h40M180 273h27" stroke="oklch(0.255 0.045 246)" strokeWidth="6" />
        <g fill="oklch(0.82 0.14 76)">
          {reflection.map((width, index) => {
            const y = 309 + index * 11 + index * index * 0.5
            return (
              <rect
                key={y}
                x={200 - width / 2 + (index % 2 ? 5 : -4)}
                y={y}
                width={width}
                height={2 + index * 0.22}
                rx="1"
                opacity={0.8 - index * 0.047}
              />
            )
          })}
        </g>
      </svg>
    </div>
  )
}
