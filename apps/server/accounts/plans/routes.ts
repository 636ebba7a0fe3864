import { formatBrasiliaMoment } from '@vigia/contract/text'
import { getPlan, requestPlan } from '@vigia/contract/workspace'
import { handle } from '../../platform/http/http.ts'
import { describePlan } from './plans.ts'
import { sendRequest } from './request.ts'

export const planRoutes = [
  handle(getPlan, async (ctx, { session }) => {
    const plan = await describePlan(ctx, session.workspaceId)
    return {
      data: {
        tipoPlano: plan.type,
        nome: plan.name,
        situacao: situations[plan.situation],
        mensagem: plan.message,
        testeAte: plan.trialUntil.toISOString(),
        pagoAte: plan.paidUntil?.toISOString() ?? null,
        capturaPausada: plan.pausedAt !== null,
        empresas: { usadas: plan.companies, limite: plan.companiesMax },
        documentosNoMes: { usadas: plan.documentsThisMonth, limite: plan.documentsPerMonthMax },
      },
    }
  }),

  handle(requestPlan, async (ctx, { body, session }) => {
    const { plan, email, tried } = await sendRequest(ctx, session, body.tipoPlano)
    const received = `Recebemos o pedido do plano ${plan}. Respondemos pelo e-mail ${email}.`
    const message = tried
      ? `O teste já é do plano ${plan}, até ${formatBrasiliaMoment(tried)}. Para ficar com ele depois, respondemos pelo e-mail ${email}.`
      : received
    return { data: null, message }
  }),
]

const situations = { trial: 'teste', active: 'ativo', ended: 'encerrado' } as const
