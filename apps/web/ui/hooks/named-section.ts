import { useEffect } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'

/** Scrolls to the section in the address; again when `settled`, after content above has loaded. */
export function useNamedSection(settled: boolean) {
  const { hash, key } = useLocation()
  const returned = useNavigationType() === NavigationType.Pop && key !== 'default'
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address asked for again leads there again.
  useEffect(() => {
    const section = returned || !hash ? null : document.getElementById(hash.slice(1))
    if (!section) return
    section.scrollIntoView()
    section.querySelector<HTMLElement>('h2, [role=switch]')?.focus({ preventScroll: true })
  }, [hash, key, returned, settled])
}
