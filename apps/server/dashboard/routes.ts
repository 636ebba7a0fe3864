import { getDashboard } from '@vigia/contract/workspace'
import { handle } from '../platform/http.ts'
import { readDashboard } from './dashboard.ts'

export const dashboardRoutes = [
  handle(getDashboard, async (ctx, { session }) => {
    const { companies, latest } = await readDashboard(ctx, session.workspaceId)
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
        })),
        ultimosDocumentosProcessados: latest.map((row) => ({
          tipoDfe: row.type,
          nomeEmitente: row.issuer_name,
          chaveDfe: row.chave,
          dataCadastro: row.created_at.toISOString(),
        })),
      },
    }
  }),
]
