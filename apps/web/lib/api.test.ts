import { getEventListeners } from 'node:events'
import { type RouteDefinition, route } from '@vigia/contract/route'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type ApiError, call, callBytes, isRetryable, retryDelayMs } from './api.ts'
import { readDisconnectedSince, recordResponse } from './connection.ts'
import { closeSession, currentSession, openSession } from './session.ts'

const read = route({ method: 'GET', path: '/read', access: 'session', summary: '', data: z.string() })
const write = route({
  method: 'POST',
  path: '/write',
  access: 'public',
  summary: '',
  body: z.object({ a: z.number() }),
  data: z.null(),
})

const ok = (data: unknown = 'x') => json({ success: true, message: '', data, errors: [] })
const json = (body: unknown, status = 200, statusText = '') =>
  new Response(JSON.stringify(body), { status, statusText })

let fetched: [string, RequestInit][] = []
function answers(...list: (Response | Error | 'never')[]) {
  let turn = 0
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    fetched.push([url, init])
    const answer = list[Math.min(turn++, list.length - 1)]
    if (answer === 'never')
      return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer?.clone())
  })
}

beforeEach(() => {
  fetched = []
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function outcome<T>(promise: Promise<T>): Promise<T | ApiError> {
  const settled = promise.catch((error: unknown) => error as ApiError)
  await vi.runAllTimersAsync()
  return settled
}

describe('retries of sections 8 and 9', () => {
  test.each([500, 502, 503, 408, 429])('%d is asked four times', async (status) => {
    answers(json({ success: false, message: 'cheio', data: null, errors: [] }, status))
    const error = await outcome(call(read, {}))
    expect(fetched).toHaveLength(4)
    expect(error).toMatchObject({ message: 'Falha após 4 tentativas. Último erro: cheio', status })
  })

  test.each([400, 402, 404, 409, 422])('%d is asked once and says what the server said', async (status) => {
    answers(json({ success: false, message: 'não existe', data: null, errors: [] }, status, 'Text'))
    expect(await outcome(call(read, {}))).toMatchObject({ message: 'não existe', status })
    expect(fetched).toHaveLength(1)
  })

  test('a network error is retried and the second response counts', async () => {
    answers(new TypeError('Failed to fetch'), ok('chegou'))
    expect(await outcome(call(read, {}))).toMatchObject({ success: true, data: 'chegou' })
    expect(fetched).toHaveLength(2)
  })

  test('a retry uses the token of the first attempt', async () => {
    for (const name of ['localStorage', 'sessionStorage'])
      vi.stubGlobal(name, { getItem: () => null, setItem: () => undefined, removeItem: () => undefined })
    openSession({ token: 'da Ana', wsId: '1', email: 'ana@x.br' })
    answers(new TypeError('Failed to fetch'), ok('chegou'))
    const called = call(read, {})
    openSession({ token: 'do Bruno', wsId: '2', email: 'bruno@x.br' })
    await outcome(called)
    closeSession()
    expect(fetched.map(([, { headers }]) => new Headers(headers).get('authorization'))).toEqual([
      'Bearer da Ana',
      'Bearer da Ana',
    ])
  })

  test('a POST is retried like a GET', async () => {
    answers(json({}, 503), ok(null))
    expect(await outcome(call(write, { body: { a: 1 } }))).toMatchObject({ success: true })
    expect(fetched.map(([, init]) => init.body)).toEqual(['{"a":1}', '{"a":1}'])
  })

  test('each attempt ends after 30 seconds', async () => {
    answers('never')
    const started = Date.now()
    const error = await outcome(call(read, {}))
    expect((error as ApiError).message).toMatch(/^Falha após 4 tentativas. Último erro: .*30 segundos/)
    const waited = Date.now() - started
    expect(waited).toBeGreaterThanOrEqual(4 * 30_000 + 7_000)
    expect(waited).toBeLessThanOrEqual(4 * 30_000 + 10_000)
  })

  test('an aborted call is not retried', async () => {
    answers('never')
    const leaving = new AbortController()
    const promise = outcome(call(read, {}, { signal: leaving.signal }))
    leaving.abort()
    expect(await promise).toMatchObject({ name: 'AbortError' })
    expect(fetched).toHaveLength(1)
  })

  test('the pauses between attempts leave no listeners', async () => {
    answers(new TypeError('Failed to fetch'))
    const { signal } = new AbortController()
    await outcome(call(read, {}, { signal }))
    expect(fetched).toHaveLength(4)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('the delay doubles from one second, stops at ten, and carries up to one second of jitter', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    expect([0, 1, 2, 3, 4, 9].map(retryDelayMs)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
    vi.spyOn(Math, 'random').mockReturnValue(0.999)
    expect(retryDelayMs(0)).toBeCloseTo(1999)
    vi.restoreAllMocks()
  })

  test('status 0 is retried, the session and what the client did wrong are not', () => {
    expect([0, 408, 429, 500, 599].every(isRetryable)).toBe(true)
    expect([400, 401, 403, 404, 409, 413].some(isRetryable)).toBe(false)
  })
})

describe('the state of the connection', () => {
  test.each([
    ['no connection', new TypeError('Failed to fetch')],
    ['a proxy that does not find it', json({}, 502)],
  ])('%s is silence, any answer of it ends that', async (_, failure) => {
    // Each test begins again at the present time.
    recordResponse()
    answers(failure)
    await Promise.all([outcome(call(read, {})), outcome(call(write, { body: { a: 1 } }))])
    expect(readDisconnectedSince()).not.toBeNull()
    answers(json({ success: false, message: 'não', data: null, errors: [] }, 500))
    await outcome(call(read, {}))
    expect(readDisconnectedSince()).toBeNull()
  })
})

describe('envelope rules of section 7', () => {
  test('an empty body counts as success', async () => {
    answers(new Response(''))
    expect(await outcome(call(write, { body: { a: 1 } }))).toMatchObject({
      success: true,
      message: 'Operação realizada com sucesso',
    })
  })

  test('a body that cannot be read is a failure with the status text', async () => {
    answers(new Response('<html>', { status: 200, statusText: 'OK' }))
    expect(await outcome(call(read, {}))).toMatchObject({
      success: false,
      message: 'Erro ao processar resposta da API: OK',
    })
  })

  test('an HTTP error without a message gives the status text', async () => {
    answers(json({ success: false, message: '', errors: [] }, 404, 'Not Found'))
    expect(await outcome(call(read, {}))).toMatchObject({ message: 'Not Found', status: 404 })
  })

  test('an HTTP error whose body is no envelope gives the status text, else the status', async () => {
    answers(new Response('<html>', { status: 413, statusText: 'Payload Too Large' }))
    expect(await outcome(call(read, {}))).toMatchObject({ message: 'Payload Too Large', status: 413 })
    answers(new Response('', { status: 404 }))
    expect(await outcome(call(read, {}))).toMatchObject({ message: 'Erro 404', status: 404 })
  })

  test('JSON that is no envelope is unreadable too', async () => {
    for (const body of [['x'], 'x', 1, null, {}, { error: 'x' }]) {
      answers(json(body, 200, 'OK'))
      expect(await outcome(call(read, {}))).toMatchObject({
        success: false,
        message: 'Erro ao processar resposta da API: OK',
      })
    }
  })

  test('only success: false is a failure, and an HTTP error shows its message with or without it', async () => {
    answers(json({ data: 'x' }))
    expect(await outcome(call(read, {}))).toMatchObject({ success: true, data: 'x' })
    answers(json({ message: 'não pode' }, 400, 'Bad Request'))
    expect(await outcome(call(read, {}))).toMatchObject({ message: 'não pode', status: 400 })
  })

  test('missing fields of an envelope are empty, and a success without a message gets the default one', async () => {
    answers(json({ success: true, message: null, errors: null }))
    const message = 'Operação realizada com sucesso'
    expect(await outcome(call(read, {}))).toEqual({ success: true, message, data: null, errors: [] })
    answers(json({ success: false, message: null, errors: null }))
    expect(await outcome(call(read, {}))).toEqual({ success: false, message: '', data: null, errors: [] })
  })

  test('success: false is returned, not thrown', async () => {
    answers(json({ success: false, message: 'não', data: null, errors: ['a', 'b'] }))
    expect(await outcome(call(read, {}))).toEqual({ success: false, message: 'não', data: null, errors: ['a', 'b'] })
  })
})

describe('a 401', () => {
  const refused = () => json({ success: false, message: 'não', data: null, errors: [] }, 401)
  const told = { message: 'Sessão expirada. Faça login novamente.', status: 401 }
  beforeEach(() => {
    for (const name of ['localStorage', 'sessionStorage'])
      vi.stubGlobal(name, { getItem: () => null, setItem() {}, removeItem() {} })
    openSession({ token: 'da Ana', wsId: '1', email: 'ana@x.br' })
  })
  afterEach(closeSession)

  test.each([
    ['of a call that needs a session', () => call(read, {})],
    ['of a public call', () => call(write, { body: { a: 1 } })],
  ])('%s ends the session at once', async (_, send) => {
    answers(refused())
    expect(await outcome<unknown>(send())).toMatchObject(told)
    expect(currentSession()).toBeNull()
    expect(fetched).toHaveLength(1)
  })

  test('on the login screen is what the server says', async () => {
    vi.stubGlobal('location', { pathname: '/login' })
    answers(refused())
    expect(await outcome(call(write, { body: { a: 1 } }))).toMatchObject({ message: 'não', status: 401 })
    expect(currentSession()).not.toBeNull()
  })
})

describe('what is sent', () => {
  test('JSON has its type, a call without body has none', async () => {
    answers(ok(null))
    await outcome(call(write, { body: { a: 1 } }))
    await outcome(call(read, {}))
    expect(fetched.map(([, init]) => [init.method, init.headers, init.body])).toEqual([
      ['POST', { Accept: 'application/json', 'Content-Type': 'application/json' }, '{"a":1}'],
      ['GET', { Accept: 'application/json' }, undefined],
    ])
  })

  test('a query leaves out what is blank', async () => {
    const list = route({
      method: 'GET',
      path: '/list/{id}',
      access: 'public',
      summary: '',
      params: z.object({ id: z.string() }),
      query: z.object({ a: z.string().optional(), b: z.string().optional(), c: z.number() }),
      data: z.string(),
    })
    answers(ok())
    await outcome(call(list, { params: { id: 'a/b' }, query: { a: '', b: undefined, c: 0 } }))
    expect(fetched[0]?.[0]).toBe('/list/a%2Fb?c=0')
  })

  test('a form keeps its names and its file', async () => {
    const upload = {
      method: 'POST',
      path: '/up',
      access: 'public',
      summary: '',
      form: z.object({ Senha: z.string(), Certificado: z.file() }),
    } as const satisfies RouteDefinition
    answers(ok(null))
    await outcome(call(upload, { form: { Senha: 's', Certificado: new File(['x'], 'a.pfx') } }))
    const form = fetched[0]?.[1].body as FormData
    expect(form.get('Senha')).toBe('s')
    expect((form.get('Certificado') as File).name).toBe('a.pfx')
    expect(fetched[0]?.[1].headers).toEqual({ Accept: 'application/json' })
  })

  test('a printed form is tried four times when that may help, and its error has the last status', async () => {
    const print = route({ method: 'GET', path: '/pdf', access: 'session', summary: '', produces: 'application/pdf' })
    answers(...[503, 503, 502, 503].map((status) => new Response('', { status })))
    expect(await outcome(callBytes(print, {}))).toMatchObject({ message: 'Erro ao carregar PDF: 503' })
    expect(fetched).toHaveLength(4)
    fetched.length = 0
    answers(new Response('', { status: 404 }))
    expect(await outcome(callBytes(print, {}))).toMatchObject({ message: 'Erro ao carregar PDF: 404' })
    expect(fetched).toHaveLength(1)
    expect(fetched[0]?.[1].headers).toEqual({ Accept: 'application/pdf' })
  })
})
