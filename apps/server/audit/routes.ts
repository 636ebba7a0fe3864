import { formatInteger } from '@vigia/contract/text'
import { listAudit } from '@vigia/contract/workspace'
import { handle, weights } from '../http/http.ts'
import { auditPageSize, searchAudit, searchedMax } from './audit.ts'

export const auditRoutes = [
  handle(listAudit, weights.ofSearch, async (ctx, { query, session }) => {
    const { entries, total, cutOff } = await searchAudit(ctx, session.workspaceId, {
      action: query.Acao,
      text: query.CampoPesquisa,
      from: query.DataDe,
      to: query.DataAte,
      page: query.PaginaAtual,
    })
    return {
      data: {
        items: entries.map((entry) => ({
          quando: entry.at.toISOString(),
          usuario: entry.actor,
          acao: entry.action,
          descricao: entry.description,
          endereco: entry.address,
        })),
        totalDePaginas: Math.ceil(total / auditPageSize),
      },
      ...(cutOff && { message: onlyNewest }),
    }
  }),
]

const onlyNewest = `A busca olhou os ${formatInteger(searchedMax)} registros mais recentes do período. Para procurar nos anteriores, escolha um período que termine antes.`
