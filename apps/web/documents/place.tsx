import { type ReactNode, useEffect, useState } from 'react'
import { Link, type To, useLocation, useNavigate, useSearchParams } from 'react-router'
import type { Printed } from './printed-form.tsx'

interface State {
  /** The printed form that is open. */
  viewing?: Printed
  /** Panels that were opened one from another, up to this one. */
  depth?: number
  /** What is being done with documents, by its number. */
  doing?: number
}

const name = 'documento'

/**
 * What is open over the list is part of the place: the panel is in the address, so that it can be shared, and the printed form is an entry
 * of the history. The back button of a phone closes either and nothing else.
 */
export function usePlace() {
  const state: State | null = useLocation().state
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const depth = state?.depth ?? 0
  const to = (id: string | null, from = params): To => {
    const next = new URLSearchParams(from)
    if (id === null) next.delete(name)
    else next.set(name, id)
    return { search: next.toString() }
  }
  return {
    /** Of the document whose panel is open. */
    opened: params.get(name),
    to,
    depth,
    open: (id: string) => void navigate(to(id, latest()), { state: { depth: depth + 1 } }),
    /** The next document takes the place of this one: going back leads to the list. */
    move: (id: string) => void navigate(to(id, latest()), { replace: true, state }),
    close: () => {
      if (depth > 0) void navigate(-depth)
      else void navigate(to(null, latest()), { replace: true })
    },
    viewing: state?.viewing,
    view: (row: Printed) => void navigate(here(), { state: { ...state, viewing: row } }),
    closeView: () => void navigate(-1),
  }
}

/**
 * What somebody is about to do with documents is an entry of the history too. The entry holds a number and the page what it stands for, so
 * that going forward brings back what was typed, and a reload asks nothing again.
 */
export function useDeed<T>(isSame: (one: T, other: T) => boolean) {
  const { state, key }: { state: State | null; key: string } = useLocation()
  const navigate = useNavigate()
  const [deed, setDeed] = useState<{ id: number; what: T }>()
  const [held, hold] = useState(false)
  const doing = state?.doing
  const isHere = deed !== undefined && deed.id === doing
  const isOver = doing !== undefined && !isHere
  const wasLeft = held && deed !== undefined && !isHere
  // Each entry is left once, and come back to once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is that of the entry.
  useEffect(() => {
    if (isOver) void navigate(-1)
  }, [isOver, key])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is that of the entry.
  useEffect(() => {
    if (wasLeft) void navigate(1)
  }, [wasLeft, key])
  return {
    deed: deed?.what,
    /** It stays known while going back has closed it. */
    open: isHere || held,
    start: (what: T) => {
      const again = deed && isSame(deed.what, what)
      const next = again ? deed : { id: Date.now(), what }
      setDeed(next)
      void navigate(here(), { state: { ...state, doing: next.id } })
    },
    finish: () => setDeed(undefined),
    /** While something is on its way going back closes nothing. */
    hold,
  }
}

// What was drawn may be older than the address.
const latest = () => new URLSearchParams(window.location.search)
const here = () => window.location.pathname + window.location.search

interface OpenLinkProps {
  id: string
  title?: string
  className?: string
  children: ReactNode
}

/** Leads to the panel of a document, over the list that is here. */
export function OpenLink({ id, ...rest }: OpenLinkProps) {
  const place = usePlace()
  return <Link to={place.to(id)} state={{ depth: place.depth + 1 }} data-document={id} {...rest} />
}
