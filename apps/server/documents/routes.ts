import {
  type DocumentDetail,
  type DocumentFilter,
  type DocumentRow,
  downloadExport,
  downloadXml,
  exportDocuments,
  getDocument,
  listDocuments,
  printDacte,
  printDanfe,
  printDocumentEvent,
  selectDocuments,
  selectionMax,
  type TimelineEntry,
} from '@vigia/contract/documents'
import { primaryRole } from '@vigia/dfe/roles'
import type { z } from 'zod'
import { getCompanyId } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http.ts'
import type { PublicIds } from '../platform/ids.ts'
import { serviceOf } from '../platform/service.ts'
import { dueAnswer } from './deadlines.ts'
import { getDetails } from './details.ts'
import { count } from './export-words.ts'
import { openExport, prepareExport } from './exports.ts'
import { getXml } from './files.ts'
import { type Criteria, pageSize, searchDocuments, selectIds } from './list.ts'
import { printDocument, printEvent } from './printing.ts'
import { type DocumentListRow, eventName, eventText } from './rows.ts'
import type { Happening } from './timeline.ts'
import type { Item } from './words.ts'

export const documentRoutes = [
  handle(listDocuments, async (ctx, { query, session }) => {
    const page = await readWorkspace(ctx, session.workspaceId, async (ctx) =>
      searchDocuments(ctx, session.workspaceId, {
        ...(await criteriaOf(ctx, session.workspaceId, query)),
        page: query.PaginaAtual,
      }),
    )
    return {
      data: {
        items: page.rows.map((row) => ({
          ...toRow(row, session.workspaceId, ctx.ids),
          // Whoever asks for a role reads that one, not another of the same document.
          ...(query.TipoParticipacao !== undefined && { tipoParticipacao: query.TipoParticipacao }),
        })),
        totalDePaginas: Math.ceil(page.total / pageSize),
        totalDeItens: page.total,
        valorTotal: Number(page.amount),
      },
    }
  }),

  handle(selectDocuments, async (ctx, { query, session: { workspaceId } }) => {
    const ids = await readWorkspace(ctx, workspaceId, async (ctx) =>
      selectIds(ctx, workspaceId, await criteriaOf(ctx, workspaceId, query), selectionMax),
    )
    return { data: { ids: ids.map((id) => ctx.ids.encode(workspaceId, id)) } }
  }),

  handle(getDocument, async (ctx, { params, session: { workspaceId } }) => {
    const details = await getDetails(ctx, workspaceId, params.idDfe)
    const { row, name, sections, items, related, timeline, missing } = details
    return {
      data: {
        documento: toRow(row, workspaceId, ctx.ids),
        nome: name,
        secoes: sections.map(({ title, facts }) => ({
          titulo: title,
          campos: facts.map(({ label, value }) => ({ rotulo: label, valor: value })),
        })),
        itens: items.map(toItem),
        relacionados: related.map(({ relation, chave, family, id }) => ({
          relacao: relation,
          chave,
          tipo: family === 'other' ? ('outro' as const) : family,
          idDfe: id === null ? null : ctx.ids.encode(workspaceId, id),
        })),
        historico: timeline.map(toEntry),
        falta: missing,
      },
    }
  }),
  handle(downloadXml, (ctx, { params, session }) => getXml(ctx, session.workspaceId, params.idDfe)),

  handle(exportDocuments, async (ctx, { body: { filtro, idsDFe = [], ...contents }, session }) => {
    const documents = filtro ? await criteriaOf(ctx, session.workspaceId, filtro) : idsDFe
    const prepared = await prepareExport(ctx, session, { ...contents, documents })
    return {
      data: {
        endereco: downloadExport.path.replace('{bilhete}', prepared.ticket),
        nome: prepared.fileName,
        totalDeItens: prepared.total,
        validoAte: prepared.validUntil.toISOString(),
      },
      message: `${count(prepared.total, 'documento pronto', 'documentos prontos')} para baixar. O link vale por dez minutos.`,
    }
  }),

  handle(downloadExport, (ctx, { params }) => openExport(ctx, params.bilhete)),

  handle(printDanfe, async (ctx, { params, session }) => ({
    content: await printDocument(ctx, session.workspaceId, params.idDfe, 'nfe'),
    keepable: true,
  })),
  handle(printDacte, async (ctx, { params, session }) => ({
    content: await printDocument(ctx, session.workspaceId, params.idDfe, 'cte'),
    keepable: true,
  })),
  handle(printDocumentEvent, async (ctx, { params, session }) => ({
    content: await printEvent(ctx, session.workspaceId, params.idDfe, params.idEvento),
    keepable: true,
  })),
]

async function criteriaOf(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  query: z.output<typeof DocumentFilter>,
): Promise<Criteria> {
  return {
    type: query.TipoDFe === 0 ? 0 : 2,
    text: query.CampoPesquisa || undefined,
    companyId: query.IdEmpresa ? await getCompanyId(ctx, workspaceId, query.IdEmpresa) : undefined,
    status: query.Status,
    role: query.TipoParticipacao,
    from: query.DataDe,
    to: query.DataAte,
  }
}

function toRow(row: DocumentListRow, workspaceId: number, ids: PublicIds): DocumentRow {
  const family = serviceOf(row.type)
  const due = dueAnswer(row, new Date())
  const sending = row.own.findLast(({ pending }) => pending)
  return {
    idDfe: ids.encode(workspaceId, row.id),
    numero: row.number,
    emitente: row.issuer_name,
    chave: row.chave,
    valor: Number(row.amount),
    dataEmissao: row.issued_at.replace(' ', 'T') + offsetText(row.issued_offset),
    tipoParticipacao: primaryRole(family, row.roles),
    status: { codigoEvento: row.event_code, descricaoEvento: eventText(family, row) },
    notaCompleta: row.complete,
    idEmpresa: row.company_public_id,
    empresa: row.company_name,
    chegadaEm: row.created_at.toISOString(),
    prazo: due && { para: due.answer, ate: due.until.toISOString() },
    eventoEmEnvio: sending ? eventName(family, sending.tpEvento) : null,
  }
}

function toItem(item: Item): DocumentDetail['itens'][number] {
  return {
    numero: item.number,
    codigo: item.code,
    descricao: item.description,
    quantidade: item.quantity,
    unidade: item.unit,
    valorUnitario: item.unitValue,
    // What is no number is said in no other way.
    valor: /^-?\d+(\.\d+)?$/.test(item.value) ? Number(item.value) : 0,
    detalhe: item.detail,
  }
}

const origins = { arrival: 'chegada', authority: 'sefaz', sending: 'envio' } as const
const states = { registered: 'registrado', sending: 'em-envio', refused: 'recusado', undone: 'desfeito' } as const

function toEntry({
  at,
  tpEvento,
  description,
  author,
  origin,
  state,
  text,
  protocol,
  eventId,
}: Happening): TimelineEntry {
  return {
    quando: at.toISOString(),
    tpEvento,
    descricao: description,
    autor: author,
    origem: origins[origin],
    situacao: states[state],
    texto: text,
    protocolo: protocol,
    idEvento: eventId,
  }
}

function offsetText(minutes: number | null): string {
  if (minutes === null) return ''
  const absolute = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}
