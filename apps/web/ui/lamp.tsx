import { clsx } from 'clsx'

export type LampState = 'steady' | 'waiting' | 'blocked' | 'stopped' | 'unlit'

/**
 * Lamp with a shape per state, amber if it needs attention. The caller writes the text beside it.
 */
export function Lamp({ state, className }: { state: LampState; className?: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" data-lamp={state} className={clsx('size-4 shrink-0', className)}>
      {state === 'steady' && (
        <>
          <circle cx="8" cy="8" r="7" className="fill-success/30" />
          <circle cx="8" cy="8" r="4.25" className="fill-success" />
        </>
      )}
      {state === 'waiting' && <circle cx="8" cy="8" r="4.25" className="fill-success" />}
      {state === 'blocked' && (
        <>
          <circle cx="8" cy="8" r="5.25" className="fill-transparent stroke-lamp-rim" strokeWidth="1.5" />
          <path d="M8 2.75a5.25 5.25 0 0 1 0 10.5z" className="fill-lamp" />
        </>
      )}
      {state === 'unlit' && (
        <circle
          cx="8"
          cy="8"
          r="5.25"
          className="fill-transparent stroke-muted"
          strokeWidth="1.5"
          strokeDasharray="2.75 2.75"
        />
      )}
      {state === 'stopped' && (
        <>
          <circle cx="8" cy="8" r="5.25" className="fill-transparent stroke-error" strokeWidth="1.5" />
          <path d="m6 6 4 4m0-4-4 4" className="stroke-error" strokeWidth="1.5" strokeLinecap="round" />
        </>
      )}
    </svg>
  )
}
