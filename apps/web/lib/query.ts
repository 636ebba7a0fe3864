import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { Envelope, RouteData, RouteDefinition } from '@vigia/contract/route'
import { useEffect } from 'react'
import { ApiError, type CallInput, call, errorMessage } from './api.ts'
import { notifyError } from './notify.ts'

// The client of lib/api.ts retries and speaks for an absent network itself.
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
})

interface ReadOptions {
  /** Asks again this often while the page is visible. */
  refreshMs?: number
  enabled?: boolean
  errorToast?: boolean
}

/** Reads a GET route of the contract and keeps the last answer on the screen while the next one travels. */
export function useRoute<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  { refreshMs, enabled = true, errorToast = false }: ReadOptions = {},
): UseQueryResult<RouteData<R>, Error> {
  const query = useQuery({
    queryKey: [route.path, input],
    queryFn: async ({ signal }): Promise<RouteData<R>> => {
      const envelope = await call(route, input, { signal })
      if (!envelope.success || envelope.data === null) throw new ApiError(envelope.message, 200)
      return envelope.data
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs ?? false,
    enabled,
  })
  const { error } = query
  useEffect(() => {
    if (errorToast && error && !isSignedOut(error)) notifyError(`Erro ao carregar dados: ${errorMessage(error)}`)
  }, [error, errorToast])
  return query as UseQueryResult<RouteData<R>, Error>
}

interface ActionOptions<R extends RouteDefinition> {
  /** False when the screen says the failure, or this failure, in its own words. */
  errorToast?: boolean | ((error: Error) => boolean)
  onSuccess?: (envelope: Envelope<RouteData<R>>) => void
  onError?: (error: Error) => void
}

/** Carries out a POST or PUT route of the contract; what is on the screen is read again afterwards. */
export function useAction<R extends RouteDefinition>(
  route: R,
  { errorToast = true, onSuccess, onError }: ActionOptions<R> = {},
): UseMutationResult<Envelope<RouteData<R>>, Error, CallInput<R>> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (input: CallInput<R>) => {
      const envelope = await call(route, input)
      if (envelope.success) return envelope
      throw new ApiError(envelope.message, 200, { errors: envelope.errors })
    },
    onSuccess: (envelope) => {
      void client.invalidateQueries()
      onSuccess?.(envelope)
    },
    onError: (error) => {
      const toast = typeof errorToast === 'function' ? errorToast(error) : errorToast
      if (toast && !isSignedOut(error)) notifyError(`Erro na operação: ${actionMessage(error)}`)
      onError?.(error)
    },
  })
}

/** The joined errors of an answer, else its message. */
export function actionMessage(error: unknown): string {
  return error instanceof ApiError && error.errors.length > 0 ? error.errors.join(', ') : errorMessage(error)
}

// The login screen already says that the session ended.
function isSignedOut(error: Error): boolean {
  return error instanceof ApiError && error.status === 401
}
