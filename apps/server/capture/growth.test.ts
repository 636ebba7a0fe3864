import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { considerSize } from '../documents/documents.ts'
import { arrive, nfeProc } from '../documents/testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { deliverPage } from './delivery.ts'
import { claimLine, holdLine } from './lease.ts'
import { followPlan } from './plan.ts'
import { countWaiting, newCompany, openInstallation, type TestContext } from './testing.ts'

let installation: Awaited<ReturnType<typeof openInstallation>>
let ctx: TestContext

beforeAll(async () => {
  installation = await openInstallation()
  ctx = installation.openProcess()
})
afterAll(() => installation[Symbol.asyncDispose]())

test('the end of a plan, a page and the growth of one workspace do not stop one another', async () => {
  const { workspaceId, companyId } = await newCompany(ctx)
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await sql`insert into count_month values (${workspaceId}, 0, '2026-01-01', ${companyId}, 2, 2, 2000, 0)`.execute(db)
    await sql`update workspace set trial_until = now() - interval '1 second' where id = ${workspaceId}`.execute(db)
  })
  const line = (await claimLine(ctx))!
  const held = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const page = inCapture(ctx, async (ctx) => {
    await holdLine(ctx, line, { last_nsu: 1n })
    held.resolve()
    await goOn.promise
    await deliverPage(ctx, line, [arrive(1, nfeProc({ number: 1 }))], { before: 0n, after: 1n, more: false })
  })
  await held.promise
  const end = followPlan(ctx, workspaceId)
  await vi.waitFor(async () => expect(await countWaiting(ctx)).toBe(1), { timeout: 20_000 })
  // It finds the row taken, and another turn will look again.
  await considerSize(ctx, workspaceId)
  goOn.resolve()
  await Promise.all([page, end])
  await considerSize(ctx, workspaceId)
  const { large } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db.selectFrom('workspace').select('large').where('id', '=', workspaceId).executeTakeFirstOrThrow(),
  )
  expect(large).toBe(true)
})
