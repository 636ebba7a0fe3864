import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { isOutdated } from '../lib/offline.ts'
import { queryClient } from '../lib/query.ts'
import { isCovered } from '../ui/overlay/covered.ts'

// By then the screen has said what it says at once.
const settledMs = 300

/**
 * A newer version comes when somebody goes to another screen: what was typed on the one before has been sent or left, and nothing is typed on
 * the next one yet. It waits for the next time while something is on its way or open, is being read, or was handed from screen to screen.
 */
export function useNewVersion() {
  const { pathname, state } = useLocation()
  const last = useRef(pathname)
  const isHanded = state !== null
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    if (!isOutdated() || isHanded) return
    const timer = setTimeout(() => {
      const isTyping = document.activeElement?.matches('input, textarea, select')
      const isTold = document.querySelector('[data-sonner-toast]') !== null
      if (queryClient.isMutating() === 0 && !isCovered() && !isTyping && !isTold) location.reload()
    }, settledMs)
    return () => clearTimeout(timer)
  }, [pathname, isHanded])
}
