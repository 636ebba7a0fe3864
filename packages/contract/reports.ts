import { z } from 'zod'
import { numberBetween } from './fields.ts'
import { route } from './route.ts'

// Reports on purchases, issued documents and freight, by their contents. All of it is ours.

/** Subjects of a report: purchases, issued documents, freight paid. */
export const reportSubjects = ['compras', 'emitidas', 'fretes'] as const
export type ReportSubject = (typeof reportSubjects)[number]

/** Groupings of a report. */
export const reportGroups = ['participante', 'mes', 'cfop', 'ncm', 'uf', 'produto', 'trecho'] as const
export type ReportGroup = (typeof reportGroups)[number]

/** Groupings of each subject: a CT-e has no items, and an NF-e no lane. */
export const groupsOf: Record<ReportSubject, readonly ReportGroup[]> = {
  compras: ['participante', 'mes', 'cfop', 'ncm', 'uf', 'produto'],
  emitidas: ['participante', 'mes', 'cfop', 'ncm', 'uf', 'produto'],
  fretes: ['participante', 'mes', 'trecho'],
}

/** How a subject is called. */
export const subjectNames: Record<ReportSubject, string> = {
  compras: 'Compras',
  emitidas: 'Notas emitidas',
  fretes: 'Fretes',
}

/** Names the groups of a subject; a participant is a supplier, customer or carrier. */
export function groupName(subject: ReportSubject, group: ReportGroup): string {
  return group === 'participante' ? participantNames[subject] : groupNames[group]
}

const participantNames = { compras: 'fornecedor', emitidas: 'cliente', fretes: 'transportador' }
const groupNames = { mes: 'mês', cfop: 'CFOP', ncm: 'NCM', uf: 'UF', produto: 'produto', trecho: 'trecho' }

/** Groups that filter lists: those of reports except months, and of the IBS and CBS sheet. */
export type LineGroup = Exclude<ReportGroup, 'mes'> | 'classificacao'

/** Parses a line filter such as `uf:PR`; null if malformed. */
export function reportLine(text: string): { group: LineGroup; key: string } | null {
  const [, group, key = ''] = /^(participante|cfop|ncm|uf|produto|trecho|classificacao):([^\0]{0,14})$/.exec(text) ?? []
  if (group === undefined || (group === 'produto' && !(/^\d{1,10}$/.test(key) && Number(key) < 2 ** 31))) return null
  return { group: group as LineGroup, key }
}

/** The longest period. */
export const reportMonthsMax = 12

/** The taxes of a report, in the order in which they are shown. */
export const reportTaxes = ['icms', 'st', 'ipi', 'pis', 'cofins', 'ibs', 'cbs', 'is', 'fcp'] as const
export type ReportTax = (typeof reportTaxes)[number]

/** A month as aaaa-MM. */
export const month = (field: string) =>
  z
    .string({ error: `${field} é obrigatório` })
    .regex(/^(19|20)\d\d-(0[1-9]|1[0-2])$/, `${field} deve estar no formato aaaa-MM`)

const choiceShape = {
  Tipo: z.enum(reportSubjects, 'Tipo deve ser compras, emitidas ou fretes'),
  Por: z.enum(reportGroups, 'Por deve ser participante, mes, cfop, ncm, uf, produto ou trecho'),
  IdEmpresa: z.string().optional(),
}
const filterShape = {
  ...choiceShape,
  MesDe: month('MesDe'),
  MesAte: month('MesAte'),
  CampoPesquisa: z.string().trim().max(100, 'CampoPesquisa deve ter no máximo 100 caracteres').optional(),
}

/** How many months lie between two, both included. */
export function monthsBetween(from: string, to: string): number {
  const places = [from, to].map((month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)))
  return places[1]! - places[0]! + 1
}

const fits = ({ Tipo, Por }: { Tipo: ReportSubject; Por: ReportGroup }) => groupsOf[Tipo].includes(Por)
const misfit = {
  message:
    'Este relatório não pode ser agrupado assim: fretes vão por participante, mes ou trecho, e os outros não têm trecho',
  path: ['Por'],
}
/** Checks that a period has one to twelve months. */
export const isPeriod = ({ MesDe, MesAte }: { MesDe: string; MesAte: string }) => {
  const months = monthsBetween(MesDe, MesAte)
  return months >= 1 && months <= reportMonthsMax
}
export const badPeriod = {
  message: `O período deve ter de 1 a ${reportMonthsMax} meses, do primeiro ao último`,
  path: ['MesAte'],
}

const amount = z.number()
const Taxes = z.object({
  icms: amount,
  st: amount,
  ipi: amount,
  pis: amount,
  cofins: amount,
  ibs: amount.describe('Informativo em 2026.'),
  cbs: amount.describe('Informativo em 2026.'),
  is: amount,
  fcp: amount,
})

const figures = {
  documentos: z.number().nullable().describe('null onde um documento pode estar em várias linhas, ou não se sabe.'),
  valor: amount,
  anterior: amount.describe('O mesmo no período de igual tamanho logo antes; de um mês, no mês anterior.'),
  anoAnterior: amount.describe('O mesmo nos mesmos meses do ano anterior.'),
  impostos: Taxes.nullable().describe('null de produtos.'),
}

