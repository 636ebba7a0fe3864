import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { activatePlan, endPlan } from '../../accounts/plans.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { newWorkspace } from '../../platform/testing.ts'
import { warnOfPlan } from './warnings.ts'

const { ctx } = await useContext()
let workspaceId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(ctx.db)
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .insertInto('account')
      .values({
        workspace_id: workspaceId,
        email: `${crypto.randomUUID()}@exemplo.com.br`,
        name: 'Ana',
        password_hash: 'x',
        entered_at: new Date(),
      })
      .execute(),
  )
})

const corporate = { type: 3, until: null } as const
const setWorkspace = (change: string) =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update workspace set ${sql.raw(change)} where id = ${workspaceId}`.execute(db),
  )

/** Warnings of the workspace so far, without their dates; the review runs twice. */
async function told(): Promise<string[]> {
  for (let run = 0; run < 2; run++) await warnOfPlan(ctx, workspaceId)
  const notices = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('notice')
      .select('key')
      .where('workspace_id', '=', workspaceId)
      .orderBy('at')
      .orderBy('key')
      .execute(),
  )
  return notices.map(({ key }) => key.replace(/\/\d{4}-[^/]*/g, ''))
}

test('the end of the trial is told three days and one day before, and when it has come, once each', async () => {
  expect(await told()).toEqual([])
  await setWorkspace("trial_until = now() + interval '71 hours'")
  expect(await told()).toEqual(['plano/3'])
  await setWorkspace("trial_until = now() + interval '23 hours'")
  expect(await told()).toEqual(['plano/3', 'plano/1'])
  await setWorkspace("trial_until = now() - interval '1 hour'")
  expect(await told()).toEqual(['plano/3', 'plano/1', 'plano/0'])
})

test('the end of a plan is told seven days and one day before; a plan without an end brings no warning', async () => {
  await setWorkspace("trial_until = now() - interval '1 hour'")
  await activatePlan(ctx, workspaceId, corporate)
  expect(await told()).toEqual([])
  await setWorkspace("paid_until = now() + interval '6 days'")
  expect(await told()).toEqual(['plano/7'])
  await setWorkspace("paid_until = now() + interval '20 hours'")
  expect(await told()).toEqual(['plano/7', 'plano/1'])
})

test('a plan that was ended and activated to the same day again brings its warnings again', async () => {
  await setWorkspace("trial_until = now() - interval '1 hour'")
  const inFiveDays = new Date(Date.now() + 5 * 86_400_000)
  const until = inFiveDays.toLocaleDateString('sv-SE', { timeZone: 'America/Sao_Paulo' })
  await activatePlan(ctx, workspaceId, { type: 2, until })
  expect(await told()).toEqual(['plano/7'])
  await endPlan(ctx, workspaceId)
  expect(await told()).toEqual(['plano/7', 'plano/0'])
  await activatePlan(ctx, workspaceId, { type: 2, until })
  expect(await told()).toEqual(['plano/7', 'plano/0', 'plano/7'])
})

test('the end of a trial is told once, though a plan was active for a while', async () => {
  await setWorkspace("trial_until = now() + interval '71 hours'")
  expect(await told()).toEqual(['plano/3'])
  await activatePlan(ctx, workspaceId, corporate)
  await endPlan(ctx, workspaceId)
  expect(await told()).toEqual(['plano/3'])
})
