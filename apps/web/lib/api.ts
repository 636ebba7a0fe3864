import type { Envelope, RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { recordNoResponse, recordResponse } from './connection.ts'
import { askForProof } from './proof.ts'
import { currentSession, expireSession } from './session.ts'

const timeoutMs = 30_000
const retriesMax = 3
/** The message of a success that has no message. */
export const usualMessage = 'Operação realizada com sucesso'
const unreadable = 'Erro ao processar resposta da API: '
// Statuses of a proxy whose server does not respond.
const fromProxy = new Set([502, 503, 504])
const sessionExpired = 'Sessão expirada. Faça login novamente.'

/** The parts of a request that `R` declares, and no others. */
export type CallInput<R extends RouteDefinition> = {
  [K in keyof RouteRequest<R> as RouteRequest<R>[K] extends undefined ? never : K]: RouteRequest<R>[K]
}

/** A call without a usable response; `status` 0 means that no response arrived. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly errors: string[]
  /** The same call succeeds when the person has shown who they are. */
  readonly wantsProof: boolean
  constructor(
    message: string,
    status: number,
    options: { errors?: string[]; wantsProof?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.status = status
    this.errors = options.errors ?? []
    this.wantsProof = options.wantsProof ?? false
  }
}

/** Calls a route of the contract. Returns a `success: false` envelope: the caller shows it. */
export async function call<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<Envelope<RouteData<R>>> {
  // All attempts use one token, because another window may log in as another person meanwhile.
  const token = currentSession()?.token
  // The specification retries every method: a POST with a lost response arrives twice.
  const attempt = () => withProof(route, () => attemptOnce(route, input, token, options.signal))
  return retried(attempt, options.signal, (error) => {
    const message = `Falha após ${retriesMax + 1} tentativas. Último erro: ${error.message}`
    return new ApiError(message, error.status, { errors: error.errors, cause: error })
  }) as Promise<Envelope<RouteData<R>>>
}

// Asks for a proof of identity when a call needs one, and sends the call again.
async function withProof<T>(route: RouteDefinition, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    const isWanted = error instanceof ApiError && error.wantsProof && route.access !== 'public'
    if (!isWanted || !(await askForProof())) throw error
    return attempt()
  }
}

// Retries transient failures (section 8); `whenOver` converts the last error.
async function retried<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal | undefined,
  whenOver: (error: ApiError) => ApiError,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ApiError) || !isRetryable(error.status)) throw error
      if (failures === retriesMax) throw whenOver(error)
      await sleep(retryDelayMs(failures), signal)
    }
  }
}

/** The bytes of a file; on failure the screen shows the last status and a retry button. */
export async function callBytes<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<Blob> {
  const token = currentSession()?.token
  const attempt = () =>
    sendRequest(route, input, token, options.signal, async (response) => {
      if (!response.ok) throw new ApiError(`Erro ao carregar ${fileKind(route)}: ${response.status}`, response.status)
      return response.blob()
    })
  return retried(attempt, options.signal, (error) => error)
}

function fileKind({ produces }: RouteDefinition): string {
  return produces === 'application/pdf' ? 'PDF' : 'o arquivo'
}

/** Whether the server sent a response that cannot be read. */
export function isUnreadable(error: ApiError): boolean {
  return error.message.startsWith(unreadable)
}

/** Message of any error for people; `otherwise` when it has none. */
export function errorMessage(error: unknown, otherwise = 'Erro desconhecido'): string {
  return (error instanceof Error && error.message) || otherwise
}

/** Whether the server does not know this call. */
export function isUnknownCall(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

export function isRetryable(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

export function retryDelayMs(attempt: number): number {
  return Math.min(1000 * 2 ** attempt, 10_000) + Math.random() * 1000
}

async function attemptOnce<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  token: string | undefined,
  signal: AbortSignal | undefined,
) {
  return sendRequest(route, input, token, signal, async (response) => {
    const envelope = readEnvelope(await response.text())
    const said = response.statusText || `Erro ${response.status}`
    if (response.ok && envelope?.success && envelope.message === '') return { ...envelope, message: usualMessage }
    if (response.ok) return envelope ?? { success: false, message: unreadable + said, data: null, errors: [] }
    const message = envelope?.message || said
    // RFC 9470. Other servers may say 403 for reasons of their own.
    const wantsProof = /insufficient_user_authentication/.test(response.headers.get('www-authenticate') ?? '')
    throw new ApiError(message, response.status, { errors: envelope?.errors ?? [], wantsProof })
  })
}

async function sendRequest<R extends RouteDefinition, T>(
  route: R,
  input: CallInput<R>,
  token: string | undefined,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  try {
    const url = requestUrl(route, input)
    const until = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal
    const response = await fetch(url, { ...requestBody(route, input, token), method: route.method, signal: until })
    if (fromProxy.has(response.status)) recordNoResponse(route.path)
    else recordResponse()
    if (response.status === 401 && globalThis.location?.pathname !== '/login') {
      expireSession(token)
      throw new ApiError(sessionExpired, 401)
    }
    return await read(response)
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error
    recordNoResponse(route.path)
    const message = deadline.signal.aborted
      ? 'o servidor demorou mais de 30 segundos para responder'
      : 'não foi possível falar com o servidor'
    throw new ApiError(message, 0, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function requestUrl(route: RouteDefinition, input: Partial<RouteRequest<RouteDefinition>>): string {
  const params = (input.params ?? {}) as Record<string, unknown>
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text ? `${path}?${text}` : path
}

function requestBody(
  route: RouteDefinition,
  input: Partial<RouteRequest<RouteDefinition>>,
  token: string | undefined,
): { headers: Record<string, string>; body?: BodyInit } {
  const headers: Record<string, string> = { Accept: route.produces ?? 'application/json' }
  if (token) headers.Authorization = `Bearer ${token}`
  if (input.form) {
    const form = new FormData()
    for (const [name, value] of Object.entries(input.form)) {
      if (value !== undefined) form.append(name, value instanceof Blob ? value : String(value))
    }
    return { headers, body: form }
  }
  if (input.body === undefined) return { headers }
  headers['Content-Type'] = 'application/json'
  return { headers, body: JSON.stringify(input.body) }
}

const envelopeFields = ['success', 'message', 'data', 'errors']

// Section 7: an empty body and an envelope without `success` are successes. Null: no envelope.
function readEnvelope(text: string): Envelope<unknown> | null {
  if (text.trim() === '') return { success: true, message: '', data: null, errors: [] }
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !envelopeFields.some((name) => name in body)) return null
    const { success, message, data = null, errors } = body as Record<string, unknown>
    return {
      success: success !== false,
      message: typeof message === 'string' ? message : '',
      data,
      errors: Array.isArray(errors) ? errors.map(String) : [],
    }
  } catch {
    return null
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }, ms)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
