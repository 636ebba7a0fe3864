import { roleNames } from '@vigia/dfe/roles'
import { z } from 'zod'
import { alertBands } from './alerts.ts'
import { dueAnswers, familyIds, statusFilter } from './codes.ts'
import { amountText, familyCode, LocalDateTime, LocalDay, numberBetween } from './fields.ts'
import { Remark } from './remarks.ts'
import { reportLine, reportSubjects } from './reports.ts'
import { route } from './route.ts'

const statusMax = Math.max(...Object.values(statusFilter).flatMap((codes) => codes.map(({ code }) => code)))

/** Filters by the work of people on documents. */
export const marks = [
  'conferidas',
  'por-conferir',
  'lancadas',
  'por-lancar',
  'entregues',
  'mudaram-depois',
  'com-observacao',
  'confirmacao-sugerida',
  'desconhecimento-preparado',
  'aguardam-segunda-pessoa',
] as const

/** Filters by IBS and CBS. */
export const reformFilters = ['com', 'sem', 'dispensado', 'parcial', 'achados'] as const

const filterShape = {
  TipoDFe: familyCode('TipoDFe'),
  CampoPesquisa: z.string().trim().max(200, 'CampoPesquisa deve ter no máximo 200 caracteres').optional(),
  IdEmpresa: z.string().optional(),
  /** Ours: no documents of archived companies. */
  Empresas: z.enum(['ativas'], 'Empresas deve ser ativas').optional(),
  Status: numberBetween(1, statusMax, 'Status desconhecido').optional(),
  TipoParticipacao: numberBetween(0, roleNames.length - 1, 'TipoParticipacao desconhecido').optional(),
  DataDe: LocalDateTime('DataDe').optional(),
  DataAte: LocalDateTime('DataAte').optional(),
  /** Ours, like `orderShape`; both inclusive. */
  ValorDe: amountText('ValorDe').optional(),
  ValorAte: amountText('ValorAte').optional(),
  /** Range of days for the next deadline, of the answer in `PrazoPara` if given. Ours. */
  PrazoDe: LocalDay('PrazoDe').optional(),
  PrazoAte: LocalDay('PrazoAte').optional(),
  PrazoPara: z.enum(dueAnswers, 'PrazoPara deve ser ciencia, manifestacao ou desacordo').optional(),
  /** Filters by work done in the workspace; ours. */
  Marca: z
    .enum(
      marks,
      'Marca deve ser conferidas, por-conferir, lancadas, por-lancar, entregues, mudaram-depois, com-observacao, confirmacao-sugerida, desconhecimento-preparado ou aguardam-segunda-pessoa',
    )
    .optional(),
  /** Documents with an open alert: `qualquer`, or of one band. */
  Alerta: z
    .enum(['qualquer', ...alertBands], 'Alerta deve ser qualquer, informativo, medio, alto ou critico')
    .optional(),
  /** Whether the document has the groups of IBS and CBS, or what does not fit in them; ours. */
  Reforma: z.enum(reformFilters, 'Reforma deve ser com, sem, dispensado, parcial ou achados').optional(),
  /** Filters by contents: a product of the reports, an NCM prefix, a CFOP. */
  Produto: numberBetween(1, 2 ** 31 - 1, 'Produto desconhecido').optional(),
  NCM: z
    .string()
    .regex(/^\d{2,8}$/, 'NCM deve ter de 2 a 8 dígitos')
    .optional(),
  CFOP: z
    .string()
    .regex(/^\d{4}$/, 'CFOP deve ter 4 dígitos')
    .optional(),
  /** Filters by the documents behind a number of a report: its subject, and one of its lines. */
  ContaComo: z.enum(reportSubjects, 'ContaComo deve ser compras, emitidas ou fretes').optional(),
  LinhaDoRelatorio: z
    .string()
    .refine(
      (text) => reportLine(text) !== null,
      'LinhaDoRelatorio deve ter grupo e chave de uma linha, como uf:PR ou cfop:5102',
    )
    .optional(),
}
const inOrder = (filter: { DataDe?: string | undefined; DataAte?: string | undefined }) =>
  !filter.DataDe || !filter.DataAte || filter.DataDe <= filter.DataAte
const disorder = { message: 'A data inicial deve ser anterior à data final', path: ['DataDe'] }
const amountsInOrder = (filter: { ValorDe?: string | undefined; ValorAte?: string | undefined }) =>
  filter.ValorDe === undefined || filter.ValorAte === undefined || Number(filter.ValorDe) <= Number(filter.ValorAte)
