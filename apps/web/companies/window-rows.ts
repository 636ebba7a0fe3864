import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useState } from 'react'

// Up to here all rows are in the page, where the browser's own search finds them.
const allUpTo = 100

/** Which rows of a long list are in the page as it is scrolled, and the room that the others take above and below. */
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
    overscan: 12,
    scrollMargin,
    // React would be asked to render while it renders.
    useFlushSync: false,
  })
  if (!enabled) return { partial: false, indexes: keys.map((_, index) => index), before: 0, after: 0 }
  const items = virtualizer.getVirtualItems()
  return {
    partial: true,
    indexes: items.map(({ index }) => index),
    before: (items[0]?.start ?? scrollMargin) - scrollMargin,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin),
    /** Takes the true height of a row marked `data-index`. */
    measure: virtualizer.measureElement,
  }
}
