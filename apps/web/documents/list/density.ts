import { useState } from 'react'

const key = 'vigia.density'

/** Whether the rows of the lists are low in this browser, and how to change that. */
export function useDensity(): [compact: boolean, change: (compact: boolean) => void] {
  const [compact, setCompact] = useState(() => localStorage.getItem(key) === 'compact')
  return [
    compact,
    (next) => {
      setCompact(next)
      localStorage.setItem(key, next ? 'compact' : 'comfortable')
    },
  ]
}
