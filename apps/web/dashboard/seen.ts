import { useState } from 'react'
import { currentSession } from '../lib/session.ts'

const key = 'vigia.seen'

/** Dismissed count of each news of this month in this browser, by the address of its list. */
type Seen = Record<string, number>

/** News dismissed this month, and a setter to dismiss more; they return when their count grows. */
export function useSeen(month: string): [seen: Seen, putAway: (address: string, count: number) => void] {
  // Entries of another workspace or month do not count.
  const owner = `${currentSession()?.wsId} ${month}`
  const [seen, setSeen] = useState(() => readSeen(owner))
  return [
    seen,
    (address, count) => {
      const next = { ...readSeen(owner), [address]: count }
      setSeen(next)
      localStorage.setItem(key, JSON.stringify({ owner, seen: next }))
    },
  ]
}

function readSeen(owner: string): Seen {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null')
    return kept?.owner === owner ? { ...kept.seen } : {}
  } catch {
    return {}
  }
}
