import type { Query } from '@tanstack/react-query'
import { listDocuments } from '@vigia/contract/documents'
import { ApiError } from './api.ts'
import { queryClient } from './query.ts'
import { currentSession, listsKey, ownerOf, readOwned } from './session.ts'

const keptMaxMs = 7 * 24 * 3_600_000
// Parameters of a list without search and filters except its period.
const usual: ReadonlySet<string> = new Set(['TipoDFe', 'DataDe', 'DataAte', 'PaginaAtual'])
// No response, or the status of a proxy without one.
const noResponse = new Set([0, 502, 503, 504])

interface KeptList {
  /** The question, as text. */
  input: string
  data: unknown
  /** Milliseconds since the epoch. */
  at: number
}

/**
 * Keeps the last first page of each list, for a list without response. Only in an installed
 * application, because a shared browser must keep no documents.
 */
export function keepLastLists(): void {
  // A response that comes after another person has signed in is not theirs.
  const askedBy = new WeakMap<Query, string | undefined>()
  queryClient.getQueryCache().subscribe((event) => {
    const { query } = event
    if (query.queryKey[0] !== listDocuments.path) return
    if (event.type === 'added' && !navigator.onLine) give(query)
    if (event.type !== 'updated') return
    const { type } = event.action
    if (type === 'fetch') askedBy.set(query, currentSession()?.token)
    if (type === 'success' && askedBy.get(query) === currentSession()?.token) keep(query)
    if (type === 'error' && event.action.error instanceof ApiError && noResponse.has(event.action.error.status))
      give(query)
  })
}

function keep(query: Query) {
  const session = currentSession()
  const place = placeOf(query)
  if (!session || !place) return
  const list: KeptList = { input: place.input, data: query.state.data, at: query.state.dataUpdatedAt }
  const lists = { ...readLists(), [place.kind]: list }
  localStorage.setItem(listsKey, JSON.stringify({ owner: ownerOf(session), lists }))
}

function give(query: Query) {
  const place = placeOf(query)
  const list = place && readLists()[place.kind]
  if (!list || list.input !== place.input || query.state.data !== undefined) return
  if (!(Date.now() - list.at < keptMaxMs)) return localStorage.removeItem(listsKey)
  query.setState({ data: list.data, dataUpdatedAt: list.at })
}

function readLists(): Partial<Record<string, KeptList>> {
  const kept = readOwned(localStorage, listsKey)
  return kept && kept.owner === ownerOf(currentSession()) && typeof kept.lists === 'object' ? { ...kept.lists } : {}
}

// Null: no list that is kept.
function placeOf({ queryKey }: Query): { kind: string; input: string } | null {
  const { query = {} } = queryKey[1] as { query?: Record<string, unknown> }
  const said = Object.entries(query).filter(([, value]) => value !== undefined)
  if (query.PaginaAtual !== 1 || said.some(([name]) => !usual.has(name))) return null
  return { kind: String(query.TipoDFe), input: JSON.stringify(query) }
}
