import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let connection: typeof import('./connection.ts')

beforeEach(async () => {
  vi.useFakeTimers({ now: 1_000_000 })
  vi.resetModules()
  connection = await import('./connection.ts')
})

afterEach(() => {
  vi.useRealTimers()
})

function missAfter(ms: number, route: string) {
  vi.advanceTimersByTime(ms)
  connection.missedServer(route)
}

test('the server is away since it was last heard, once several calls have missed it for a while', () => {
  connection.heardServer()
  missAfter(10_000, '/a')
  missAfter(1_000, '/b')
  expect(connection.readSilentSince()).toBeNull()
  missAfter(2_000, '/a')
  expect(connection.readSilentSince()).toBe(1_000_000)
  missAfter(60_000, '/b')
  expect(connection.readSilentSince()).toBe(1_000_000)
  connection.heardServer()
  expect(connection.readSilentSince()).toBeNull()
})

test('one call that fails by itself says nothing of the server', () => {
  for (let attempt = 0; attempt < 9; attempt++) missAfter(2_000, '/a')
  expect(connection.readSilentSince()).toBeNull()
})

test('who was never heard is away since the first failure', () => {
  missAfter(0, '/a')
  missAfter(5_000, '/b')
  expect(connection.readSilentSince()).toBe(1_000_000)
})
