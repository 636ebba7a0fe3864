import { z } from 'zod'
import { DocumentFilter, documentParams, selectionMax } from './documents.ts'
import { flag } from './fields.ts'
import { route } from './route.ts'

/**
 * Limits on documents: of an export, of one with PDFs (each is laid out anew), of a print, and with
 * PDFs in the archive of a whole workspace.
 */
export const exportMax = { documents: 100_000, withPdf: 5_000, printed: 500, leavingPdf: 50_000 }

const chosenShape = {
  filtro: DocumentFilter.optional(),
  idsDFe: z
    .array(z.string(), { error: 'Escolha os documentos.' })
    .min(1, 'Escolha os documentos.')
    .max(selectionMax, `Escolha no máximo ${selectionMax.toLocaleString('pt-BR')} documentos de cada vez.`)
    .optional(),
}
const oneChoice = (form: { filtro?: unknown; idsDFe?: unknown }) =>
  (form.filtro === undefined) !== (form.idsDFe === undefined)
const noChoice = { message: 'Informe um filtro ou os documentos.', path: ['idsDFe'] }

/** Contents of an export, and its documents: a whole filter or a list of ids. */
export const ExportForm = z
  .object({
    ...chosenShape,
    xml: flag('xml').default(true),
    pdf: flag('pdf').default(false),
    planilha: flag('planilha').default(true),
  })
  .refine(oneChoice, noChoice)
  .refine((form) => form.xml || form.pdf || form.planilha, {
    message: 'Escolha o que exportar.',
    path: ['xml'],
  })

/** A link to a file, for ten minutes and without a token. */
const fileLink = { endereco: z.string(), validoAte: z.string() }
const Prepared = z.object({ ...fileLink, idExportacao: z.string(), nome: z.string(), totalDeItens: z.number() })

/** Begins a ZIP and says where it is fetched; ours. */
export const exportDocuments = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/exportar',
  shared: true,
  atLeast: 'leitura',
  scope: 'exportar',
  summary:
    'Começa um ZIP com XML, PDF e planilha dos documentos; `endereco` entrega o que fica pronto, vale por dez minutos e dispensa o token.',
  refusals: [404, 409, 429],
  body: ExportForm,
  data: Prepared,
})

/** Begins one PDF of the printed forms of many documents, with a bookmark for each; ours. */
export const printDocuments = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/imprimir',
  shared: true,
  atLeast: 'leitura',
  scope: 'exportar',
  summary: `Começa um PDF com o DANFE ou o DACTE de cada documento, até ${exportMax.printed}, com um marcador para cada um; \`endereco\` como em exportar.`,
  refusals: [404, 409, 429],
  body: z.object(chosenShape).refine(oneChoice, noChoice),
  data: Prepared,
})

/** Begins an archive of everything that the workspace keeps; ours. */
export const takeEverything = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/sair-com-tudo',
  atLeast: 'administrador',
  proof: 'always',
  summary:
    'Começa o arquivo com tudo o que a conta guarda: XML, eventos, planilhas, auditoria e configurações, com PDF ou sem. Aparece em `exportacoes` por três dias.',
  refusals: [409, 429],
  body: z.object({ pdf: flag('pdf').default(false) }),
  data: z.object({ totalDeArquivos: z.number().describe('Quantos ZIP.'), totalDeItens: z.number() }),
})

/** An export, or a print of many documents. */
export const ExportItem = z.object({
  id: z.string(),
  nome: z.string(),
  formato: z.enum(['zip', 'pdf']).describe('`pdf`: uma impressão.'),
  situacao: z.enum(['na-fila', 'em-andamento', 'pronta', 'falhou']),
  /** Documents that are in it so far, of how many. */
  feitos: z.number(),
  total: z.number(),
  bytes: z.number(),
  pedidaPor: z.string(),
  pedidaEm: z.string(),
  problema: z.string().nullable().describe('Por que falhou, ou o que não está no arquivo, uma frase por linha.'),
  tudo: z.boolean().describe('É o arquivo com tudo, ou uma parte dele; `total` conta o que a SEFAZ entregou.'),
})
export type ExportItem = z.output<typeof ExportItem>

/** Lists exports and prints of the last day, newest first; ours. */
export const listExports = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/exportacoes',
  atLeast: 'leitura',
  scope: 'exportar',
  summary:
    'As exportações e impressões do último dia, e de três dias o arquivo com tudo, da mais nova à mais antiga, e em que ponto estão.',
  data: z.array(ExportItem),
})

/** A new link to an export or a print; ours. */
export const linkExport = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/exportacoes/{id}/link',
  shared: true,
  atLeast: 'leitura',
  scope: 'exportar',
  summary: 'Um novo endereço de uma exportação ou impressão que ainda está guardada.',
  refusals: [403, 404],
  params: z.object({ id: z.string() }),
  data: z.object(fileLink),
})

/** The ZIP itself, also while it is being made; ours. */
export const downloadExport = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/exportacao/{bilhete}',
  access: 'public',
  summary:
    'O ZIP que `exportar` começou; espera pelo que ainda não está pronto. O que está pronto tem `ETag`, e um download cortado continua com `Range` e `If-Range`.',
  refusals: [404, 409, 410, 429],
  params: z.object({ bilhete: z.string() }),
  produces: 'application/zip',
})

/** The PDF of a print, also while it is being made; ours. */
export const downloadPrint = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/impressao/{bilhete}',
  access: 'public',
  summary: 'O PDF que `imprimir` começou; espera pelo que ainda não está pronto.',
  refusals: [404, 409, 410, 429],
  params: z.object({ bilhete: z.string() }),
  produces: 'application/pdf',
})

/** The DANFE of an NF-e (section 7). */
export const printDanfe = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/danfe/{idDfe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'DANFE de uma NF-e completa, em PDF.',
  refusals: [404, 409],
  params: documentParams,
  produces: 'application/pdf',
})

/** The DACTE of a CT-e (section 7). */
export const printDacte = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/dacte/{idDfe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'DACTE de um CT-e, em PDF.',
  refusals: [404, 409],
  params: documentParams,
  produces: 'application/pdf',
})

/** The sheet of a Carta de Correção, a cancellation or any other event of a document; ours. */
export const printDocumentEvent = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/evento/{idDfe}/{idEvento}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Um evento registrado de um documento (Carta de Correção, cancelamento ou outro), em PDF.',
  refusals: [404, 409],
  params: z.object({ idDfe: z.string(), idEvento: z.string() }),
  produces: 'application/pdf',
})
