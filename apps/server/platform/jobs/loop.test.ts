import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { createLogger } from '../log.ts'
import { afterGrace, type JobSource, LeaseLost, startJobs, together } from './loop.ts'

const log = createLogger('silent')
const hourMs = 3_600_000
const rounds = async () => {
  for (let turn = 0; turn < 200; turn++) await setImmediate()
}

describe('the loop', () => {
  const failing = (kind: Partial<JobSource<object>>, error: Error = new Error('the database says no')) => {
    const run = vi.fn(() => Promise.reject(error))
    const claim = async () => {
      await setImmediate()
      return {}
    }
    return { run, worker: startJobs({ name: 'test', claim, run, concurrency: 1, idleMs: hourMs, ...kind }, log) }
  }

  test('goes on at once after a job that failed and was let go', async () => {
    const postpone = vi.fn(() => Promise.resolve())
    const { run, worker } = failing({ postpone })
    await using _ = worker
    await rounds()
    expect(run.mock.calls.length).toBeGreaterThan(2)
    expect(postpone.mock.calls.length).toBeGreaterThan(2)
  })

  test('leaves a job alone that another process took over', async () => {
    const postpone = vi.fn(() => Promise.resolve())
    const { run, worker } = failing({ postpone }, new LeaseLost('gone'))
    await using _ = worker
    await rounds()
    expect(run.mock.calls.length).toBeGreaterThan(2)
    expect(postpone).not.toHaveBeenCalled()
  })

  test('waits after a claim that found nothing, and after one that failed', async () => {
    for (const found of [() => Promise.resolve(null), () => Promise.reject(new Error('no database'))]) {
      const claim = vi.fn(found)
      await using _ = startJobs({ name: 'test', claim, run: async () => {}, concurrency: 1, idleMs: hourMs }, log)
      await rounds()
      expect(claim).toHaveBeenCalledOnce()
    }
  })

  test('claims again as soon as a job ends, also one that ends during a claim that finds nothing', async () => {
    for (const duringClaim of [false, true]) {
      let end = () => {}
      let claims = 0
      const claim = async () => {
        claims += 1
        if (claims === 1) return {}
        if (claims === 2 && duringClaim) {
          end()
          await setImmediate()
        }
        return null
      }
      const run = () =>
        new Promise<void>((resolve) => {
          end = resolve
        })
      await using _ = startJobs({ name: 'test', claim, run, concurrency: 9, idleMs: hourMs }, log)
      await rounds()
      if (!duringClaim) {
        expect(claims).toBe(2)
        end()
        await rounds()
      }
      expect(claims).toBe(3)
    }
  })

  test('carries out as many jobs at the same time as allowed, and tells each claim of them', async () => {
    const ends: (() => void)[] = []
    const seen: number[] = []
    const worker = startJobs(
      {
        name: 'test',
        claim: (running) => {
          seen.push(running.length)
          return Promise.resolve({ number: seen.length })
        },
        run: () => new Promise<void>((end) => ends.push(end)),
        concurrency: 2,
        idleMs: hourMs,
      },
      log,
    )
    await rounds()
    expect(seen).toEqual([0, 1])
    ends[0]!()
    await rounds()
    expect(seen).toEqual([0, 1, 1])
    const disposed = worker[Symbol.asyncDispose]()
    for (const end of ends) end()
    await disposed
  })

  test('when disposed, tells the jobs under way and waits for them', async () => {
    let end = () => {}
    let signal: AbortSignal | undefined
    const run = (_: object, given: AbortSignal) => {
      signal = given
      return new Promise<void>((resolve) => {
        end = resolve
      })
    }
    const worker = startJobs(
      { name: 'test', claim: () => Promise.resolve({}), run, concurrency: 1, idleMs: hourMs },
      log,
    )
    await rounds()
    let isOver = false
    const disposed = worker[Symbol.asyncDispose]().then(() => {
      isOver = true
    })
    await rounds()
    expect({ aborted: signal?.aborted, isOver }).toEqual({ aborted: true, isOver: false })
    end()
    await disposed
    expect(isOver).toBe(true)
  })
})

test('loops that belong together are all told before any has ended, and one that fails does not end the wait', async () => {
  const told: string[] = []
  const last = Promise.withResolvers<void>()
  const loop = (name: string, ended: () => Promise<void>) => ({
    [Symbol.asyncDispose]: () => {
      told.push(name)
      return ended()
    },
  })
  const failing = loop('failing', () => Promise.reject(new Error('it cannot')))
  const all = together([failing, loop('slow', () => last.promise), loop('quick', () => Promise.resolve())])
  const ends: string[] = []
  const ending = Promise.resolve(all[Symbol.asyncDispose]()).catch((error: Error) => void ends.push(error.message))
  expect(told).toEqual(['failing', 'slow', 'quick'])
  await rounds()
  expect(ends).toEqual([])
  last.resolve()
  await ending
  expect(ends).toEqual(['it cannot'])
})

describe('the grace of a job under way', () => {
  test('begins when the process ends, and not before', () => {
    vi.useFakeTimers()
    const [end, cut] = [new AbortController(), vi.fn()]
    using _ = afterGrace(end.signal, 10_000, cut)
    vi.advanceTimersByTime(60_000)
    end.abort()
    vi.advanceTimersByTime(9_999)
    expect(cut).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(cut).toHaveBeenCalledOnce()
    vi.useRealTimers()
  })

  test('is of no consequence when the job ended before', () => {
    vi.useFakeTimers()
    const cut = vi.fn()
    afterGrace(AbortSignal.abort(), 10_000, cut)[Symbol.dispose]()
    vi.advanceTimersByTime(60_000)
    expect(cut).not.toHaveBeenCalled()
    vi.useRealTimers()
  })
})
