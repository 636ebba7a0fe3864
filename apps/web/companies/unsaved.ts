import { useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { notifyInfo } from '../lib/notify.ts'
import { useUnloadQuestion } from '../lib/unload-question.ts'

/** For links that leave the page deliberately, without a question about unsaved changes. */
export const decided = { 'data-decided': true }

/**
 * Asks before unsaved changes are lost: when a link of the application is followed, unless it is one of those, and when the page is closed. A toast says when changes were discarded. `wanted` is where the person wants to go, until that is decided.
 */
export function useUnsaved(dirty: boolean, saving: boolean) {
  const navigate = useNavigate()
  const [wanted, setWanted] = useState<string | null>(null)
  useUnloadQuestion(dirty)
  useEffect(() => {
    if (!dirty) return
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null
      const leads = link?.origin === location.origin && link.pathname !== location.pathname && !link.download
      const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
      if (!leads || elsewhere || 'decided' in link.dataset || (link.target && link.target !== '_self')) return
      event.preventDefault()
      event.stopPropagation()
      setWanted(link.pathname + link.search + link.hash)
    }
    // Before the router sees it.
    document.addEventListener('click', onClick, { capture: true })
    return () => document.removeEventListener('click', onClick, { capture: true })
  }, [dirty])
  // Changes on their way to the server are not lost.
  const loses = useRef(false)
  useEffect(() => {
    loses.current = dirty && !saving
  }, [dirty, saving])
  useEffect(
    () => () => {
      if (loses.current) notifyInfo('Alterações não salvas foram descartadas.')
    },
    [],
  )
  return {
    wanted,
    stay: () => setWanted(null),
    leave: () => wanted !== null && void navigate(wanted),
  }
}
