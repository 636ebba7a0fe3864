import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { useContext } from '../database.testing.ts'
import { asOperator } from '../database.ts'
import { claimJob, type Job, type JobKind, queueJob, renew, startQueue } from './jobs.ts'

const { ctx } = await useContext()
beforeEach(() => operate(sql`delete from job`))

async function operate<T>(query: ReturnType<typeof sql<T>>): Promise<T[]> {
  return asOperator(ctx, async ({ db }) => (await query.execute(db)).rows)
}

const kind = (run: JobKind['run'], parts: Partial<JobKind> = {}): JobKind => ({
  name: 'a',
  concurrency: 4,
  run,
  ...parts,
})
const queue = (workspaceId: number | null = 1, key = '', waitMs = 0) =>
  asOperator(ctx, (ctx) => queueJob(ctx, { kind: 'a', workspaceId, key, waitMs }))
const rows = () =>
  operate(sql<{ wait: number | null; attempts: number; error: string | null; held: boolean }>`
    select round(extract(epoch from nullif(run_at, 'infinity') - now()))::int as wait, attempts, error, lease is not null as held from job order by id`)
const becomes = (...expected: Awaited<ReturnType<typeof rows>>) =>
  vi.waitFor(async () => expect(await rows()).toEqual(expected), { timeout: 20_000, interval: 20 })

test('several processes carry each job out once', async () => {
  const seen: string[] = []
  const jobs = [
    kind(async (_, { key }) => {
      seen.push(key)
      return null
    }),
  ]
  for (const key of ['x', 'y', 'z']) await queue(1, key)
  await using _ = await startQueue(ctx, { jobs })
  await using __ = await startQueue(ctx, { jobs })
  await becomes()
  expect(seen.sort()).toEqual(['x', 'y', 'z'])
})

test('a job that waits is queued once, for the earlier time', async () => {
  await queue(1, '', 60_000)
  await queue(1, '', 30_000)
  await queue(1, '', 90_000)
  expect(await rows()).toEqual([{ wait: 30, attempts: 0, error: null, held: false }])
})

test('a job that is queued while it runs, runs once more', async () => {
  let runs = 0
  const jobs = [
    kind(async () => {
      if (++runs === 1) await queue()
      return null
    }),
  ]
  await queue()
  await using _ = await startQueue(ctx, { jobs })
  await becomes()
  expect(runs).toBe(2)
})

test('what fails is tried again later, and says why', async () => {
  const jobs = [
    kind(
      async (_, { key }) => {
        if (key === 'throws') throw new Error('a bug of ours')
        return { waitMs: 7_000, error: 'the server is away' }
      },
      { waits: [5_000] },
    ),
  ]
  await queue(1, 'throws')
  await queue(1, 'returns')
  {
    await using _ = await startQueue(ctx, { jobs })
    await becomes(
      { wait: expect.any(Number), attempts: 1, error: 'a bug of ours', held: false },
      { wait: expect.any(Number), attempts: 1, error: 'the server is away', held: false },
    )
  }
})

test('a job of a process that was killed is taken when its lease has ended, and the killed one may not settle it', async () => {
  await queue()
  const jobs = [kind(async () => null)]
  const claimed = await claimJob(ctx, jobs, [])
  expect(claimed).toMatchObject({ kind: 'a', workspaceId: 1, failures: 0 })
  expect(await claimJob(ctx, jobs, [])).toBeNull()
  await operate(sql`update job set lease_until = now() - interval '1 second'`)
  expect(await claimJob(ctx, jobs, [])).toMatchObject({ id: claimed!.id, failures: 1 })
})

test('the end of the program lets a job go as it was', async () => {
  await queue()
  await operate(sql`update job set attempts = 3, error = 'the server is away'`)
  const reached = Promise.withResolvers<void>()
  const jobs = [
    kind((_, __, signal) => {
      reached.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    }),
  ]
  {
    await using _ = await startQueue(ctx, { jobs })
    await reached.promise
  }
  expect(await rows()).toEqual([{ wait: 0, attempts: 3, error: 'the server is away', held: false }])
})

test('a cron is done by one process, and again after its time', async () => {
  let runs = 0
  const crons = [{ name: 'c', everyMs: 60_000, run: async () => void runs++ }]
  {
    await using _ = await startQueue(ctx, { jobs: [], crons })
    await using __ = await startQueue(ctx, { jobs: [], crons })
    await becomes({ wait: expect.any(Number), attempts: 0, error: null, held: false })
    await vi.waitFor(async () => expect((await rows())[0]!.wait).toBeGreaterThan(50))
  }
  expect(runs).toBe(1)
})

