import { formatInteger } from '@vigia/contract/text'
import { downloadAudit, exportAudit, listAudit } from '@vigia/contract/workspace'
import { handle } from '../../platform/http/http.ts'
import { countTry, type Limit, networkOf } from '../../platform/http/throttle.ts'
import { auditPageSize, countedText, searchAudit, searchedMax } from './audit.ts'
import { linkAudit, openAudit } from './export.ts'

const exportsOfAudit: Limit = { name: 'audit-link', times: 20, withinMs: 3_600_000 }

export const auditRoutes = [
  handle(listAudit, 'search', async (ctx, { query, session }) => {
    const { entries, total, cutOff } = await searchAudit(ctx, session.workspaceId, query)
    const items = entries.map(({ times, ...row }) => ({ ...row, descricao: countedText(row.descricao, times) }))
    return {
      data: { items, totalDePaginas: Math.ceil(total / auditPageSize) },
      ...(cutOff && { message: onlyNewest }),
    }
  }),

  handle(exportAudit, async (ctx, { session, caller }) => {
    // All who visit a shared account are strangers to each other.
    await countTry(ctx, exportsOfAudit, session.shared ? networkOf(caller.address) : String(session.workspaceId))
    return { data: linkAudit(ctx, session) }
  }),
  handle(downloadAudit, 'waiting', (ctx, { params, caller }) => openAudit(ctx, params.bilhete, caller)),
]

const onlyNewest = `A busca olhou os ${formatInteger(searchedMax)} registros mais recentes do período. Para procurar nos anteriores, escolha um período que termine antes.`
