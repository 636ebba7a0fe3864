import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { newCompany, useInstallation } from '../capture/testing.ts'
import { asOperator, asScheduler, inWorkspace } from '../platform/database.ts'
import { queueJob } from '../platform/jobs/jobs.ts'
import { announce } from '../platform/outbox.ts'
import { pausesOf, shortenPauses } from './pauses.ts'

const { url, ctx } = await useInstallation()
let workspaceId: number

beforeAll(async () => {
  workspaceId = (await newCompany(ctx)).workspaceId
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`insert into job (kind, workspace_id) values ('x', ${workspaceId})`.execute(db),
  )
})

async function hoursAfter(table: string, change: string): Promise<Record<string, number | null>> {
  await asScheduler(ctx, ({ db }) => sql`update ${sql.table(table)} set ${sql.raw(change)}`.execute(db))
  await shortenPauses(ctx)
  const { rows } = await asScheduler(ctx, ({ db }) =>
    sql<{ row: Record<string, string | null> }>`select to_jsonb(t) as row from ${sql.table(table)} t limit 1`.execute(
      db,
    ),
  )
  const hours = (time: string) => (time === 'infinity' ? Infinity : (Date.parse(time) - Date.now()) / 3_600_000)
  const columns = [...change.matchAll(/(\w+) = /g)].flatMap(([, column]) =>
    /^(state|kind|key)$/.test(column!) ? [] : column!,
  )
  const { row } = rows[0]!
  return Object.fromEntries(
    columns.map((column) => [column, row[column] ? Number(hours(row[column]).toFixed(1)) : null]),
  )
}

const inHours = (hours: number) => `now() + interval '${hours} hours'`

test('what lies further ahead than any rule waits is written back', async () => {
  const far = inHours(400 * 24)
  expect(
    await hoursAfter('capture_line', `state = 'waiting', next_at = ${far}, allowed_at = ${far}, lease_until = ${far}`),
  ).toEqual({ next_at: 2.2, allowed_at: 1.1, lease_until: 0.2 })
  await asOperator(ctx, ({ db }) => sql`delete from job where kind <> 'x'`.execute(db))
  expect(await hoursAfter('job', `attempts = 1, run_at = ${far}, lease_until = ${far}`)).toMatchObject({
    run_at: 24,
    lease_until: 0.2,
  })
})

test('a job waits a day at most', async () => {
  const far = inHours(400 * 24)
  await inWorkspace(ctx, workspaceId, (ctx) => queueJob(ctx, { kind: 'review', workspaceId }))
  expect(await hoursAfter('job', `attempts = 0, kind = 'review', key = id::text, run_at = ${far}`)).toMatchObject({
    run_at: 24,
  })
})

test('a table that refuses does not keep those behind it from being written back', async () => {
  await inWorkspace(ctx, workspaceId, (ctx) => announce(ctx, workspaceId, { what: 'x' }))
  await execute(url, 'alter table circuit rename to gone')
  expect(await hoursAfter('happening', `ready_at = ${inHours(400 * 24)}`)).toEqual({ ready_at: 0 })
  await execute(url, 'alter table gone rename to circuit')
})

test('what a rule makes wait stays, and so does what waits for an act', async () => {
  expect(
    await hoursAfter(
      'capture_line',
      `state = 'stopped', next_at = ${inHours(23)}, allowed_at = ${inHours(1)}, lease_until = null`,
    ),
  ).toEqual({ next_at: 23, allowed_at: 1, lease_until: null })
  expect(await hoursAfter('job', "run_at = 'infinity'")).toEqual({ run_at: Infinity })
})

test('every column that makes a row wait is looked at', async () => {
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql<{ pause: string }>`
      select table_name || '.' || column_name as pause from information_schema.columns
       where table_schema = 'public' and column_name in ('next_at', 'allowed_at', 'gap_at', 'catch_up_at', 'lease_until', 'rests_until', 'open_until', 'ready_at')
         and table_name not in (select table_name from information_schema.views)`.execute(db),
  )
  const seen = new Set(pausesOf(ctx.config).map(([table, column]) => `${table}.${column}`))
  expect(rows.map(({ pause }) => pause).filter((pause) => !seen.has(pause))).toEqual([])
})
