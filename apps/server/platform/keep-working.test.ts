import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { keepWorking } from './keep-working.ts'
import { createLogger } from './log.ts'

const log = createLogger('silent')
const hourMs = 3_600_000

const failing = (idleMs: number) => {
  const carryOut = vi.fn(() => Promise.reject(new Error('the database says no')))
  return { carryOut, worker: keepWorking({ claim: () => Promise.resolve('again'), carryOut, atOnce: 1, idleMs }, log) }
}

test('after a piece that failed there is a pause', async () => {
  const { carryOut, worker } = failing(hourMs)
  await using _ = worker
  for (let turn = 0; turn < 200; turn++) await setImmediate()
  expect(carryOut).toHaveBeenCalledOnce()
})

test('after the pause it is tried again', async () => {
  const { carryOut, worker } = failing(1)
  await using _ = worker
  await vi.waitFor(() => expect(carryOut.mock.calls.length).toBeGreaterThan(2), 10_000)
})
