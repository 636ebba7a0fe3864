import { getPlan, requestPlan } from '@vigia/contract/workspace'
import { handle } from '../http/http.ts'
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
    const { plan, email } = await sendRequest(ctx, session, body.tipoPlano)
    return { data: null, message: `Recebemos o pedido do plano ${plan}. Respondemos pelo e-mail ${email}.` }
  }),
]

const situations = { trial: 'teste', active: 'ativo', ended: 'encerrado' } as const
