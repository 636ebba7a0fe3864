import { useCallback, useLayoutEffect, useRef } from 'react'

/** A handler that never changes and always does what the last drawing says: for memoised children. */
export function useStable<Arguments extends unknown[]>(handler: (...args: Arguments) => void) {
  const latest = useRef(handler)
  useLayoutEffect(() => {
    latest.current = handler
  })
  return useCallback((...args: Arguments) => latest.current(...args), [])
}
