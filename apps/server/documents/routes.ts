import {
  downloadExport,
  downloadPrint,
  exportDocuments,
  linkExport,
  listExports,
  printDacte,
  printDanfe,
  printDocumentEvent,
  printDocuments,
} from '@vigia/contract/document-files'
import {
  countOutsidePeriod,
  type DocumentFilter,
  downloadXml,
  getDocument,
  type ListOrder,
  listDocuments,
  listOrders,
  selectDocuments,
  selectionMax,
  suggestIssuers,
} from '@vigia/contract/documents'
import { formatCount } from '@vigia/contract/text'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import type { z } from 'zod'
import { getCompanyId } from '../companies/companies.ts'
import type { WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import { openExport } from './export/downloads.ts'
import { prepareExport, readExports, renewLink } from './export/exports.ts'
import { getXml } from './files.ts'
import type { Criteria, Order } from './list/filter.ts'
import { countOutside, pageSize, searchDocuments, selectIds } from './list/list.ts'
import { toRow } from './list/rows.ts'
import { getDetails } from './panel/details.ts'
import type { ReadSent } from './panel/timeline.ts'
import { printDocument, printEvent } from './print/printing.ts'
import { noteRead } from './reads.ts'
import { findIssuers } from './search/suggestions.ts'
import { agendaRoutes } from './workflow/agenda.ts'
import { installmentRoutes } from './workflow/installments.ts'
import { remarkRoutes } from './workflow/remarks.ts'
import { viewRoutes } from './workflow/views.ts'

export const documentRoutes = (readSent: ReadSent) => [
  ...viewRoutes,
  ...remarkRoutes,
  ...agendaRoutes,
  ...installmentRoutes,

  handle(listDocuments, 'search', async (ctx, { query, session }) => {
    const page = await readWorkspace(ctx, session.workspaceId, async (ctx) =>
      searchDocuments(ctx, session.workspaceId, {
        ...(await criteriaOf(ctx, session.workspaceId, query)),
        page: query.PaginaAtual,
        order: orderOf(query),
      }),
    )
    return {
      data: {
        items: page.rows.map((row) => ({
          ...toRow(row, session.workspaceId, ctx.ids),
          // A client that filters by a role reads that one, not another of the same document.
          ...(query.TipoParticipacao !== undefined && { tipoParticipacao: query.TipoParticipacao }),
        })),
        totalDePaginas: Math.ceil(page.total / pageSize),
        totalDeItens: page.total,
        valorTotal: Number(page.amount),
        ...(page.since !== null && { contadosDesde: page.since }),
      },
    }
  }),

  handle(selectDocuments, 'slow', async (ctx, { query, session: { workspaceId } }) => {
    const ids = await readWorkspace(ctx, workspaceId, async (ctx) =>
      selectIds(ctx, workspaceId, await criteriaOf(ctx, workspaceId, query), selectionMax, orderOf(query)),
    )
    return { data: { ids: ids.map((id) => ctx.ids.encode(workspaceId, id)) } }
  }),

  handle(countOutsidePeriod, 'search', async (ctx, { query, session: { workspaceId } }) => {
    const { total, since, months } = await readWorkspace(ctx, workspaceId, async (ctx) =>
      countOutside(ctx, workspaceId, await criteriaOf(ctx, workspaceId, query)),
    )
    return {
      data: {
        totalDeItens: total,
        ...(since !== null && { contadosDesde: since }),
        meses: months.map(({ month, n }) => ({ mes: month, totalDeItens: n })),
      },
    }
  }),

  handle(suggestIssuers, 'search', async (ctx, { query, session: { workspaceId } }) => {
    const found = await findIssuers(ctx, workspaceId, query.TipoDFe, query.CampoPesquisa ?? '')
    return { data: { emitentes: found.map(({ name, tax_id }) => ({ nome: name, cnpjCpf: tax_id })) } }
  }),

  handle(getDocument, async (ctx, { params, session }) => ({
    data: await getDetails(ctx, session, params.idDfe, readSent),
  })),
  handle(downloadXml, async (ctx, { params, session, caller }) => {
    const { chave, ...file } = await getXml(ctx, session.workspaceId, params.idDfe)
    await noteRead(ctx, session, caller, `Baixou o XML do documento ${chave}.`)
    return file
  }),

  handle(exportDocuments, 'slow', async (ctx, { body: { filtro, idsDFe = [], ...contents }, session }) => {
    const documents = filtro ? await criteriaOf(ctx, session.workspaceId, filtro) : idsDFe
    const data = await prepareExport(ctx, session, { contents, documents })
    return { data, message: onItsWay(data.totalDeItens) }
  }),
  handle(printDocuments, 'slow', async (ctx, { body: { filtro, idsDFe = [] }, session }) => {
    const documents = filtro ? await criteriaOf(ctx, session.workspaceId, filtro) : idsDFe
    const data = await prepareExport(ctx, session, { contents: null, documents })
    return { data, message: onItsWay(data.totalDeItens) }
  }),
  handle(listExports, async (ctx, { session }) => ({
    data: await readExports(ctx, session),
  })),
  handle(linkExport, async (ctx, { params, session }) => ({
    data: await renewLink(ctx, session, params.id),
  })),

  handle(downloadExport, 'waiting', (ctx, { params, caller }) => openExport(ctx, params.bilhete, 'zip', caller)),
  handle(downloadPrint, 'waiting', async (ctx, { params, caller }) => {
    // The browser shows it, so that it can be printed.
    const { fileName: _, ...file } = await openExport(ctx, params.bilhete, 'pdf', caller)
    return { ...file, framed: true }
  }),

  handle(printDanfe, async (ctx, { params, session, caller }) => {
    const { content, chave } = await printDocument(ctx, session.workspaceId, params.idDfe, nfe.id)
    await noteRead(ctx, session, caller, `Abriu o DANFE da NF-e ${chave}.`)
    return { content, keepable: true }
  }),
  handle(printDacte, async (ctx, { params, session, caller }) => {
    const { content, chave } = await printDocument(ctx, session.workspaceId, params.idDfe, cte.id)
    await noteRead(ctx, session, caller, `Abriu o DACTE do CT-e ${chave}.`)
    return { content, keepable: true }
  }),
  handle(printDocumentEvent, async (ctx, { params, session, caller }) => {
    const { content, chave } = await printEvent(ctx, session.workspaceId, params.idDfe, params.idEvento)
    await noteRead(ctx, session, caller, `Abriu a folha do evento ${params.idEvento} do documento ${chave}.`)
    return { content, keepable: true }
  }),
]

const onItsWay = (total: number) =>
  `${formatCount(total, 'documento', 'documentos')} a caminho. O arquivo fica um dia no sino, e o link vale por dez minutos.`

async function criteriaOf(
  ctx: WithDatabase,
  workspaceId: number,
  { IdEmpresa, ...filter }: z.output<typeof DocumentFilter>,
): Promise<Criteria> {
  if (filter.LinhaDoRelatorio && !filter.ContaComo)
    throw new AppError('invalid-input', 'LinhaDoRelatorio precisa de ContaComo.')
  return { ...filter, companyId: IdEmpresa ? await getCompanyId(ctx, workspaceId, IdEmpresa) : undefined }
}

const orderings = { data: 'issued', valor: 'amount', chegada: 'arrived', prazo: 'due', emitente: 'issuer' } as const

function orderOf({ Ordem, Sentido }: { Ordem: ListOrder; Sentido?: 'asc' | 'desc' | undefined }): Order {
  return { by: orderings[Ordem], ascending: (Sentido ?? listOrders[Ordem]) === 'asc' }
}
