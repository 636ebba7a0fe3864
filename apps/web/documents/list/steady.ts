import type { DocumentRow } from '@vigia/contract/documents'
import { type RefObject, useEffect, useMemo, useState } from 'react'

/** The used fields of a page of the list. */
interface ListPage {
  items: readonly DocumentRow[]
  totalDeItens?: number
  /** The total stays the same when documents come. */
  contadosDesde?: string
}

/** Counts documents of `next` missing in `shown` when the list has grown; 0: show it at once. */
export function countNews(shown: ListPage, next: ListPage, isFirst: boolean): number {
  // An empty list has no rows that could move.
  if (shown.items.length === 0) return 0
  const known = new Set(shown.items.map(({ idDfe }) => idDfe))
  const fresh = next.items.filter(({ idDfe }) => !known.has(idDfe)).length
  const [before, now] = [shown.totalDeItens, next.totalDeItens]
  const more = before !== undefined && now !== undefined && !next.contadosDesde ? now - before : fresh
  // New documents are on the first page; other pages show those that they pushed there.
  if (fresh === 0 || more <= 0) return 0
  return isFirst ? Math.max(fresh, more) : more
}

/** Rows in the order of `shown`, with the data of `next`. */
export function holdRows(shown: ListPage, next: ListPage): readonly DocumentRow[] {
  const latest = new Map(next.items.map((row) => [row.idDfe, row]))
  return shown.items.map((row) => latest.get(row.idDfe) ?? row)
}

interface Steadying {
  /** Key of the list; '' while the page still belongs to the previous query. */
  list: string
  /** When the page came. */
  updatedAt: number
  /** Time of the last request for the newest page. */
  askedAt: number
  isFirst: boolean
  /** Whether a person is about to use a row. */
  busy: boolean
}

/** The page to show: rows do not move while a person is busy; `waiting` documents need `show`. */
export function useSteadyPage<P extends ListPage>(page: P | undefined, steadying: Steadying) {
  const { list, updatedAt, askedAt, isFirst, busy } = steadying
  const [shown, setShown] = useState({ list, page, updatedAt })
  const mayHold = busy && shown.list === list && askedAt < shown.updatedAt
  const held = mayHold && page ? shown.page : undefined
  const waiting = held && page ? countNews(held, page, isFirst) : 0
  const isHeld = waiting > 0
  if (!isHeld && (shown.page !== page || shown.list !== list)) setShown({ list, page, updatedAt })
  const steady = useMemo(
    () => (isHeld && held && page ? { ...held, items: holdRows(held, page) } : page) as P | undefined,
    [isHeld, held, page],
  )
  return { page: steady, waiting, show: () => setShown({ list, page, updatedAt }) }
}

/** Whether the page is scrolled, or a mouse points at `region`. */
export function useHand(region: RefObject<HTMLElement | null>): boolean {
  const [scrolled, setScrolled] = useState(false)
  const [pointing, setPointing] = useState(false)
  useEffect(() => {
    const onScroll = () => setScrolled(window.scrollY > 0)
    onScroll()
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => window.removeEventListener('scroll', onScroll)
  }, [])
  useEffect(() => {
    const element = region.current
    const onPointer = ({ type, pointerType }: PointerEvent) =>
      setPointing(type === 'pointerenter' && pointerType === 'mouse')
    element?.addEventListener('pointerenter', onPointer)
    element?.addEventListener('pointerleave', onPointer)
    return () => {
      element?.removeEventListener('pointerenter', onPointer)
      element?.removeEventListener('pointerleave', onPointer)
    }
  }, [region])
  return scrolled || pointing
}
