import { getDashboard } from '@vigia/contract/workspace'
import { handle, weights } from '../http/http.ts'
import { listNotices } from '../platform/trouble.ts'
import { readDashboard } from './dashboard.ts'

export const dashboardRoutes = [
  handle(getDashboard, weights.heavy, async (ctx, { session }) => {
    const { workspaceId } = session
    const { companies, latest, days, summaries, acknowledged } = await readDashboard(ctx, workspaceId)
    const notices = await listNotices(ctx)
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
        avisos: notices.map(({ text }) => text),
        armazenamentoSaudavel: !notices.some(({ key }) => key === 'espaco'),
      },
    }
  }),
]
