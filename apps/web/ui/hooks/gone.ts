import { useEffect, useRef } from 'react'

/** Tells whether the person left before the action of the component ended: then the result is shown as a toast. */
export function useGone(): () => boolean {
  const gone = useRef(false)
  const path = useRef('')
  useEffect(() => {
    gone.current = false
    path.current = window.location.pathname
    return () => {
      gone.current = true
    }
  }, [])
  // The address is of the next screen already while its code is being fetched.
  return () => gone.current || window.location.pathname !== path.current
}
