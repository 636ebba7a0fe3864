import { type ReactNode, useEffect, useState } from 'react'
import { Link, type To, useLocation, useNavigate, useSearchParams } from 'react-router'
import type { Printed } from './printed/printed-form.tsx'

interface HistoryState {
  /** The printed form that is open. */
  viewing?: Printed
  /** Number of panels that were opened one from another, up to this one. */
  depth?: number
  /** Id of the task that is open. */
  doing?: number
}

const panelParameter = 'documento'

/**
 * Overlays are part of the browser history: the panel is in the address and can be shared, the
 * printed form is a history entry. The back button of a phone closes one at a time.
 */
export function usePlace() {
  const state: HistoryState | null = useLocation().state
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const depth = state?.depth ?? 0
  const to = (id: string | null, from = params): To => {
    const next = new URLSearchParams(from)
    if (id === null) next.delete(panelParameter)
    else next.set(panelParameter, id)
    return { search: next.toString() }
  }
  const move = (id: string) => void navigate(to(id, latest()), { replace: true, state })
  return {
    /** Id of the document whose panel is open. */
    opened: params.get(panelParameter),
    to,
    depth,
    open: (id: string) => void navigate(to(id, latest()), { state: { depth: depth + 1 } }),
    /** Replaces the history entry: going back leads to the list. */
    move,
    /** Moves to a neighbour of the document in the address, which may be newer than the screen. */
    step: (ids: readonly string[], by: -1 | 1) => {
      const at = ids.indexOf(latest().get(panelParameter) ?? '')
      const id = at < 0 ? undefined : ids[at + by]
      if (id !== undefined) move(id)
    },
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
 * A task with documents is a history entry with only its id; the page keeps the task. Going forward
 * restores typed text, and a reload does not repeat the task.
 */
export function useTask<T>(isSame: (one: T, other: T) => boolean) {
  const { state, key }: { state: HistoryState | null; key: string } = useLocation()
  const navigate = useNavigate()
  const [task, setTask] = useState<{ id: number; what: T }>()
  const [held, hold] = useState(false)
  const doing = state?.doing
  const isHere = task !== undefined && task.id === doing
  const isOver = doing !== undefined && !isHere
  const wasLeft = held && task !== undefined && !isHere
  // Goes back from an entry whose task is over, and forward again to one whose task is held.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is that of the entry.
  useEffect(() => {
    if (isOver) void navigate(-1)
  }, [isOver, key])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is that of the entry.
  useEffect(() => {
    if (wasLeft) void navigate(1)
  }, [wasLeft, key])
  return {
    task: task?.what,
    /** False after going back has closed it; the task is still kept. */
    open: isHere || held,
    start: (what: T) => {
      const again = task && isSame(task.what, what)
      const next = again ? task : { id: Date.now(), what }
      setTask(next)
      void navigate(here(), { state: { ...state, doing: next.id } })
    },
    finish: () => setTask(undefined),
    /** While a request is running, going back does not close it. */
    hold,
  }
}

// The rendered state may be older than the address.
const latest = () => new URLSearchParams(window.location.search)
const here = () => window.location.pathname + window.location.search

interface OpenLinkProps {
  id: string
  title?: string
  className?: string
  children: ReactNode
}

/** A link to the panel of a document, over the current list. */
export function OpenLink({ id, ...rest }: OpenLinkProps) {
  const place = usePlace()
  return <Link to={place.to(id)} state={{ depth: place.depth + 1 }} data-document={id} {...rest} />
}
