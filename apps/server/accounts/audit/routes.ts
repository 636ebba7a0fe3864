import { formatInteger } from '@vigia/contract/text'
import { type AuditRow, downloadAudit, exportAudit, listAudit } from '@vigia/contract/workspace'
import { handle } from '../../platform/http/http.ts'
import type { Caller, Session } from '../../platform/http/session.ts'
import { countTry, type Limit, networkOf } from '../../platform/http/throttle.ts'
import { type AuditEntry, auditPageSize, searchAudit, searchedMax } from './audit.ts'
import { linkAudit, openAudit } from './export.ts'

const exportsOfAudit: Limit = { name: 'audit-link', times: 20, withinMs: 3_600_000 }

export const auditRoutes = [
  handle(listAudit, 'search', async (ctx, { query, session }) => {
    const { entries, total, cutOff } = await searchAudit(ctx, session.workspaceId, {
      action: query.Acao,
      text: query.CampoPesquisa,
      from: query.DataDe,
      to: query.DataAte,
      page: query.PaginaAtual,
    })
    return {
      data: { items: entries.map(toRow), totalDePaginas: Math.ceil(total / auditPageSize) },
      ...(cutOff && { message: onlyNewest }),
    }
  }),

  handle(exportAudit, async (ctx, { session, caller }) => {
    await countTry(ctx, exportsOfAudit, whoOf(session, caller))
    const { ticket, validUntil, fileName } = linkAudit(ctx, session)
    const endereco = downloadAudit.path.replace('{bilhete}', ticket)
    return { data: { endereco, validoAte: validUntil.toISOString(), nome: fileName } }
  }),
  handle(downloadAudit, 'waiting', (ctx, { params, caller }) => openAudit(ctx, params.bilhete, caller)),
]

// All who visit a shared account are strangers to each other.
function whoOf({ shared, workspaceId }: Session, { address }: Caller): string {
  return shared ? networkOf(address) : String(workspaceId)
}

function toRow({ at, actor, action, description, address, times }: AuditEntry): AuditRow {
  const descricao = times > 1 ? `${description} (${formatInteger(times)} vezes em uma hora)` : description
  return { quando: at.toISOString(), usuario: actor, acao: action, descricao, endereco: address }
}

const onlyNewest = `A busca olhou os ${formatInteger(searchedMax)} registros mais recentes do período. Para procurar nos anteriores, escolha um período que termine antes.`
