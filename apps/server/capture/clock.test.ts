import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchClock } from '../platform/clock.ts'
import { inCapture } from '../platform/database.ts'
import { listTroubles } from '../platform/trouble.ts'
import { claimLine, readHeldLine } from './lease.ts'
import { quotaWait } from './ledger.ts'
import { movePauses } from './pauses.ts'
import { noteQuery } from './query.ts'
import { settle } from './settlement.ts'
import { skewSentence } from './skew.ts'
import { changeLines, linesOf, newCompany, openInstallation, retireLines, type TestContext } from './testing.ts'

// The clock of the database cannot be set here. Instead a process that watches it believes that less or more time has passed, and what was
// written before is moved as far.

const dayMs = 24 * 3_600_000
let installation: Awaited<ReturnType<typeof openInstallation>>
let ctx: TestContext
let other: TestContext

beforeAll(async () => {
  installation = await openInstallation()
  ctx = installation.openProcess()
  other = installation.openProcess()
})
afterAll(() => installation?.[Symbol.asyncDispose]())
beforeEach(async () => {
  await retireLines(ctx)
  await inCapture(ctx, ({ db }) => sql`delete from clock`.execute(db))
  await newCompany(ctx)
})

function watchedProcess(
  process: TestContext,
  { move = movePauses, boot }: { move?: typeof movePauses; boot?: null } = {},
) {
  let uptimeMs = 1e9
  const watch = watchClock('capture', move, () => uptimeMs, boot)
  return {
    claim: () => watch.claim(process, (ctx) => claimLine(ctx)),
    /** Time passes that the clock of the database does not show, or the other way round. */
    pass(ms: number) {
      uptimeMs += ms
    },
  }
}
const inMinutes = (minutes: number) => `now() + interval '${minutes} minutes'`
const waits = async () => (await linesOf(ctx)).map(({ nextIn }) => Math.round(nextIn))
const allowedIn = () =>
  inCapture(ctx, async ({ db }) => {
    const { rows } = await sql<{ minutes: number }>`
      select round(extract(epoch from max(allowed_at) - now()) / 60)::int as minutes from capture_line where next_at is not null`.execute(
      db,
    )
    return rows[0]!.minutes
  })

