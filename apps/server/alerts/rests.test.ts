import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { moveRests as moveContentRests } from '../contents/following.ts'
import { watchClock } from '../platform/clock.ts'
import type { Context } from '../platform/context.ts'
import { asOperator, inCapture, inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { newWorkspace } from '../platform/testing.ts'
import { moveRests } from './following.ts'

// The clock of the database cannot be set here. Instead who watches it believes that more time has passed, and what rests was written by a clock that was ahead.

const dayMs = 24 * 3_600_000
let database: Awaited<ReturnType<typeof createDatabase>>
let ctx: Context
let workspaceId: number

beforeAll(async () => {
  database = await createDatabase()
  ctx = { db: openDatabase(database.url), log: createLogger('silent') } as Context
})
afterAll(async () => {
  await ctx.db.destroy()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await inCapture(ctx, ({ db }) => sql`delete from clock`.execute(db))
  workspaceId = await newWorkspace(ctx.db)
})

const followers = ['alert_position', 'content_position'] as const

async function rest(lease: string, next: string): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    for (const table of followers)
      await sql`
        insert into ${sql.table(table)} (workspace_id, version, lease_until, next_at) values (${workspaceId}, 0, now() + ${lease}::interval, ${sql.raw(next)})
        on conflict (workspace_id) do update set lease_until = excluded.lease_until, next_at = excluded.next_at`.execute(
        db,
      )
    await sql`
      insert into alert_test (workspace_id, rule, since, type, left_of_type, total, capped, unread, counts, strongest, lease_until)
      values (${workspaceId}, 'S01', now() at time zone 'UTC', 0, 1, 1, false, false, '{}', '[]', now() + ${lease}::interval)
      on conflict (workspace_id, rule) do update set lease_until = excluded.lease_until`.execute(db)
  })
}

const seconds = (column: string) => sql`extract(epoch from ${sql.ref(column)} - clock_timestamp())::float8`
const leases = () =>
  asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<{ left: number; next: number }>`
      select ${seconds('lease_until')} as left, ${seconds('next_at')} as next from alert_position where workspace_id = ${workspaceId}
      union all select ${seconds('lease_until')}, ${seconds('next_at')} from content_position where workspace_id = ${workspaceId}
      union all select ${seconds('lease_until')}, 0 from alert_test where workspace_id = ${workspaceId}`.execute(db)
    return rows
  })

function watched() {
  let uptimeMs = 1e9
  const clocks = [
    watchClock('alerts', moveRests, () => uptimeMs),
    watchClock('contents', moveContentRests, () => uptimeMs),
  ]
  return {
    look: async () => {
      for (const clock of clocks) await clock.claim(ctx, async () => null)
    },
    pass: (ms: number) => {
      uptimeMs += ms
    },
  }
}

test('when the clock is set back a day, nobody whose alerts or contents rest waits a day', async () => {
  const { look, pass } = watched()
  await look()
  await rest('1 day 50 s', "now() + interval '1 day' - interval '1 s'")
  pass(dayMs)
  await look()
  pass(2_000)
  await look()
  for (const { left, next } of await leases()) {
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(50)
    expect(next).toBeLessThanOrEqual(0)
  }
})

test('when the process that saw the clock set ahead has ended, and it is right again, nobody waits a day either', async () => {
  const gone = watched()
  await gone.look()
  gone.pass(-dayMs)
  await gone.look()
  await rest('1 day 50 s', "now() + interval '1 day' - interval '1 s'")
  const since = watched()
  await since.look()
  since.pass(2_000)
  await since.look()
  for (const { left, next } of await leases()) {
    expect(left).toBeLessThanOrEqual(150)
    expect(next).toBeLessThanOrEqual(0)
  }
})

test('what is due by the calendar, or by nothing, is not looked at sooner for that', async () => {
  for (const next of ["now() + interval '3 days'", "'infinity'"]) {
    const { look, pass } = watched()
    await look()
    await rest('50 s', next)
    pass(dayMs)
    await look()
    pass(2_000)
    await look()
    const nexts = (await leases()).slice(0, followers.length).map(({ next }) => next)
    expect(Math.min(...nexts)).toBeGreaterThan(2 * 86_400)
    await inCapture(ctx, ({ db }) => sql`delete from clock`.execute(db))
  }
})

test('what was set back while nobody watched is brought back, and a turn under way keeps its lease', async () => {
  await rest('1 day', 'now()')
  await watched().look()
  expect(Math.max(...(await leases()).map(({ left }) => left))).toBeLessThanOrEqual(150)
  await rest('119 s', 'now()')
  const leasesOf = () =>
    asOperator(
      ctx,
      async ({ db }) =>
        (await sql`select lease_until::text from alert_position where workspace_id = ${workspaceId}`.execute(db)).rows,
    )
  const held = await leasesOf()
  await watched().look()
  expect(await leasesOf()).toEqual(held)
})
