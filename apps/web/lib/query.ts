import {
  keepPreviousData,
  type Query,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { Envelope, RouteData, RouteDefinition } from '@vigia/contract/route'
import { useEffect, useRef } from 'react'
import { ApiError, type CallInput, call, errorMessage, isRetryable } from './api.ts'
import { notifyError, retract } from './notify.ts'

// lib/api.ts retries, and reports a missing network, itself.
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
})

interface ReadOptions<T> {
  /** Asks again this often while the page is visible; it may depend on the last response. */
  refreshMs?: number | ((data: T | undefined) => number)
  enabled?: boolean
  errorToast?: boolean
}

/** Reads a call and keeps the last response on the screen while the next one travels. */
export function useScreenQuery<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  { refreshMs = 0, enabled = true, errorToast = false }: ReadOptions<RouteData<R>> = {},
): UseQueryResult<RouteData<R>, Error> {
  const result = useQuery({
    queryKey: [route.path, input],
    queryFn: ({ signal }) => read(route, input, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: typeof refreshMs === 'number' ? refreshMs : ({ state }) => refreshMs(state.data),
    enabled,
  })
  useFailureToast(errorToast ? result : null, route.path, JSON.stringify(input))
  return result
}

// One toast per failure until the query succeeds; the screen shows the failure, too.
function useFailureToast(query: UseQueryResult<unknown, Error> | null, path: string, question: string) {
  const told = useRef('')
  const error = query?.error ?? null
  const isSuccess = query?.isSuccess && !query.isPlaceholderData
  useEffect(() => {
    const id = `consulta ${path}`
    if (isSuccess && told.current !== '') {
      told.current = ''
      retract(id)
    }
    if (!error || isSignedOut(error)) return
    const text = loadFailure(error)
    if (told.current === question + text) return
    told.current = question + text
    notifyError(text, { id, onScreen: true })
  }, [error, isSuccess, path, question])
}

/** Reads a call apart from any screen. */
export async function read<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<RouteData<R>> {
  return dataOf(await call(route, input, options))
}

// Large responses are refreshed rarely, after messages too: thousands of companies are megabytes.
const rarelyMs = 60_000
const restMs = 10_000

/** Refreshes the periodic queries at once; a hidden tab does it when it becomes visible. */
export async function refreshLive() {
  const now = Date.now()
  await queryClient.invalidateQueries({
    predicate: (query) => {
      const everyMs = refreshMsOf(query)
      return everyMs > 0 && (everyMs < rarelyMs || now - query.state.dataUpdatedAt >= restMs)
    },
    refetchType: document.hidden ? 'none' : 'active',
  })
}

function refreshMsOf(query: Query): number {
  const each = query.observers.map(({ options: { refetchInterval } }) =>
    typeof refetchInterval === 'function' ? refetchInterval(query) : refetchInterval,
  )
  return Math.max(0, ...each.map(Number).filter(Number.isFinite))
}

interface ActionOptions<R extends RouteDefinition> {
  /** False when the screen shows the failure, or this failure, itself. */
  errorToast?: boolean | ((error: Error) => boolean)
  /** The screen also shows the failure, so the toast disappears by itself. */
  onScreen?: boolean
  onSuccess?: (envelope: Envelope<RouteData<R>>) => void
  onError?: (error: Error) => void
}

/**
 * Calls a POST or PUT route of the contract; afterwards all queries on the screen are refreshed. The input may be a function that makes it
 * right before the call; when it fails, nothing is sent and the action fails with its error. The toast of a failure goes when a later attempt
 * succeeds.
 */
export function useAction<R extends RouteDefinition>(
  route: R,
  { errorToast = true, onScreen = false, onSuccess, onError }: ActionOptions<R> = {},
): UseMutationResult<Envelope<RouteData<R>>, Error, CallInput<R> | (() => Promise<CallInput<R>>)> {
  const client = useQueryClient()
  const toastId = `operação ${route.method} ${route.path}`
  return useMutation({
    mutationFn: async (input: CallInput<R> | (() => Promise<CallInput<R>>)) =>
      accepted(await call(route, typeof input === 'function' ? await input() : input)),
    onSuccess: (envelope) => {
      void client.invalidateQueries()
      retract(toastId)
      onSuccess?.(envelope)
    },
    onError: (error) => {
      const toast = typeof errorToast === 'function' ? errorToast(error) : errorToast
      if (toast && !isSignedOut(error)) notifyError(actionFailure(error), { id: toastId, onScreen })
      onError?.(error)
    },
  })
}

/** The data of a response, which must not be empty (section 7). */
export function dataOf<T>(envelope: Envelope<T>): T {
  const { data } = accepted(envelope)
  if (data === null) throw new ApiError(empty, 200)
  return data
}

const empty = 'a resposta do servidor veio vazia'

/** Whether the response had no data. */
export function isEmpty(error: unknown): boolean {
  return error instanceof ApiError && error.message === empty
}

/** Returns the response or throws its failure: `success` alone decides (section 7). */
export function accepted<T>(envelope: Envelope<T>): Envelope<T> {
  if (!envelope.success) throw new ApiError(envelope.message, 200, { errors: envelope.errors })
  return envelope
}

/** The toast of a query that failed (section 7). */
export function loadFailure(error: unknown): string {
  return `Erro ao carregar dados: ${errorMessage(error)}`
}

/** Toast of a failed action (section 7); section 8 has its own text after the last attempt. */
export function actionFailure(error: unknown): string {
  const gaveUp = error instanceof ApiError && isRetryable(error.status)
  return `Erro na operação: ${gaveUp ? errorMessage(error) : actionMessage(error)}`
}

/** Joined errors of a response, else its message, else `otherwise`. */
export function actionMessage(error: unknown, otherwise?: string): string {
  const errors = error instanceof ApiError ? error.errors.filter((text) => text !== '') : []
  return errors.length > 0 ? errors.join(', ') : errorMessage(error, otherwise)
}

// The login screen already shows the end of the session.
function isSignedOut(error: Error): boolean {
  return error instanceof ApiError && error.status === 401
}

const idleCheckMs = 2_000

/** Calls `fetchCode` once no call runs, checked every two seconds. Returns a cancel function. */
export function whenIdle(fetchCode: () => Promise<unknown>): () => void {
  const timer = setInterval(() => {
    if (queryClient.isFetching() > 0) return
    clearInterval(timer)
    void fetchCode()
  }, idleCheckMs)
  return () => clearInterval(timer)
}