describe('when the clock is set', () => {
  test('a day ahead, no pause ends by it, in all processes', async () => {
    const [mine, theirs] = [watchedProcess(ctx), watchedProcess(other)]
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
    await changeLines(ctx, `next_at = next_at - interval '1 day', allowed_at = allowed_at - interval '1 day'`)
    // Written since by a turn under way.
    await changeLines(ctx, `next_at = case service when 2 then ${inMinutes(60)} else next_at end`)
    await changeLines(ctx, `trouble_since = case service when 2 then now() else now() - interval '25 hours' end`)
    for (const process of [mine, theirs]) process.pass(-dayMs)
    expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
    for (const process of [mine, theirs]) process.pass(2_000)
    expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
    expect([await waits(), await allowedIn()]).toEqual([[50, 60], 40])
    const since = (await linesOf(ctx)).map((line) => Math.round((Date.now() - line.trouble_since!.getTime()) / 60_000))
    expect(since).toEqual([60, 0])
    expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect([(await mine.claim())?.service, (await theirs.claim())?.service].sort()).toEqual([0, 2])
  })

  test('a process that starts meanwhile goes on from what those before it saw', async () => {
    const before = watchedProcess(ctx)
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect(await before.claim()).toBeNull()
    await changeLines(ctx, `next_at = next_at - interval '1 day', allowed_at = allowed_at - interval '1 day'`)
    const since = watchedProcess(other)
    since.pass(-dayMs)
    expect(await since.claim()).toBeNull()
    since.pass(2_000)
    expect(await since.claim()).toBeNull()
    expect([await waits(), await allowedIn()]).toEqual([[50, 50], 40])
  })

  test('right again, nothing waits a day', async () => {
    const mine = watchedProcess(ctx)
    expect(await mine.claim()).not.toBeNull()
    await changeLines(ctx, `lease_until = ${inMinutes(24 * 60 + 1)}, next_at = ${inMinutes(24 * 60 + 50)}`)
    await changeLines(ctx, `next_at = case service when 2 then ${inMinutes(60)} else next_at end`)
    mine.pass(dayMs)
    expect(await mine.claim()).toBeNull()
    mine.pass(2_000)
    expect(await mine.claim()).toBeNull()
    expect(await waits()).toEqual([50, 60])
    const [line] = await linesOf(ctx)
    expect(line!.lease_until!.getTime() - Date.now()).toBeLessThan(120_000)
  })

  test('and right again before the pauses followed, what was written meanwhile does not end early', async () => {
    const mine = watchedProcess(ctx)
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect(await mine.claim()).toBeNull()
    mine.pass(dayMs)
    expect(await mine.claim()).toBeNull()
    // By a turn under way, when the clock was a day behind.
    await changeLines(ctx, `next_at = case service when 2 then ${inMinutes(60)} - interval '1 day' else next_at end`)
    mine.pass(-dayMs)
    expect(await mine.claim()).toBeNull()
    mine.pass(2_000)
    expect(await mine.claim()).toBeNull()
    expect(await waits()).toEqual([50, 60])
    expect(await mine.claim()).toBeNull()
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect(await mine.claim()).not.toBeNull()
  })

  test('and right again after the process that saw it has ended, what was written meanwhile does not end early either', async () => {
    const [gone, since] = [watchedProcess(ctx), watchedProcess(other)]
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect(await gone.claim()).toBeNull()
    gone.pass(dayMs)
    expect(await gone.claim()).toBeNull()
    // By a turn under way, when the clock was a day behind; then both end, and the clock is set right.
    await changeLines(ctx, `next_at = case service when 2 then ${inMinutes(60)} - interval '1 day' else next_at end`)
    expect(await since.claim()).toBeNull()
    since.pass(2_000)
    expect(await since.claim()).toBeNull()
    expect(await waits()).toEqual([50, 60])
    // Once for all.
    const third = watchedProcess(other)
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect([(await since.claim())?.service, (await third.claim())?.service].sort()).toEqual([0, 2])
  })

  test('and whoever comes from another machine after the process that saw it has ended, no pause ends by it', async () => {
    const [gone, since] = [watchedProcess(ctx), watchedProcess(other, { boot: null })]
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect(await gone.claim()).toBeNull()
    await changeLines(ctx, `next_at = next_at - interval '1 day', allowed_at = allowed_at - interval '1 day'`)
    gone.pass(-dayMs)
    expect([await gone.claim(), await since.claim()]).toEqual([null, null])
    since.pass(2_000)
    expect(await since.claim()).toBeNull()
    expect([await waits(), await allowedIn()]).toEqual([[50, 50], 40])
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect(await since.claim()).not.toBeNull()
  })

  test('and two processes are to move the pauses at the same moment, one does and both go on', async () => {
    const waiting = async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and usename = current_user and wait_event_type = 'Lock'`.execute(other.db)
      expect(rows).toHaveLength(1)
    }
    const moved: number[] = []
    const move: typeof movePauses = async (ctx, jumpMs) => {
      if (jumpMs !== 0) {
        moved.push(jumpMs)
        theirs ??= second.claim()
        await vi.waitFor(waiting, { timeout: 20_000, interval: 10 })
      }
      return movePauses(ctx, jumpMs)
    }
    const [first, second] = [watchedProcess(ctx, { move }), watchedProcess(other)]
    let theirs: ReturnType<typeof second.claim> | undefined
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect([await first.claim(), await second.claim()]).toEqual([null, null])
    await changeLines(ctx, `next_at = next_at - interval '1 day', allowed_at = allowed_at - interval '1 day'`)
    for (const process of [first, second]) process.pass(-dayMs)
    expect([await first.claim(), await second.claim()]).toEqual([null, null])
    for (const process of [first, second]) process.pass(2_000)
    expect([await first.claim(), await theirs]).toEqual([null, null])
    expect([moved.length, await waits(), await allowedIn()]).toEqual([1, [50, 50], 40])
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect([(await first.claim())?.service, (await second.claim())?.service].sort()).toEqual([0, 2])
  })

  test('and a process of the last release moves the pauses, which writes down no doubt and clears none, captures go on', async () => {
    const mine = watchedProcess(ctx)
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect(await mine.claim()).toBeNull()
    mine.pass(-dayMs)
    expect(await mine.claim()).toBeNull()
    await inCapture(ctx, ({ db }) => sql`update clock set moved_ms = moved_ms + ${dayMs}::bigint`.execute(db))
    for (let claims = 0; claims < 2; claims++) {
      expect(await mine.claim()).toBeNull()
      mine.pass(2_000)
    }
    expect([await mine.claim(), await waits(), await allowedIn()]).toEqual([null, [50, 50], 40])
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect(await mine.claim()).not.toBeNull()
  })

  test('or only one process believes so, they do not set each other right for ever', async () => {
    const minutesMs = 600_000
    const [mine, theirs] = [watchedProcess(ctx), watchedProcess(other)]
    await changeLines(ctx, `next_at = ${inMinutes(50)}, allowed_at = ${inMinutes(40)}`)
    expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
    // Its machine stood still: it believes that the clock was set ahead.
    mine.pass(-minutesMs)
    for (let claims = 0; claims < 5; claims++) {
      expect([await mine.claim(), await theirs.claim()]).toEqual([null, null])
      for (const process of [mine, theirs]) process.pass(2_000)
    }
    expect((await waits()).every((minutes) => minutes >= 50)).toBe(true)
    await changeLines(ctx, `next_at = now(), allowed_at = now()`)
    expect([(await mine.claim())?.service, (await theirs.claim())?.service].sort()).toEqual([0, 2])
  })

  test('ahead, a query whose response may be lost does not look old', async () => {
    const mine = watchedProcess(ctx)
    const line = (await mine.claim())!
    await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
    await changeLines(ctx, `asked_at = asked_at - interval '1 day', lease_until = lease_until - interval '1 day'`)
    mine.pass(-dayMs)
    await mine.claim()
    mine.pass(2_000)
    await mine.claim()
    expect(await allowedIn()).toBe(65)
    expect((await readHeldLine(ctx, line)).askedMsAgo).toBeGreaterThan(dayMs - 1)
  })

  test('queries for single positions wait an hour', async () => {
    const mine = watchedProcess(ctx)
    const line = (await mine.claim())!
    const wait = () => inCapture(ctx, (ctx) => quotaWait(ctx, line))
    expect(await wait()).toBe(0)
    mine.pass(dayMs)
    await mine.claim()
    mine.pass(2_000)
    await mine.claim()
    expect(Math.round((await wait()) / 60_000)).toBe(61)
  })

  test('while nobody watched, pauses that no rule makes so long are brought back, others stay', async () => {
    await changeLines(ctx, `next_at = ${inMinutes(24 * 60)}, allowed_at = ${inMinutes(24 * 60)}`)
    await changeLines(
      ctx,
      `state = case service when 2 then 'stopped' else state end, last_success_at = ${inMinutes(9)}`,
    )
    expect(await watchedProcess(ctx).claim()).toBeNull()
    expect([await waits(), await allowedIn()]).toEqual([[130, 24 * 60], 65])
    for (const line of await linesOf(ctx)) expect(line.last_success_at!.getTime()).toBeLessThanOrEqual(Date.now())
  })
})

test('a moment in which nothing could be asked of the database is no jump of its clock', async () => {
  // Forty seconds pass while the second sample is taken.
  const uptimes = [0, 0, 0, 40_000]
  const watch = watchClock('capture', movePauses, () => uptimes.shift()!)
  const claim = () => watch.claim(ctx, (ctx) => claimLine(ctx))
  expect([(await claim())?.service, (await claim())?.service].sort()).toEqual([0, 2])
})

describe("the authority's clock", () => {
  const troubles = async () => (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`)

  async function respond(service: 0 | 2, aheadMs: number, brasilia = false): Promise<void> {
    await changeLines(
      ctx,
      `next_at = case service when ${service} then now() end, allowed_at = now(), lease_until = null`,
    )
    const line = (await claimLine(ctx))!
    expect(line.service).toBe(service)
    await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
    const at = Date.now() - aheadMs
    const dhResp = brasilia
      ? new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)
      : new Date(at).toISOString().replace(/\.\d+Z$/, '-00:00')
    const response = { cStat: 137, xMotivo: 'Nenhum', dhResp, ultNSU: null, maxNSU: null, documents: [] }
    const outcome = { response: { ...response, bytes: 1, durationMs: 1 }, durationMs: 1 }
    await settle(ctx, line, { kind: 'distNSU', holder: null }, outcome)
  }

  test('tells a wrong clock by two responses of a service in a row, until one agrees', async () => {
    await respond(0, dayMs)
    await respond(2, dayMs, true)
    expect(await troubles()).toEqual([])
    await respond(0, dayMs)
    expect(await troubles()).toEqual([expect.stringMatching(/^relogio: O relógio deste servidor está 24 h adiantado/)])
    await respond(0, -2 * 3_600_000)
    expect(await troubles()).toEqual([expect.stringMatching(/está 2 h atrasado|está 120 min atrasado/)])
    await respond(0, 1_000)
    expect(await troubles()).toEqual([])
  })

  test('is not believed when one response differs among others, nor without a time that can be read', async () => {
    for (const aheadMs of [0, dayMs, 0, dayMs, 4 * 60_000]) await respond(2, aheadMs, true)
    expect(await troubles()).toEqual([])
  })

  test('is named in words', () => {
    expect(
      [301, -7_200, 86_400, -864_000].map((seconds) => /está (.*) em relação/.exec(skewSentence(seconds))![1]),
    ).toEqual(['5 min adiantado', '2 h atrasado', '24 h adiantado', '10 dias atrasado'])
  })
})
