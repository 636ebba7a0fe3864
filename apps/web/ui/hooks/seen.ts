import { type RefObject, useEffect, useState } from 'react'

/** Becomes true, and stays so, when a part of the element has been visible. */
export function useSeen(ref: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (!ref.current || seen) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true))
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [ref, seen])
  return seen
}
