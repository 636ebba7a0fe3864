import { afterEach, expect, test, vi } from 'vitest'
import type { TestTask } from './threads.testing.ts'
import { createThreads, type Threads, type ThreadsOptions } from './threads.ts'

const opened: Threads<TestTask, unknown>[] = []
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads[Symbol.asyncDispose]()
})

function open(options: Partial<ThreadsOptions> = {}): Threads<TestTask, unknown> {
  const threads = createThreads<TestTask, unknown>({
    file: new URL('./threads.testing.ts', import.meta.url),
    threads: 1,
    waitingMax: 10,
    timeoutMs: 30_000,
    memoryMb: 32,
    idleMs: 30_000,
    ...options,
  })
  opened.push(threads)
  return threads
}

/** Work that ends when the test says so. */
function gate() {
  const buffer = new SharedArrayBuffer(4)
  const state = new Int32Array(buffer)
  return {
    waitFor: buffer,
    open: () => {
      Atomics.store(state, 0, 1)
      Atomics.notify(state, 0)
    },
  }
}

test.each([
  ['throws', 'throw', /poisoned/],
  ['ends its thread', 'exit', /exit code 3/],
  ['eats its memory', 'hoard', /memory/i],
] as const)('work that %s takes nothing else along', async (_, task, cause) => {
  const threads = open()
  const poisoned = threads.run(task)
  const next = threads.run({ add: [1, 2] })
  const error: Error = await poisoned.then(
    () => expect.unreachable(),
    (error) => error,
  )
  expect(error).toMatchObject({ name: 'ThreadError', reason: 'died' })
  expect(String(error.cause)).toMatch(cause)
  expect(await next).toBe(3)
})

test('work that takes too long is ended, and the thread replaced', async () => {
  const threads = open({ timeoutMs: 1_500 })
  const looping = threads.run('loop')
  const next = threads.run({ add: [1, 2] })
  await expect(looping).rejects.toMatchObject({ reason: 'too-slow' })
  expect(await next).toBe(3)
})

test('more work than may wait is refused at once', async () => {
  const threads = open({ waitingMax: 2 })
  const busy = gate()
  const running = threads.run({ waitFor: busy.waitFor })
  const waiting = [threads.run({ add: [1, 1] }), threads.run({ add: [2, 2] })]
  await expect(threads.run({ add: [3, 3] })).rejects.toMatchObject({ reason: 'full' })
  expect(threads.use()).toMatchObject({ people: 2, patient: 0 })
  busy.open()
  expect(await Promise.all([running, ...waiting])).toEqual(['waited', 2, 4])
})

test('work of people does not wait for the end of patient work, which has a thread less', async () => {
  const threads = open({ threads: 2 })
  const busy = gate()
  const patient = Array.from({ length: 3 }, () => threads.run({ waitFor: busy.waitFor }, { patient: true }))
  expect(await threads.run({ add: [1, 2] })).toBe(3)
  expect(threads.use()).toEqual({ threads: 2, people: 0, patient: 2 })
  busy.open()
  await Promise.all(patient)
})

test('a thread without work ends, and comes back when it is needed', async () => {
  const threads = open({ idleMs: 1 })
  expect(await threads.run({ add: [1, 2] })).toBe(3)
  await expect.poll(() => threads.use().threads).toBe(0)
  expect(await threads.run({ add: [2, 2] })).toBe(4)
})

test('a thread that died without work does not take the place of another along', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const threads = open({ threads: 2, idleMs: 1_000 })
    await Promise.all([threads.run('finish'), threads.run({ add: [1, 2] })])
    await expect.poll(() => threads.use().threads).toBe(1)
    vi.advanceTimersByTime(500)
    await threads.run({ add: [1, 2] })
    vi.advanceTimersByTime(600)
    await threads.run({ add: [1, 2] })
    expect(threads.use().threads).toBe(1)
  } finally {
    vi.useRealTimers()
  }
})

test('what runs and what waits ends with the program', async () => {
  const threads = open()
  const all = [threads.run('loop'), threads.run({ add: [1, 2] })]
  const settled = Promise.allSettled(all)
  await threads[Symbol.asyncDispose]()
  for (const one of await settled) expect(one).toMatchObject({ status: 'rejected', reason: { reason: 'closed' } })
  await expect(threads.run({ add: [1, 2] })).rejects.toMatchObject({ reason: 'closed' })
})

test('work that nobody waits for any more is not begun', async () => {
  const threads = open()
  const first = gate()
  const running = threads.run({ waitFor: first.waitFor })
  await expect(threads.run({ add: [1, 2] }, { withinMs: 0 })).rejects.toMatchObject({ reason: 'too-slow' })
  expect(threads.use().people).toBe(0)
  first.open()
  expect(await running).toBe('waited')
})
