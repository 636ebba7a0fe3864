import { useEffect, useRef } from 'react'

/** Asks whether what began something is no longer on the screen when that ends: who can see no result there is told otherwise. */
export function useGone(): () => boolean {
  const gone = useRef(false)
  useEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
    }
  }, [])
  return () => gone.current
}
