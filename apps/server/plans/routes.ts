import { getPlan } from '@vigia/contract/workspace'
import { handle } from '../http/http.ts'
import { describePlan } from './plans.ts'

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
]

const situations = { trial: 'teste', active: 'ativo', ended: 'encerrado' } as const
