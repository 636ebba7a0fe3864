import type { Envelope, RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { currentSession, expireSession } from './session.ts'

const timeoutMs = 30_000
const retriesMax = 3
const sessionExpired = 'Sessão expirada. Faça login novamente.'

/** The parts of a request that `R` declares, and no others. */
export type CallInput<R extends RouteDefinition> = {
  [K in keyof RouteRequest<R> as RouteRequest<R>[K] extends undefined ? never : K]: RouteRequest<R>[K]
}

/** A call that brought no usable answer; `status` 0 means that no answer arrived at all. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly errors: string[]
  constructor(message: string, status: number, options: { errors?: string[]; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.status = status
    this.errors = options.errors ?? []
  }
}

/** Carries out a call of the contract. A `success: false` envelope is a value here; its caller decides how to say it. */
export async function call<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<Envelope<RouteData<R>>> {
  // The specification retries every method, so a POST whose answer was lost reaches the server twice.
  for (let attempt = 0; ; attempt++) {
    try {
      return (await once(route, input, options.signal)) as Envelope<RouteData<R>>
    } catch (error) {
      if (!(error instanceof ApiError) || !isRetryable(error.status)) throw error
      if (attempt === retriesMax) {
        const message = `Falha após ${attempt + 1} tentativas. Último erro: ${error.message}`
        throw new ApiError(message, error.status, { errors: error.errors, cause: error })
      }
      await sleep(retryDelayMs(attempt), options.signal)
    }
  }
}

/** The bytes of a printed form, asked once: the viewer shows the status and offers to try again. */
export async function callBytes<R extends RouteDefinition>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<Blob> {
  return send(route, input, options.signal, async (response) => {
    if (!response.ok) throw new ApiError(`Erro ao carregar PDF: ${response.status}`, response.status)
    return response.blob()
  })
}

/** What the person is told about any error. */
export function errorMessage(error: unknown): string {
  return (error instanceof Error && error.message) || 'Erro desconhecido'
}

export function isRetryable(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

export function retryDelayMs(attempt: number): number {
  return Math.min(1000 * 2 ** attempt, 10_000) + Math.random() * 1000
}

async function once<R extends RouteDefinition>(route: R, input: CallInput<R>, signal: AbortSignal | undefined) {
  return send(route, input, signal, async (response) => {
    const envelope = readEnvelope(await response.text(), response)
    if (response.ok) return envelope
    const message = (!envelope.success && envelope.message) || response.statusText || `Erro ${response.status}`
    throw new ApiError(message, response.status, { errors: envelope.errors })
  })
}

async function send<R extends RouteDefinition, T>(
  route: R,
  input: CallInput<R>,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const token = currentSession()?.token
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  try {
    const response = await fetch(requestUrl(route, input), {
      ...requestBody(route, input, token),
      method: route.method,
      signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
    })
    if (response.status === 401 && route.access === 'session') {
      expireSession(token)
      throw new ApiError(sessionExpired, 401)
    }
    return await read(response)
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error
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

function readEnvelope(text: string, response: Response): Envelope<unknown> {
  if (text === '') return { success: true, message: 'Operação realizada com sucesso', data: null, errors: [] }
  try {
    const body = JSON.parse(text)
    if (typeof body?.success === 'boolean') return { message: '', data: null, errors: [], ...body }
  } catch {
    // Falls through: neither JSON nor an envelope.
  }
  const message = `Erro ao processar resposta da API: ${response.statusText || response.status}`
  return { success: false, message, data: null, errors: [] }
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
