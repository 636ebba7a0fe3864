import { getDashboard, getPlan, listAudit } from '@vigia/contract/workspace'
import { describePlan } from '../accounts/accounts.ts'
import { handle } from '../platform/http.ts'
import { auditPageSize, searchDeeds, searchedMax } from './audit.ts'
import { readDashboard } from './dashboard.ts'

export const dashboardRoutes = [
  handle(getDashboard, async (ctx, { session }) => {
    const { workspaceId } = session
    const { companies, latest, days, summaries, acknowledged } = await readDashboard(ctx, workspaceId)
    const sum = (pick: (company: (typeof companies)[number]) => number) =>
      companies.reduce((total, company) => total + pick(company), 0)
    return {
      data: {
        qtdNfe: sum((company) => company.nfe),
        qtdCte: sum((company) => company.cte),
        totalNfeCte: sum((company) => company.nfe + company.cte),
        qtdEmpresasCadastradas: companies.length,
        qtdDocumentosPorEmpresa: companies.map((company) => ({
          razaoSocial: company.name,
          qtdNfe: company.nfe,
          qtdCte: company.cte,
          totalNfeCte: company.nfe + company.cte,
          ativa: company.active,
          idEmpresa: company.publicId,
        })),
        ultimosDocumentosProcessados: latest.map((row) => ({
          tipoDfe: row.type,
          nomeEmitente: row.issuer_name,
          chaveDfe: row.chave,
          dataCadastro: row.created_at.toISOString(),
          idDfe: ctx.ids.encode(workspaceId, row.id),
        })),
        documentosPorDia: days.map(({ day, nfe, cte }) => ({ dia: day, qtdNfe: nfe, qtdCte: cte })),
        pendencias: {
          resumos: summaries,
          aguardandoResposta: acknowledged,
          canceladasNfe: sum((company) => company.cancelledNfe),
          canceladosCte: sum((company) => company.cancelledCte),
        },
      },
    }
  }),

  handle(listAudit, async (ctx, { query, session }) => {
    const { deeds, total, cutOff } = await searchDeeds(ctx, session.workspaceId, {
      action: query.Acao,
      text: query.CampoPesquisa,
      from: query.DataDe,
      to: query.DataAte,
      page: query.PaginaAtual,
    })
    return {
      data: {
        items: deeds.map((deed) => ({
          quando: deed.at.toISOString(),
          usuario: deed.actor,
          acao: deed.action,
          descricao: deed.description,
          endereco: deed.address,
        })),
        totalDePaginas: Math.ceil(total / auditPageSize),
      },
      ...(cutOff && { message: onlyNewest }),
    }
  }),

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
const onlyNewest = `A busca olhou os ${searchedMax.toLocaleString('pt-BR')} registros mais recentes do período. Para procurar nos anteriores, escolha um período que termine antes.`
