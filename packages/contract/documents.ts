import { z } from 'zod'
import { LocalDateTime } from './fields.ts'
import { route } from './route.ts'

const code = (min: number, max: number, message: string) =>
  z.coerce.number({ error: message }).int(message).min(min, message).max(max, message)

/** Filters of the list (section 7). Dates are the local date and time printed on the document. */
export const DocumentFilter = z
  .object({
    TipoDFe: z.coerce
      .number({ error: 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)' })
      .refine((type) => type === 0 || type === 2, 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)'),
    CampoPesquisa: z.string().trim().max(200, 'CampoPesquisa deve ter no máximo 200 caracteres').optional(),
    PaginaAtual: code(1, 1_000_000_000, 'PaginaAtual deve ser um número a partir de 1').default(1),
    IdEmpresa: z.string().optional(),
    Status: code(1, 8, 'Status desconhecido').optional(),
    TipoParticipacao: code(0, 7, 'TipoParticipacao desconhecido').optional(),
    DataDe: LocalDateTime('DataDe').optional(),
    DataAte: LocalDateTime('DataAte').optional(),
  })
  .refine((filter) => !filter.DataDe || !filter.DataAte || filter.DataDe <= filter.DataAte, {
    message: 'A data inicial deve ser anterior à data final',
    path: ['DataDe'],
  })

/** Fiscal document row of the list (section 3); `dataEmissao` is written as in the document, offset included. */
export const DocumentRow = z.object({
  idDfe: z.string(),
  numero: z.number(),
  emitente: z.string(),
  chave: z.string(),
  valor: z.number(),
  dataEmissao: z.string(),
  tipoParticipacao: z.number(),
  status: z.object({ codigoEvento: z.number(), descricaoEvento: z.string() }),
  notaCompleta: z.boolean(),
})
/** What the browser receives as a document row (section 3). */
export type DocumentRow = z.output<typeof DocumentRow>

/** One page of the documents that a filter finds (section 7). */
export const listDocuments = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais',
  access: 'session',
  summary: 'Lista os documentos fiscais do filtro, 50 por página, do mais novo ao mais antigo.',
  refusals: [404],
  query: DocumentFilter,
  data: z.object({
    items: z.array(DocumentRow),
    totalDePaginas: z.number(),
    /** Ours: exact count and sum of the whole filter. */
    totalDeItens: z.number(),
    valorTotal: z.number(),
  }),
})

const documentParams = z.object({ idDfe: z.string() })

/** The DANFE of an NF-e (section 7). */
export const printDanfe = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/danfe/{idDfe}',
  access: 'session',
  summary: 'DANFE de uma NF-e completa, em PDF.',
  refusals: [404, 409],
  params: documentParams,
  produces: 'application/pdf',
})

/** The DACTE of a CT-e (section 7). */
export const printDacte = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/dacte/{idDfe}',
  access: 'session',
  summary: 'DACTE de um CT-e, em PDF.',
  refusals: [404, 409],
  params: documentParams,
  produces: 'application/pdf',
})
