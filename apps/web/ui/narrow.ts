import { type RefObject, useLayoutEffect, useState } from 'react'

/** Whether the element is narrower than `width` pixels, whatever the screen, the zoom or the side navigation make of it. */
export function useNarrow(ref: RefObject<HTMLElement | null>, width: number): boolean {
  const [narrow, setNarrow] = useState(() => window.innerWidth < width)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setNarrow(element.clientWidth < width)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref, width])
  return narrow
}
