import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { createLogger } from '../log.ts'
import { afterGrace, type JobSource, LeaseLost, lateLoops, repeat, startJobs, together } from './loop.ts'

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

  test('rests after a job that could not be let go', async () => {
    const failingToo = () => Promise.reject(new Error('not now either'))
    for (const kind of [{}, { postpone: failingToo }]) {
      const { run, worker } = failing(kind)
      await using _ = worker
      await rounds()
      expect(run).toHaveBeenCalledOnce()
    }
  })

  test('goes on after that rest', async () => {
    const { run, worker } = failing({ idleMs: 1 })
    await using _ = worker
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(2), 10_000)
  })

  test('goes on at once after a job that failed and was let go', async () => {
    const postpone = vi.fn(() => Promise.resolve())
    const { run, worker } = failing({ postpone })
    await using _ = worker
    await rounds()
    expect(run.mock.calls.length).toBeGreaterThan(2)
    expect(postpone.mock.calls.length).toBeGreaterThan(2)
  })

  test('is late when what it waits for hangs, and not while it only rests', async () => {
    const never = new AbortController()
    const hanging = () =>
      new Promise<never>((_, reject) => {
        never.signal.addEventListener('abort', () => reject(new Error('at last')))
      })
    const named = (name: string, claim: () => Promise<object | null>, run: () => Promise<void>) =>
      startJobs({ name, claim, run, concurrency: 1, idleMs: 4 * hourMs }, log)
    // The first hangs; a second ends, and the loop turns again and again.
    let begun = 0
    const others = async () => {
      await setImmediate()
      return {}
    }
    const oneHangs = () => (++begun === 1 ? hanging() : Promise.resolve())
    const idleMs = 4 * hourMs
    await using _ = {
      all: [
        named('a claim', hanging, () => Promise.resolve()),
        named('a job', () => Promise.resolve({}), hanging),
        startJobs({ name: 'one of many', claim: others, run: oneHangs, concurrency: 2, workMs: hourMs, idleMs }, log),
        repeat(
          1,
          async function slow() {
            await hanging()
          },
          log,
          4 * hourMs,
        ),
        named(
          'a rest',
          () => Promise.resolve(null),
          () => Promise.resolve(),
        ),
        repeat(1, hanging, log),
        repeat(9 * hourMs, async function resting() {}, log),
      ],
      async [Symbol.asyncDispose]() {
        const ended = this.all.map((one) => one[Symbol.asyncDispose]())
        never.abort()
        await Promise.all(ended)
      },
    }
    await rounds()
    expect(lateLoops()).toEqual([])
    const now = performance.now()
    const moved = vi.spyOn(performance, 'now').mockReturnValue(now + 0.5 * hourMs)
    expect(lateLoops()).toEqual(['hanging'])
    moved.mockReturnValue(now + 1.5 * hourMs)
    await rounds()
    expect(lateLoops().sort()).toEqual(['hanging', 'one of many'])
    moved.mockReturnValue(now + 2.5 * hourMs)
    expect(lateLoops().sort()).toEqual(['a job', 'hanging', 'one of many'])
    moved.mockReturnValue(now + 4.5 * hourMs)
    expect(lateLoops().sort()).toEqual(['a claim', 'a job', 'a rest', 'hanging', 'one of many', 'slow'])
    moved.mockRestore()
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
