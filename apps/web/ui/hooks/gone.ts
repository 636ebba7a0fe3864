import { useEffect, useRef } from 'react'

/** Whether the person left before an action ended: the result then needs a toast. */
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
