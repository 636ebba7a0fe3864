import { formatInteger } from '@vigia/contract/text'
import { type AuditRow, checkAuditChain, downloadAudit, exportAudit, listAudit } from '@vigia/contract/workspace'
import { type Caller, handle, type Session, weights } from '../http/http.ts'
import { countTry, type Limit, networkOf } from '../http/throttle.ts'
import { AppError } from '../platform/errors.ts'
import { auditPageSize, searchAudit, searchedMax } from './audit.ts'
import { type AuditEntry, checkAudit } from './check.ts'
import { linkAudit, openAudit } from './export.ts'

// Fifty parts are two and a half million entries.
const checkedAtOnce = 50_000
const checks: Limit = { name: 'audit-check', times: 50, withinMs: 10 * 60_000 }
const exportsOfAudit: Limit = { name: 'audit-link', times: 20, withinMs: 3_600_000 }

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
      data: { items: entries.map(toRow), totalDePaginas: Math.ceil(total / auditPageSize) },
      ...(cutOff && { message: onlyNewest }),
    }
  }),

  handle(checkAuditChain, weights.heavy, async (ctx, { query, session, caller }) => {
    const { workspaceId } = session
    const after = query.depoisDe === undefined ? 0n : ctx.ids.decode(workspaceId, query.depoisDe)
    if (after === null) throw new AppError('not-found', 'Registro não encontrado.')
    await countTry(ctx, checks, whoOf(session, caller))
    const found = await checkAudit(ctx, workspaceId, { after, entriesMax: checkedAtOnce })
    return {
      data: {
        registros: found.entries,
        semResumo: found.unchained,
        quebrados: found.broken.map(toRow),
        ate: found.last?.at.toISOString() ?? null,
        ultimoResumo: found.digest,
        proximo: found.more && found.last ? ctx.ids.encode(workspaceId, found.last.id) : null,
      },
    }
  }),

  handle(exportAudit, async (ctx, { session, caller }) => {
    await countTry(ctx, exportsOfAudit, whoOf(session, caller))
    const { ticket, validUntil, fileName } = linkAudit(ctx, session)
    const endereco = downloadAudit.path.replace('{bilhete}', ticket)
    return { data: { endereco, validoAte: validUntil.toISOString(), nome: fileName } }
  }),
  handle(downloadAudit, weights.none, (ctx, { params, caller }) => openAudit(ctx, params.bilhete, caller)),
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