const amountsDisorder = { message: 'O valor inicial não pode ser maior que o final', path: ['ValorDe'] }
const duesInOrder = (filter: { PrazoDe?: string | undefined; PrazoAte?: string | undefined }) =>
  !filter.PrazoDe || !filter.PrazoAte || filter.PrazoDe <= filter.PrazoAte
const duesDisorder = { message: 'O primeiro dia do prazo deve ser anterior ao último', path: ['PrazoDe'] }

/** Orders of a list, with the initial direction of each. */
export const listOrders = { data: 'desc', valor: 'desc', chegada: 'desc', prazo: 'asc', emitente: 'asc' } as const
/** Its names on the wire. */
export type ListOrder = keyof typeof listOrders

const orderShape = {
  Ordem: z
    .enum(Object.keys(listOrders) as [ListOrder], 'Ordem deve ser data, valor, chegada, prazo ou emitente')
    .default('data'),
  Sentido: z.enum(['asc', 'desc'], 'Sentido deve ser asc ou desc').optional(),
}

/** The documents that an export is about: the filters of the list without its page. Ours. */
export const DocumentFilter = z
  .object(filterShape)
  .refine(inOrder, disorder)
  .refine(amountsInOrder, amountsDisorder)
  .refine(duesInOrder, duesDisorder)

/** The documents that a selection is about, in the order of the list. */
const SelectionQuery = z
  .object({ ...filterShape, ...orderShape })
  .refine(inOrder, disorder)
  .refine(amountsInOrder, amountsDisorder)
  .refine(duesInOrder, duesDisorder)

/** Filters of the list (section 7). Dates are the local date and time printed on the document. */
export const DocumentQuery = z
  .object({
    ...filterShape,
    ...orderShape,
    PaginaAtual: numberBetween(1, 999_999_999, 'PaginaAtual deve ser um número a partir de 1').default(1),
  })
  .refine(inOrder, disorder)
  .refine(amountsInOrder, amountsDisorder)
  .refine(duesInOrder, duesDisorder)

/** Result of a check; `confere` is null when it cannot be checked. Ours. */
const Conferencia = z.object({ confere: z.boolean().nullable(), texto: z.string() })

/** Fiscal document row of the list (section 3); `dataEmissao` as in the document, with offset. */
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
  /** Ours, from here on: the CNPJ or CPF of the issuer. */
  cnpjCpfEmitente: z.string().optional(),
  /** The company that it was delivered to, and when it arrived here (ISO 8601 instant). */
  idEmpresa: z.string().optional(),
  empresa: z.string().optional(),
  chegadaEm: z.string().optional(),
  /** The next open deadline, and its last instant; null when there is none. */
  prazo: z.object({ para: z.enum(dueAnswers), ate: z.string() }).nullish(),
  /** The event that was requested here and is not settled yet, as a text. */
  eventoEmEnvio: z.string().nullish(),
  eventoSemConfirmacao: z
    .string()
    .nullish()
    .describe(
      'O último evento enviado daqui, quando a SEFAZ não disse por um dia se o registrou, ou não diz qual resposta vale; null: nenhum.',
    ),
  naturezaOperacao: z
    .string()
    .nullish()
    .describe('natOp do documento; null num resumo e no que chegou antes desta coluna.'),
  situacaoBase: z
    .number()
    .optional()
    .describe(
      'O que o documento é sem os eventos que vieram depois: 1 Resumo, 2 Autorizada, 3 Cancelada, 9 Denegada, 10 Sem protocolo.',
    ),
  conferencia: Conferencia.nullish().describe(
    'O que a conferência de assinatura, protocolo e chave de acesso encontrou; null num resumo e no que ainda não foi conferido.',
  ),
  conferidaPor: z
    .object({ nome: z.string().nullable(), quando: z.string() })
    .nullish()
    .describe(
      'Quem do workspace marcou o documento como conferido, e quando; null: ninguém. Nome null: não tem mais conta.',
    ),
  lancadaPor: z
    .object({ nome: z.string().nullable(), quando: z.string() })
    .nullish()
    .describe('Quem do workspace marcou o documento como lançado na escrita, e quando; como conferidaPor.'),
  entreguePor: z
    .object({ nome: z.string().nullable(), quando: z.string() })
    .nullish()
    .describe(
      'Quem do workspace marcou o documento como entregue a outra pessoa ou sistema, e quando; como conferidaPor.',
    ),
  mudouDepois: z
    .object({ evento: z.string(), quando: z.string() })
    .nullish()
    .describe(
      'O evento que cancelou, substituiu ou corrigiu o documento depois de conferido, lançado, entregue, exportado ou confirmado, e quando chegou; null: nenhum, ou já conferido de novo.',
    ),
  observacoes: z.number().optional().describe('Quantas observações o workspace escreveu nele.'),
  alerta: z.enum(alertBands).nullish().describe('A faixa do alerta aberto do documento; null: nenhum.'),
  sugestao: z
    .object({ tipoManifestacao: z.number(), regra: z.string() })
    .nullish()
    .describe('A resposta que uma regra sugere, para uma pessoa enviar; null: nenhuma, ou a nota já foi respondida.'),
  aguardaSegunda: z
    .object({ evento: z.string(), quem: z.string().nullable() })
    .nullish()
    .describe('A resposta pedida que espera a aprovação de uma segunda pessoa, e quem a pediu; null: nenhuma.'),
  reforma: z
    .object({
      presenca: z.enum(['com', 'parcial', 'sem', 'dispensado']),
      ibs: z.number().nullable(),
      cbs: z.number().nullable(),
      achados: z.boolean(),
    })
    .nullish()
    .describe(
      'IBS e CBS que o documento traz, informativos em 2026: nada deles se paga ou se aproveita; null num resumo e no que ainda não foi lido por dentro.',
    ),
})
export type DocumentRow = z.output<typeof DocumentRow>

