import { planKinds } from '@vigia/contract/codes'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { getPlan, requestPlan } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { keepMessage } from '../../accounts/contact/contact.ts'
import { type PlanType, widenTrial } from '../../accounts/plans.ts'
import type { WithConfig } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { describePlan } from './usage.ts'

export const planRoutes = [
  handle(getPlan, async (ctx, { session }) => ({ data: await describePlan(ctx, session.workspaceId) })),

  handle(requestPlan, async (ctx, { body, session }) => {
    const { plan, email, tried } = await sendRequest(ctx, session, body.tipoPlano)
    const received = `Recebemos o pedido do plano ${plan}. Respondemos pelo e-mail ${email}.`
    const message = tried
      ? `O teste já é do plano ${plan}, até ${formatBrasiliaMoment(tried)}. Para ficar com ele depois, respondemos pelo e-mail ${email}.`
      : received
    return { data: null, message }
  }),
]

const requestLimit: Limit = { name: 'pedido de plano', times: 5, withinMs: 24 * 3_600_000 }

/** Sends the wish for a plan to the operator; in a trial a larger one counts at once. Returns its name, the address and the trial's end, or null. */
export async function sendRequest(
  { db, config }: WithConfig,
  session: Session,
  type: PlanType,
): Promise<{ plan: string; email: string; tried: Date | null }> {
  const { workspaceId, accountId } = session
  await countTry({ db }, requestLimit, String(workspaceId))
  const wanted = planKinds[type].name
  const { mensagem } = await describePlan({ db, config }, workspaceId)
  const { rows } = await readWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ name: string; email: string; phone: string | null }>`
      select name, email, phone from account where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db),
  )
  const account = rows[0]!
  await keepMessage(
    { db, config },
    {
      nome: account.name,
      email: account.email,
      ...(account.phone !== null && { celular: account.phone }),
      mensagem: `Pedido do plano ${wanted}, feito em "Minha conta" por quem entrou com ${account.email}. Hoje: ${mensagem}`,
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
