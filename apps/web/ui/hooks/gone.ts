import { useEffect, useRef } from 'react'

/** Tells whether the component was unmounted before its action ended: then the result is shown as a toast. */
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
