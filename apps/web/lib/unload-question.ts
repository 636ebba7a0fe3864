import { useEffect } from 'react'

/** Has the browser ask before the page is closed or loaded again, while `dirty`. */
export function useUnloadQuestion(dirty: boolean) {
  useEffect(() => {
    if (!dirty) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [dirty])
}
