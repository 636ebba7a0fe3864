import type { DocumentRow } from '@vigia/contract/documents'
import { useEffect, useRef, useState } from 'react'

const none: ReadonlySet<string> = new Set()

/** Ids of `rows` that arrived while `list` was on the screen; `list` is '' before there is one. */
export function useArrivals(list: string, rows: readonly DocumentRow[] | undefined): ReadonlySet<string> {
  const seen = useRef<{ list: string; ids: Set<string> }>(undefined)
  const [arrived, setArrived] = useState(none)
  useEffect(() => {
    if (!rows || list === '') return
    const ids = rows.map((row) => row.idDfe)
    const known = seen.current
    if (known?.list !== list) {
      seen.current = { list, ids: new Set(ids) }
      setArrived(none)
      return
    }
    const fresh = ids.filter((id) => !known.ids.has(id))
    if (fresh.length === 0) return
    for (const id of fresh) known.ids.add(id)
    setArrived(new Set(fresh))
  }, [list, rows])
  return arrived
}
