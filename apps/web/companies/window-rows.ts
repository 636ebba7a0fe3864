import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useState } from 'react'

// Up to this number all rows are rendered, because the browser's search must find them.
const allUpTo = 100

// Measured heights by estimate: returning to the list restores its height and scroll position.
const measured = new Map<number, VirtualItem[]>()

/** Returns the rows to render of a long list, and the height of the others above and below. */
export function useWindowRows(list: RefObject<HTMLElement | null>, keys: readonly string[], estimatePx: number) {
  const enabled = keys.length > allUpTo
  const [scrollMargin, setScrollMargin] = useState(0)
  useLayoutEffect(() => {
    if (list.current) setScrollMargin(Math.round(list.current.getBoundingClientRect().top + window.scrollY))
  })
  const virtualizer = useWindowVirtualizer({
    enabled,
    count: keys.length,
    estimateSize: () => estimatePx,
    getItemKey: (index) => keys[index] ?? index,
    initialMeasurementsCache: measured.get(estimatePx),
    overscan: 12,
    scrollMargin,
    // Avoids a render during a render.
    useFlushSync: false,
  })
  useEffect(() => () => void measured.set(estimatePx, virtualizer.takeSnapshot()), [virtualizer, estimatePx])
  if (!enabled) return { partial: false, indexes: keys.map((_, index) => index), before: 0, after: 0 }
  const items = virtualizer.getVirtualItems()
  return {
    partial: true,
    indexes: items.map(({ index }) => index),
    before: (items[0]?.start ?? scrollMargin) - scrollMargin,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin),
    /** Ref that measures the height of a row marked `data-index`. */
    measure: virtualizer.measureElement,
  }
}