test('workspaces are served in turn, and what failed takes half of the places', async () => {
  for (const [workspaceId, key] of [
    [1, 'a'],
    [1, 'b'],
    [1, 'c'],
    [2, 'd'],
    [3, 'e'],
  ] as const)
    await queue(workspaceId, key)
  const one = kind(async () => null)
  const running: Job[] = []
  for (let job = await claimJob(ctx, [one], []); job; job = await claimJob(ctx, [one], [])) running.push(job)
  const served = running.map(({ workspaceId }) => workspaceId)
  expect(served.slice(0, 3).sort()).toEqual([1, 2, 3])
  const makeDue = (attempts: ReturnType<typeof sql>) =>
    operate(sql`update job set lease = null, lease_until = null, run_at = now(), attempts = ${attempts}`)
  // Failed ones go first, so that retries leave although fresh ones never end.
  await makeDue(sql`(key = 'e')::int`)
  expect(await claimJob(ctx, [one], [])).toMatchObject({ key: 'e', failures: 1 })
  await makeDue(sql`1`)
  const places = { ...one, concurrency: 2 }
  const failed = await claimJob(ctx, [places], [])
  expect(failed).toMatchObject({ failures: 1 })
  expect(await claimJob(ctx, [places], [failed!])).toBeNull()
})

test('a workspace takes no more places of a kind than it may, and without what the kind needs none', async () => {
  for (const key of ['a', 'b']) await queue(1, key)
  await queue(2, 'c')
  const one = kind(async () => null, { placesOfEach: 1 })
  const first = await claimJob(ctx, [one], [])
  const second = await claimJob(ctx, [one], [first!])
  expect([first!.workspaceId, second!.workspaceId].sort()).toEqual([1, 2])
  expect(await claimJob(ctx, [one], [first!, second!])).toBeNull()
  await asOperator(ctx, (ctx) => queueJob(ctx, { kind: 'b', workspaceId: 1 }))
  expect(await claimJob(ctx, [one, { ...one, name: 'b' }], [first!, second!])).toMatchObject({ kind: 'b' })
  expect(await claimJob(ctx, [kind(async () => null, { mayRun: () => false })], [])).toBeNull()
})

test('thousands of jobs that may not run keep no other from running', async () => {
  await operate(
    sql`insert into job (kind, workspace_id, key, run_at) select 'a', 1, n::text, now() - interval '1 day' from generate_series(1, 5002) n`,
  )
  await operate(
    sql`insert into job (kind, workspace_id, key, run_at, attempts) select 'a', 2, n::text, now() - interval '1 day', 1 from generate_series(1, 5002) n`,
  )
  await queue(3)
  const one = kind(async () => null, { placesOfEach: 1 })
  const running: Job[] = []
  for (let job = await claimJob(ctx, [one], running); job; job = await claimJob(ctx, [one], running)) running.push(job)
  expect(running.map(({ workspaceId }) => workspaceId).sort()).toEqual([1, 2, 3])
})

test('a transaction that queues a job again keeps no other lease from being renewed', async () => {
  const jobs = [kind(async () => null)]
  for (const key of ['x', 'y']) await queue(1, key)
  const running = new Set([(await claimJob(ctx, jobs, []))!, (await claimJob(ctx, jobs, []))!])
  await operate(sql`update job set lease_until = now()`)
  await asOperator(ctx, async (other) => {
    await queueJob(other, { kind: 'a', workspaceId: 1, key: 'x' })
    await renew(ctx, running)
  })
  expect(await operate(sql`select key from job where lease_until > now()`)).toEqual([{ key: 'y' }])
})

test('kinds take turns, so that none with much to do stops another', async () => {
  const one = kind(async () => null, { name: 'one' })
  const two = kind(async () => null, { name: 'two' })
  for (const key of ['a', 'b', 'c']) await asOperator(ctx, (ctx) => queueJob(ctx, { kind: 'one', workspaceId: 1, key }))
  await asOperator(ctx, (ctx) => queueJob(ctx, { kind: 'two', workspaceId: 1 }))
  const claimed = [await claimJob(ctx, [one, two], []), await claimJob(ctx, [one, two], [])]
  expect(claimed.map((job) => job?.kind).sort()).toEqual(['one', 'two'])
})