/** Documents that a search by words reaches, the newest ones. */
export const reachMax = 10_000

const contadosDesde = z
  .string()
  .optional()
  .describe(
    `Presente quando mais de ${reachMax.toLocaleString('pt-BR')} documentos têm as palavras procuradas: total, soma e páginas contam os emitidos desde esta data.`,
  )

/** One page of the documents that a filter finds (section 7). */
export const listDocuments = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Lista os documentos fiscais do filtro, 50 por página, do mais novo ao mais antigo ou em outra ordem.',
  refusals: [404],
  query: DocumentQuery,
  data: z.object({
    items: z.array(DocumentRow),
    totalDePaginas: z.number(),
    /** Ours: exact count and sum of the whole filter. */
    totalDeItens: z.number().optional(),
    valorTotal: z.number().optional(),
    contadosDesde,
  }),
})

/** Where a document is named in a path. */
export const documentParams = z.object({ idDfe: z.string() })

/** Documents that one selection names at most. */
export const selectionMax = 5_000

/** The documents of a whole filter by their names, in the order of the list; ours. */
export const selectDocuments = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/selecao',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `Os identificadores de todos os documentos do filtro, até ${selectionMax.toLocaleString('pt-BR')}.`,
  refusals: [404, 409],
  query: SelectionQuery,
  data: z.object({ ids: z.array(z.string()) }),
})

/** Counts matching documents outside the period of a filter, by month of issue; ours. */
export const countOutsidePeriod = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/fora-do-periodo',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Quantos documentos o filtro acharia fora do período dele, por mês de emissão, do mais novo ao mais antigo.',
  refusals: [404],
  query: DocumentFilter,
  data: z.object({
    totalDeItens: z.number(),
    contadosDesde,
    meses: z.array(z.object({ mes: z.string().describe('aaaa-MM'), totalDeItens: z.number() })),
  }),
})

/** Suggests issuers whose names match typed text; ours. */
export const suggestIssuers = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/sugestoes',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Até seis emitentes cujo nome, CNPJ ou CPF tem todas as palavras escritas.',
  query: z.object({ TipoDFe: filterShape.TipoDFe, CampoPesquisa: filterShape.CampoPesquisa }),
  data: z.object({ emitentes: z.array(z.object({ nome: z.string(), cnpjCpf: z.string() })) }),
})

/** A label and its text, already written for people. */
const Fact = z.object({ rotulo: z.string(), valor: z.string() })

