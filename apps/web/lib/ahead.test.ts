import { afterEach, expect, test, vi } from 'vitest'
import { askAhead, forgetAhead, takeAhead } from './ahead.ts'

const never = new AbortController().signal
const fetched = vi.fn(async (_url: string, _init: RequestInit) => new Response('{}'))
vi.stubGlobal('fetch', fetched)
afterEach(() => {
  forgetAhead()
  fetched.mockClear()
  vi.useRealTimers()
})

test('an answer is asked for as its session, and given once', async () => {
  askAhead('/v1/api/Plano', 'a')
  expect(fetched.mock.calls[0]?.[0]).toBe('/v1/api/Plano')
  expect(fetched.mock.calls[0]?.[1].headers).toMatchObject({ Authorization: 'Bearer a' })
  expect((await takeAhead('/v1/api/Plano', 'a', never))?.status).toBe(200)
  expect(takeAhead('/v1/api/Plano', 'a', never)).toBeUndefined()
})

test('nobody is given the answer of another session, question or time', () => {
  vi.useFakeTimers()
  askAhead('/v1/api/Plano', 'a')
  expect(takeAhead('/v1/api/Dashboard', 'a', never)).toBeUndefined()
  expect(takeAhead('/v1/api/Plano', 'b', never)).toBeUndefined()
  askAhead('/v1/api/Plano', 'a')
  vi.advanceTimersByTime(21_000)
  expect(takeAhead('/v1/api/Plano', 'a', never)).toBeUndefined()
  askAhead('/v1/api/Plano', 'a')
  forgetAhead()
  expect(takeAhead('/v1/api/Plano', 'a', never)).toBeUndefined()
})

test('who no longer waits for the answer ends the question', () => {
  askAhead('/v1/api/Plano', 'a')
  const leaving = new AbortController()
  void takeAhead('/v1/api/Plano', 'a', leaving.signal)
  expect(fetched.mock.calls[0]?.[1].signal?.aborted).toBe(false)
  leaving.abort()
  expect(fetched.mock.calls[0]?.[1].signal?.aborted).toBe(true)
})

test('a question that nobody takes fails in silence', async () => {
  fetched.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  askAhead('/v1/api/Plano', 'a')
  await expect(takeAhead('/v1/api/Plano', 'a', never)).rejects.toThrow('Failed to fetch')
})
