import { useEffect } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'

/** Leads to the section that the address names, to its heading or its switch; again when `settled`, because what stands above it has loaded then. */
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
