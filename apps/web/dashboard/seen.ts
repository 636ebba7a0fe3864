import { useState } from 'react'
import { currentSession } from '../lib/session.ts'

const key = 'vigia.seen'

/** How many of each news of this month a person has put away in this browser, by the address that shows them. */
type Seen = Record<string, number>

/** What was put away in this month, and how to put more away; it comes back when there is more of it. */
export function useSeen(month: string): [seen: Seen, putAway: (address: string, count: number) => void] {
  // Of another workspace or month nothing counts.
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
