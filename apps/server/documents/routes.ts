import { type DocumentRow, listDocuments, printDacte, printDanfe } from '@vigia/contract/documents'
import { eventKind } from '@vigia/dfe/events'
import { primaryRole } from '@vigia/dfe/roles'
import { statusNames } from '@vigia/dfe/status'
import { getCompanyId } from '../companies/companies.ts'
import { readWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http.ts'
import type { PublicIds } from '../platform/ids.ts'
import { serviceOf } from '../platform/service.ts'
import { type DocumentListRow, pageSize, searchDocuments } from './list.ts'
import { printDocument } from './printing.ts'

export const documentRoutes = [
  handle(listDocuments, async (ctx, { query, session }) => {
    const type = query.TipoDFe === 0 ? 0 : 2
    const page = await readWorkspace(ctx, session.workspaceId, async (ctx) =>
      searchDocuments(ctx, session.workspaceId, {
        type,
        text: query.CampoPesquisa || undefined,
        companyId: query.IdEmpresa ? await getCompanyId(ctx, session.workspaceId, query.IdEmpresa) : undefined,
        status: query.Status,
        role: query.TipoParticipacao,
        from: query.DataDe,
        to: query.DataAte,
        page: query.PaginaAtual,
      }),
    )
    return {
      data: {
        items: page.rows.map((row) => ({
          ...toRow(row, type, session.workspaceId, ctx.ids),
          // Whoever asks for a role reads that one, not another of the same document.
          ...(query.TipoParticipacao !== undefined && { tipoParticipacao: query.TipoParticipacao }),
        })),
        totalDePaginas: Math.ceil(page.total / pageSize),
        totalDeItens: page.total,
        valorTotal: Number(page.amount),
      },
    }
  }),

  handle(printDanfe, (ctx, { params, session }) => printDocument(ctx, session.workspaceId, params.idDfe, 'nfe')),
  handle(printDacte, (ctx, { params, session }) => printDocument(ctx, session.workspaceId, params.idDfe, 'cte')),
]

function toRow(row: DocumentListRow, type: 0 | 2, workspaceId: number, ids: PublicIds): DocumentRow {
  const family = serviceOf(type)
  return {
    idDfe: ids.encode(workspaceId, row.id),
    numero: row.number,
    emitente: row.issuer_name,
    chave: row.chave,
    valor: Number(row.amount),
    dataEmissao: row.issued_at.replace(' ', 'T') + offsetText(row.issued_offset),
    tipoParticipacao: primaryRole(family, row.roles),
    status: {
      codigoEvento: row.event_code,
      descricaoEvento:
        row.event_text ??
        eventKind(family, row.event_code)?.description ??
        statusNames[row.base_status] ??
        'Desconhecido',
    },
    notaCompleta: row.complete,
  }
}

function offsetText(minutes: number | null): string {
  if (minutes === null) return ''
  const absolute = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}