/** One entry of a document's history. */
export const TimelineEntry = z.object({
  /** ISO 8601 instant. */
  quando: z.string(),
  tpEvento: z.number().nullable(),
  descricao: z.string(),
  /** Author as text: a party of the document, a person here, the automatic Ciência, the SEFAZ. */
  autor: z.string(),
  /** `chegada`: arrived here. `sefaz`: registered by the authority. `envio`: sent from here. */
  origem: z.enum(['chegada', 'sefaz', 'envio']),
  situacao: z.enum(['registrado', 'em-envio', 'aguarda-segunda-pessoa', 'recusado', 'desfeito', 'sem-confirmacao']),
  texto: z.string().nullable(),
  protocolo: z.string().nullable(),
  /** Id for `printDocumentEvent`; null when it has no sheet. */
  idEvento: z.string().nullable(),
  conferencia: Conferencia.nullable().describe(
    'O que a conferência da assinatura e do registro de um evento encontrou; null no que não é evento, num resumo e no que ainda não foi conferido.',
  ),
})
export type TimelineEntry = z.output<typeof TimelineEntry>

/** Whether a document has the groups of IBS and CBS. */
export const reformPresences = ['com', 'parcial', 'sem', 'dispensado', 'so-resumo'] as const
/** Its names on the wire. */
export type ReformPresence = (typeof reformPresences)[number]

/** IBS, CBS and IS of a document. */
const Reform = z.object({
  presenca: z
    .enum(reformPresences)
    .describe(
      '`com`: em todos os itens; `parcial`: em parte deles; `sem`: o emitente do regime normal não os informou; `dispensado`: Simples ou MEI, ou antes de 2026; `so-resumo`: só o resumo está aqui.',
    ),
  aviso: z
    .string()
    .nullable()
    .describe('O que os valores não são: em 2026 são informativos, e nada deles se paga ou se aproveita.'),
  itens: z.array(
    z.object({
      numero: z.number().describe('nItem; 0: o CT-e inteiro.'),
      descricao: z.string(),
      CST: z.string(),
      cClassTrib: z.string(),
      base: z.string(),
      ibsEstado: z.string(),
      ibsMunicipio: z.string(),
      cbs: z.string(),
      is: z.string(),
      campos: z.array(Fact).describe('Alíquotas, reduções, diferimento, monofásico e compra governamental.'),
    }),
  ),
  totais: z.array(Fact),
  achados: z.array(
    z.object({
      codigo: z.string().describe('rt-sem-grupo, rt-parcial, rt-aliquota, rt-conta, rt-codigo, rt-vnf ou rt-nota.'),
      item: z.number().nullable(),
      frase: z.string(),
    }),
  ),
})
export type Reform = z.output<typeof Reform>

/** A document as its panel shows it. Texts are written for people; amounts in reais. */
export const DocumentDetail = z.object({
  documento: DocumentRow,
  /** "NF-e 1.234 da Papelaria Sol". */
  nome: z.string(),
  /** Groups of facts in the order of reading: who, what, values, transport. */
  secoes: z.array(z.object({ titulo: z.string(), campos: z.array(Fact) })),
  /** Products of an NF-e; freight parts, deliveries or valuables of a CT-e; empty for a summary. */
  itens: z.array(
    z.object({
      numero: z.number(),
      codigo: z.string(),
      descricao: z.string(),
      quantidade: z.string(),
      unidade: z.string(),
      valorUnitario: z.string(),
      valor: z.number(),
      /** NCM, CFOP and the like, in one line. */
      detalhe: z.string(),
    }),
  ),
  /** Documents that this one names: notes carried, notes returned, the CT-e that it replaces. */
  relacionados: z.array(
    z.object({
      relacao: z.string(),
      chave: z.string(),
      tipo: z.enum([...familyIds, 'outro']),
      /** Null: it is not in this workspace. */
      idDfe: z.string().nullable(),
    }),
  ),
  /** Remarks of the workspace, oldest first. */
  anotacoes: z.array(Remark),
  /** Newest first. */
  historico: z.array(TimelineEntry),
  /** Why only a summary is here and how to get the rest; null for a complete document. */
  falta: z.string().nullable(),
  reforma: Reform.nullable().describe('IBS, CBS e IS; null num documento anterior a 2026 que nada diz deles.'),
})
export type DocumentDetail = z.output<typeof DocumentDetail>

/** Everything that is known of one document; ours. */
export const getDocument = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/detalhes/{idDfe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'O conteúdo de um documento, o histórico dele e os documentos que ele cita.',
  refusals: [404],
  params: documentParams,
  data: DocumentDetail,
})

/** The file as the authority delivered it, byte for byte; ours. */
export const downloadXml = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/xml/{idDfe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'O XML de um documento como a SEFAZ o entregou; o do resumo, enquanto só ele chegou.',
  refusals: [404],
  params: documentParams,
  produces: 'application/xml',
})
