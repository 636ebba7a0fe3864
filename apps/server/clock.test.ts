import fc from 'fast-check'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byOwnClock, ownClock } from '../../tests/support/own-clock.ts'
import { runs } from '../../tests/support/seed.ts'
import { claimLine } from './capture/lease.ts'
import { movePauses } from './capture/pauses.ts'
import { newCompany, openInstallation, retireLines, rhythm, type TestContext } from './capture/testing.ts'
import { watchClock } from './platform/clock.ts'
import { inCapture, openDatabase } from './platform/database.ts'

// Three processes claim while the clock of the database is set, machines stand still, and processes end.

const slots = [0, 1, 2] as const
let installation: Awaited<ReturnType<typeof openInstallation>>
let ctx: TestContext
let owner: pg.Client
let processes: TestContext[]

beforeAll(async () => {
  installation = await openInstallation()
  ctx = installation.openProcess()
  owner = new pg.Client(installation.url)
  await owner.connect()
  await owner.query(ownClock)
  processes = slots.map(() => ({ ...ctx, db: openDatabase(byOwnClock(installation.url), { connections: 2 }) }))
})
afterAll(async () => {
  for (const { db } of processes ?? []) await db.destroy()
  await owner?.end()
  await installation?.[Symbol.asyncDispose]()
})

async function open() {
  await retireLines(ctx)
  await inCapture(ctx, ({ db }) => sql`delete from clock`.execute(db))
  await owner.query('delete from moved.jump')
  await newCompany(processes[0]!)
  let passedMs = 0
  const trueMs = () => performance.now() + passedMs
  const setClock = (ms: number) => owner.query("insert into moved.jump values ('-infinity', $1)", [ms])
  let offMs = 0
  const start = (slot: number, boot: string) => {
    const machine = { stoodMs: 0 }
    const watch = watchClock('capture', movePauses, () => trueMs() - machine.stoodMs, boot)
    return { ctx: processes[slot]!, watch, machine, hasClaimed: false }
  }
  const running = slots.map((slot) => start(slot, `machine ${slot}`))
  let starts = 0
  const askedAt = new Map<number, number>()
  return {
    async pass(ms: number) {
      passedMs += ms
      await setClock(ms)
    },
    /** Null: while the pauses follow the clock; otherwise how many lines it got. */
    async claim(slot: number): Promise<number | null> {
      const process = running[slot]!
      const claimed = await process.watch.claim(process.ctx, async (ctx) => ({ line: await claimLine(ctx) }))
      if (!claimed) return null
      process.hasClaimed = true
      const { line } = claimed
      if (!line) return 0
      const before = askedAt.get(line.service)
      if (before !== undefined) expect(trueMs() - before).toBeGreaterThan(rhythm.hourMs)
      askedAt.set(line.service, trueMs())
      await inCapture(process.ctx, ({ db }) =>
        sql`update capture_line set lease_by = null, lease_until = null, last_success_at = now(), state = 'waiting',
              next_at = now() + interval '65 minutes', allowed_at = now() + interval '61 minutes' where id = ${line.id}`.execute(
          db,
        ),
      )
      return 1
    },
    /** A jump that nobody sees before all end is known to nobody: so one sees it. */
    async jump(ms: number, back: boolean) {
      const slot = running.findIndex(({ hasClaimed }) => hasClaimed)
      if (slot < 0) return
      const by = back && offMs !== 0 ? -offMs : ms
      offMs += by
      await setClock(by)
      await this.claim(slot)
    },
    standStill(slot: number, ms: number) {
      running[slot]!.machine.stoodMs += ms
    },
    end(slot: number, elsewhere: boolean) {
      running[slot] = start(slot, elsewhere ? `start ${starts++}` : `machine ${slot}`)
    },
  }
}

const slot = fc.constantFrom(...slots)
const minuteMs = 60_000
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('claim' as const), slot }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(800, 1_500, 2_500, 6_000, 70_000, 10 * minuteMs, 25 * minuteMs),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      ms: fc.constantFrom(...[1, 5, 30, 60, 24 * 60].flatMap((minutes) => [minutes * minuteMs, -minutes * minuteMs])),
      back: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), slot, elsewhere: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stand' as const), slot, ms: fc.constant(10 * minuteMs) }) },
)

test('no pause of the authority ends early, and captures go on', async () => {
  const walk = fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 100 }), async (steps) => {
    const world = await open()
    for (const one of steps) {
      if (one.do === 'claim') await world.claim(one.slot)
      else if (one.do === 'pass') await world.pass(one.ms)
      else if (one.do === 'jump') await world.jump(one.ms, one.back)
      else if (one.do === 'end') world.end(one.slot, one.elsewhere)
      else world.standStill(one.slot, one.ms)
    }
    for (const ms of [...Array(8).fill(2_500), ...Array(16).fill(10 * minuteMs), 131 * minuteMs]) {
      await world.pass(ms)
      for (const slot of slots) await world.claim(slot)
    }
    await world.pass(131 * minuteMs)
    const last: (number | null)[] = []
    for (const slot of slots) last.push(await world.claim(slot))
    expect(last.toSorted()).toEqual([0, 1, 1])
  })
  await fc.assert(walk, { numRuns: runs(24), endOnFailure: true })
}, 600_000)
