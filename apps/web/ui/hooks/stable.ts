import { useCallback, useLayoutEffect, useRef } from 'react'

/** A handler with constant identity that calls the latest `handler`, for memoised children. */
export function useStable<Arguments extends unknown[]>(handler: (...args: Arguments) => void) {
  const latest = useRef(handler)
  useLayoutEffect(() => {
    latest.current = handler
  })
  return useCallback((...args: Arguments) => latest.current(...args), [])
}
