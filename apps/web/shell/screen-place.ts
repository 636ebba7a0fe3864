import { useEffect, useLayoutEffect, useRef } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'
import { contactHash } from '../lib/contact.ts'

const placesKey = 'vigia.places'
const placesMax = 50
const restoreMaxMs = 5_000

/** A new screen starts at the top with the focus; going back restores the scroll position. */
export function useScreenPlace() {
  const main = useRef<HTMLElement>(null)
  const { pathname, hash, key } = useLocation()
  const returned = useNavigationType() === NavigationType.Pop
  const shown = useRef(pathname)
  useScrollMemory(key, returned)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    // The screen itself scrolls to a part that the address names.
    if (hash && hash !== contactHash) return
    if (!returned) window.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [pathname, hash, returned])
  return main
}

// The browser restores the position before the content is rendered again.
function useScrollMemory(key: string, returned: boolean) {
  const places = useRef<Map<string, number>>(undefined)
  useEffect(() => {
    history.scrollRestoration = 'manual'
    const keep = () => writePlaces(places.current ?? new Map())
    window.addEventListener('pagehide', keep)
    return () => {
      history.scrollRestoration = 'auto'
      window.removeEventListener('pagehide', keep)
    }
  }, [])
  useLayoutEffect(() => {
    places.current ??= readPlaces()
    const known = places.current
    const place = returned ? known.get(key) : undefined
    const way = place === undefined ? null : returnTo(place)
    const remember = () => {
      if (way?.ended() === false) return
      known.delete(key)
      known.set(key, Math.round(window.scrollY))
    }
    window.addEventListener('scroll', remember, { passive: true })
    return () => {
      window.removeEventListener('scroll', remember)
      way?.end()
    }
  }, [key, returned])
}

// Tries until the screen is as high as it was, or until the person scrolls.
function returnTo(place: number) {
  const chosen = new AbortController()
  const { signal } = chosen
  const end = () => chosen.abort()
  const go = () => {
    window.scrollTo(0, place)
    if (Math.abs(window.scrollY - place) < 2) end()
  }
  const observer = new ResizeObserver(go)
  const timer = setTimeout(end, restoreMaxMs)
  signal.addEventListener('abort', () => {
    observer.disconnect()
    clearTimeout(timer)
  })
  for (const event of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    window.addEventListener(event, end, { signal, passive: true })
  observer.observe(document.body)
  return { end, ended: () => signal.aborted }
}

function readPlaces(): Map<string, number> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(placesKey) ?? '[]'))
  } catch {
    return new Map()
  }
}

function writePlaces(places: Map<string, number>) {
  sessionStorage.setItem(placesKey, JSON.stringify([...places].slice(-placesMax)))
}
