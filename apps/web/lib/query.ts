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
import { type Answer, complete } from './answers.ts'
import { ApiError, type CallInput, call, errorMessage, isRetryable } from './api.ts'
import { notifyError } from './notify.ts'

// The client of lib/api.ts retries and speaks for an absent network itself.
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
})

interface ReadOptions<R extends RouteDefinition> {
  /** Asks again this often while the page is visible; it may depend on the last answer. */
  refreshMs?: number | ((data: Answer<R> | undefined) => number)
  enabled?: boolean
  errorToast?: boolean
}

/** Reads a GET route of the contract and keeps the last answer on the screen while the next one travels. */
export function useRoute<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  { refreshMs = 0, enabled = true, errorToast = false }: ReadOptions<R> = {},
): UseQueryResult<Answer<R>, Error> {
  const query = useQuery({
    queryKey: [route.path, input],
    queryFn: ({ signal }) => read(route, input, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: typeof refreshMs === 'number' ? refreshMs : ({ state }) => refreshMs(state.data),
    enabled,
  })
  useFailureToast(errorToast ? query : null, JSON.stringify(input))
  return query as UseQueryResult<Answer<R>, Error>
}

// Once for each failure: the next attempts of the same question that fail alike say nothing new, until one succeeds.
function useFailureToast(query: UseQueryResult<unknown, Error> | null, question: string) {
  const told = useRef('')
  const error = query?.error ?? null
  const isSuccess = query?.isSuccess && !query.isPlaceholderData
  useEffect(() => {
    if (isSuccess) told.current = ''
    if (!error || isSignedOut(error)) return
    const text = loadFailure(error)
    if (told.current === question + text) return
    told.current = question + text
    notifyError(text)
  }, [error, isSuccess, question])
}

/** Reads a GET, or a POST that only asks, apart from any screen. */
export async function read<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<Answer<R>> {
  return complete(route, dataOf(await call(route, input, options)))
}

// What is heavy asks rarely, and is not asked much more often: thousands of companies are megabytes.
const rarelyMs = 60_000
const restMs = 10_000

/** Asks at once what otherwise asks again by itself; a tab that nobody sees asks when it is looked at. */
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
  /** False when the screen says the failure, or this failure, in its own words. */
  errorToast?: boolean | ((error: Error) => boolean)
  onSuccess?: (envelope: Envelope<RouteData<R>>) => void
  onError?: (error: Error) => void
}

/**
 * Carries out a POST or PUT route of the contract; what is on the screen is read again afterwards. What is sent may be a function, which
 * says it right before; when it fails, nothing is sent and the action fails with its error.
 */
export function useAction<R extends RouteDefinition>(
  route: R,
  { errorToast = true, onSuccess, onError }: ActionOptions<R> = {},
): UseMutationResult<Envelope<RouteData<R>>, Error, CallInput<R> | (() => Promise<CallInput<R>>)> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (input: CallInput<R> | (() => Promise<CallInput<R>>)) =>
      accepted(await call(route, typeof input === 'function' ? await input() : input)),
    onSuccess: (envelope) => {
      void client.invalidateQueries()
      onSuccess?.(envelope)
    },
    onError: (error) => {
      const toast = typeof errorToast === 'function' ? errorToast(error) : errorToast
      if (toast && !isSignedOut(error)) notifyError(actionFailure(error))
      onError?.(error)
    },
  })
}

/** What a query gives on: the data of an answer that has some (section 7). */
export function dataOf<T>(envelope: Envelope<T>): T {
  const { data } = accepted(envelope)
  if (data === null) throw new ApiError(empty, 200)
  return data
}

const empty = 'a resposta do servidor veio vazia'

/** The server answered that there is nothing. */
export function isEmpty(error: unknown): boolean {
  return error instanceof ApiError && error.message === empty
}

/** The answer, unless it says that it failed: `success` alone decides, whatever its data (section 7). */
export function accepted<T>(envelope: Envelope<T>): Envelope<T> {
  if (!envelope.success) throw new ApiError(envelope.message, 200, { errors: envelope.errors })
  return envelope
}

/** The toast of a query that failed (section 7). */
export function loadFailure(error: unknown): string {
  return `Erro ao carregar dados: ${errorMessage(error)}`
}

/** The toast of an action that failed (section 7); after the last attempt section 8 has words of its own. */
export function actionFailure(error: unknown): string {
  const gaveUp = error instanceof ApiError && isRetryable(error.status)
  return `Erro na operação: ${gaveUp ? errorMessage(error) : actionMessage(error)}`
}

/** The joined errors of an answer, else its message, else `otherwise`. */
export function actionMessage(error: unknown, otherwise?: string): string {
  const errors = error instanceof ApiError ? error.errors.filter((text) => text !== '') : []
  return errors.length > 0 ? errors.join(', ') : errorMessage(error, otherwise)
}

// The login screen already says that the session ended.
function isSignedOut(error: Error): boolean {
  return error instanceof ApiError && error.status === 401
}