const ReportRow = z.object({
  chave: z
    .string()
    .describe(
      'CNPJ ou CPF, aaaa-MM, CFOP, NCM, UF, trecho (SP-PR) ou o número do produto, como Produto nas listas; vazio: o que não é de nenhum.',
    ),
  nome: z.string().describe('Como se mostra.'),
  ...figures,
  produto: z
    .object({
      codigo: z.string(),
      fornecedor: z.string(),
      cnpjCpf: z.string(),
      ncm: z.string(),
      unidade: z.string(),
      quantidade: z.number(),
      precoMedio: z.number().nullable().describe('valor por unidade, até 10 casas; null: a quantidade é zero.'),
    })
    .nullable(),
})
/** A row of a report. */
export type ReportRow = z.output<typeof ReportRow>

const Report = z.object({
  linhas: z.array(ReportRow),
  demais: z
    .object({ linhas: z.number(), ...figures })
    .nullable()
    .describe('O que não está nas linhas desta página; com elas soma o total. null: nada.'),
  total: z.object(figures),
  totalDeLinhas: z.number(),
  totalDePaginas: z.number(),
  faltam: z.number().describe('Documentos que ainda não foram lidos por dentro: o relatório muda quando forem.'),
})
/** A report; amounts in reais. */
export type Report = z.output<typeof Report>

/** A report; ours. */
export const getReport = route({
  method: 'GET',
  path: '/v1/api/Relatorios',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'Compras, documentos emitidos ou fretes de até doze meses por participante, mês, CFOP, NCM, UF, produto ou trecho, com impostos e comparações. Conta o que vale: não o cancelado, denegado, substituído, desconhecido ou não realizado; devoluções, notas de entrada e notas de crédito e débito não são compras.',
  refusals: [404],
  query: z
    .object({
      ...filterShape,
      PaginaAtual: numberBetween(1, 999_999, 'PaginaAtual deve ser um número a partir de 1').default(1),
    })
    .refine(fits, misfit)
    .refine(isPeriod, badPeriod),
  data: Report,
})

/** Maximum rows of a spreadsheet; the rest is summed up in one row. */
export const reportSheetMax = 10_000

/** The same as a spreadsheet; ours. */
export const downloadReport = route({
  method: 'GET',
  path: '/v1/api/Relatorios/planilha',
  atLeast: 'leitura',
  scope: 'exportar',
  summary: `O relatório como planilha XLSX, até ${reportSheetMax.toLocaleString('pt-BR')} linhas e uma com o resto.`,
  refusals: [404, 429],
  query: z.object(filterShape).refine(fits, misfit).refine(isPeriod, badPeriod),
  produces: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})

const Prices = z.object({
  id: z.string(),
  nome: z.string(),
  codigo: z.string(),
  fornecedor: z.string(),
  cnpjCpf: z.string(),
  unidade: z.string(),
  gtin: z.string().nullable(),
  meses: z.array(
    z.object({ mes: z.string(), quantidade: z.number(), valor: amount, precoMedio: z.number().nullable() }),
  ),
})

/** How far back prices go. */
export const priceMonths = 24

/** Returns the prices of a product, and of the same product from other suppliers; ours. */
export const getPrices = route({
  method: 'GET',
  path: '/v1/api/Relatorios/precos/{idProduto}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `O preço médio de um produto comprado, mês a mês nos ${priceMonths} meses até MesAte, e o dos que outros fornecedores vendem com o mesmo nome ou GTIN.`,
  refusals: [404],
  params: z.object({ idProduto: z.string() }),
  query: z.object({ IdEmpresa: z.string().optional(), MesAte: month('MesAte') }),
  data: z.object({
    produto: Prices,
    iguais: z.array(Prices).describe('Até vinte, o mais comprado primeiro.'),
  }),
})
/** Prices of a product. */
export type Prices = z.output<typeof Prices>

/** Reports that come by e-mail, for each person at most. */
export const monthlyReportsMax = 5

const MonthlyReport = z.object({
  id: z.string(),
  tipo: z.enum(reportSubjects),
  por: z.enum(reportGroups),
  idEmpresa: z.string().nullable(),
})
/** A report sent by e-mail. */
export type MonthlyReport = z.output<typeof MonthlyReport>

/** The reports that the person receives each month; ours. */
export const listMonthlyReports = route({
  method: 'GET',
  path: '/v1/api/Relatorios/mensais',
  atLeast: 'leitura',
  summary: 'Os relatórios que esta pessoa recebe por e-mail no dia 1º, sobre o mês que terminou.',
  data: z.array(MonthlyReport),
})

/** Begins to receive one; ours. */
export const addMonthlyReport = route({
  method: 'POST',
  path: '/v1/api/Relatorios/mensais',
  atLeast: 'leitura',
  summary: `Passa a receber um relatório por e-mail no dia 1º de cada mês; até ${monthlyReportsMax}.`,
  refusals: [404, 409],
  body: z.object(choiceShape).refine(fits, misfit),
  data: z.array(MonthlyReport),
})

/** Receives one no longer; ours. */
export const removeMonthlyReport = route({
  method: 'POST',
  path: '/v1/api/Relatorios/mensais/remover',
  atLeast: 'leitura',
  summary: 'Deixa de receber um relatório por e-mail.',
  refusals: [404],
  body: z.object({ id: z.string({ error: 'Informe o relatório.' }) }),
  data: z.array(MonthlyReport),
})
