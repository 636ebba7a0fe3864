import { readPlan, type WorkspacePlan } from '../../accounts/plans.ts'
import { warn } from '../../accounts/warn.ts'
import type { WithConfig } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { countArrivals, thisMonth } from './usage.ts'

const dayMs = 86_400_000
// Days before the end at which a warning leaves; 0: it has come.
const steps: Readonly<Record<WorkspacePlan['endsWith'], number[]>> = { trial: [0, 1, 3], plan: [0, 1, 7] }
// Part of the month's documents at which a warning leaves.
const nearly = 0.8

/** Warns of a trial or plan that ends soon or has ended, and of more documents than the plan has; of each once. */
export async function warnOfPlan(ctx: WithConfig, workspaceId: number): Promise<void> {
  const { plan, arrived, month } = await readWorkspace(ctx, workspaceId, async (ctx) => {
    const plan = await readPlan(ctx, workspaceId)
    const max = plan.documentsPerMonthMax
    const arrived = max === null ? 0 : await countArrivals(ctx, workspaceId)
    return { plan, arrived, month: await thisMonth(ctx) }
  })
  await warnOfEnd(ctx, workspaceId, plan)
  const max = plan.documentsPerMonthMax
  if (max === null || arrived < nearly * max) return
  await warn(ctx, workspaceId, {
    key: `plano/documentos/${month}/${arrived > max ? 'passou' : 'perto'}`,
    kind: 'plano-documentos',
    payload: { month },
    usefulMs: 7 * dayMs,
  })
}

async function warnOfEnd(ctx: WithConfig, workspaceId: number, plan: WorkspacePlan): Promise<void> {
  if (plan.endsAt === null || plan.leftMs === null) return
  const daysLeft = plan.leftMs / dayMs
  const list = steps[plan.endsWith]
  const step = list.find((days) => daysLeft <= days)
  if (step === undefined) return
  const endsAt = plan.endsAt.toISOString()
  // A plan that was ended and activated again may have the same end.
  const since = plan.endsWith === 'plan' && plan.paidFrom ? [plan.paidFrom.toISOString()] : []
  const next = list[list.indexOf(step) - 1]
  await warn(ctx, workspaceId, {
    key: ['plano', ...since, endsAt, step].join('/'),
    kind: step === 0 ? 'plano-terminou' : 'plano-termina',
    payload: { endsAt },
    // From then on the next one says it better.
    ...(next !== undefined && { usefulMs: Math.max(0, Math.round((daysLeft - next) * dayMs)) }),
  })
}
