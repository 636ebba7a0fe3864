import { planKinds } from '@vigia/contract/workspace'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { recordAudit } from '../audit/audit.ts'
import { keepMessage } from '../contact/contact.ts'
import { describePlan, type PlanType, widenTrial } from './plans.ts'

const requestLimit: Limit = { name: 'pedido de plano', times: 5, withinMs: 24 * 3_600_000 }

/**
 * Sends the wish for a plan to whoever runs the installation, with what they need to grant it; in a trial one with more room counts at once. Returns
 * the plan's name, where the answer goes, and the end of the trial that it counts for, or null.
 */
export async function sendRequest(
  { db, config }: Pick<Context, 'db' | 'config'>,
  session: Session,
  type: PlanType,
): Promise<{ plan: string; email: string; tried: Date | null }> {
  const { workspaceId, accountId } = session
  await countTry({ db }, requestLimit, String(workspaceId))
  const wanted = planKinds[type].name
  const { message } = await describePlan({ db, config }, workspaceId)
  const account = await readWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('account')
      .select(['name', 'email', 'phone'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .executeTakeFirstOrThrow(),
  )
  await keepMessage(
    { db, config },
    {
      name: account.name,
      email: account.email,
      ...(account.phone !== null && { phone: account.phone }),
      message: `Pedido do plano ${wanted}, feito em "Minha conta" por quem entrou com ${account.email}. Hoje: ${message}`,
      suspect: false,
    },
  )
  const tried = await inWorkspace({ db, config }, workspaceId, async (ctx) => {
    const tried = await widenTrial(ctx, workspaceId, type)
    const text = tried ? `Pediu o plano ${wanted}, que já vale até o fim do teste.` : `Pediu o plano ${wanted}.`
    await recordAudit(ctx, session, 'plano', text)
    return tried
  })
  return { plan: wanted, email: account.email, tried }
}
