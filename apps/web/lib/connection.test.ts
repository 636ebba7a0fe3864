import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let connection: typeof import('./connection.ts')

beforeEach(async () => {
  vi.useFakeTimers({ now: 1_000_000 })
  vi.resetModules()
  connection = await import('./connection.ts')
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

function missAfter(ms: number, route: string) {
  vi.advanceTimersByTime(ms)
  connection.recordNoResponse(route)
}

test('the connection is lost since the last response, once several calls got none for a while', () => {
  connection.recordResponse()
  missAfter(10_000, '/a')
  missAfter(1_000, '/b')
  expect(connection.readDisconnectedSince()).toBeNull()
  missAfter(2_000, '/a')
  expect(connection.readDisconnectedSince()).toBe(1_000_000)
  missAfter(60_000, '/b')
  expect(connection.readDisconnectedSince()).toBe(1_000_000)
  connection.recordResponse()
  expect(connection.readDisconnectedSince()).toBeNull()
})

test('a single call that fails says nothing about the connection', () => {
  for (let attempt = 0; attempt < 9; attempt++) missAfter(2_000, '/a')
  expect(connection.readDisconnectedSince()).toBeNull()
})

test('without any response the connection is lost since the first failure', () => {
  missAfter(0, '/a')
  missAfter(5_000, '/b')
  expect(connection.readDisconnectedSince()).toBe(1_000_000)
})

test('one call is enough where the browser knows of no network', () => {
  vi.stubGlobal('navigator', { onLine: false })
  connection.recordResponse()
  missAfter(5_000, '/a')
  expect(connection.readDisconnectedSince()).toBe(1_000_000)
})
