import { z } from 'zod'
import { flag } from './fields.ts'
import { badPeriod, isPeriod, month } from './reports.ts'
import { route } from './route.ts'

// Findings in bills of freight. All of it is ours.

/** Codes of the findings, in display order. */
export const freightCodes = ['fr-dobro', 'fr-tomador', 'fr-sem-nota', 'fr-valor', 'fr-quilo'] as const
export type FreightCode = (typeof freightCodes)[number]

/** How it is called. */
export const freightNames: Record<FreightCode, string> = {
  'fr-dobro': 'Cobrado em dobro',
  'fr-tomador': 'Tomador trocado',
  'fr-sem-nota': 'Sem nota',
  'fr-valor': 'Acima do usual pelo valor da carga',
  'fr-quilo': 'Acima do usual por quilo',
}

/** Limits: rows of a page, rows of a spreadsheet, documents shown behind a finding. */
export const freightMax = { page: 50, sheet: 10_000, documents: 20 }

const code = z.enum(freightCodes, 'Regra deve ser fr-dobro, fr-tomador, fr-sem-nota, fr-valor ou fr-quilo')

const Behind = z.object({
  idDFe: z.string().nullable().describe('null: não está aqui, ou é de uma empresa que você não vê.'),
  tipoDFe: z.number(),
  chave: z.string(),
  numero: z.number(),
  emitente: z.string(),
  valor: z.number().nullable(),
  emissao: z.string().nullable(),
})

/** One thing that does not fit in a bill of freight. */
export const FreightFinding = z.object({
  idDFe: z.string(),
  chave: z.string(),
  tipoDFe: z.number(),
  numero: z.number(),
  emitente: z.string(),
  cnpjEmitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  cnpjEmpresa: z.string(),
  valor: z.number().describe('Do CT-e.'),
  emissao: z.string(),
  regra: z.enum(freightCodes),
  nome: z.string(),
  frase: z.string(),
  documentos: z.array(Behind).describe(`Os documentos por trás, até ${freightMax.documents}.`),
  certo: z
    .object({ quem: z.string().nullable(), quando: z.string() })
    .nullable()
    .describe('Quem disse que está certo; null: ninguém.'),
  desacordoAte: z.string().nullable().describe('Até quando cabe um desacordo deste CT-e; null: não cabe.'),
})
export type FreightFinding = z.output<typeof FreightFinding>

const filterShape = {
  MesDe: month('MesDe'),
  MesAte: month('MesAte'),
  IdEmpresa: z.string().optional(),
  CampoPesquisa: z.string().trim().max(100, 'CampoPesquisa deve ter no máximo 100 caracteres').optional(),
  Regra: code.optional(),
  Estado: z.enum(['abertos', 'certos'], 'Estado deve ser abertos ou certos').default('abertos'),
}

/** Lists findings in the bills of a period; ours. */
export const listFreight = route({
  method: 'GET',
  path: '/v1/api/Fretes',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `O que não fecha nos CT-e de até doze meses, do mais novo ao mais antigo, ${freightMax.page} de cada vez, com a soma por regra.`,
  refusals: [404],
  query: z.object({ ...filterShape, depoisDe: z.string().max(100).optional() }).refine(isPeriod, badPeriod),
  data: z.object({
    items: z.array(FreightFinding),
    proximo: z.string().nullable().describe('null: estes foram os últimos.'),
    somas: z
      .array(
        z.object({ regra: z.enum(freightCodes), nome: z.string(), totalDeItens: z.number(), valorTotal: z.number() }),
      )
      .describe('De cada regra, também quando o filtro escolhe uma: quantos CT-e, e quanto cobram.'),
    total: z
      .object({ totalDeItens: z.number(), valorTotal: z.number() })
      .describe('Dos CT-e de todas as regras, cada um uma vez.'),
    faltam: z.number().describe('Documentos e CT-e que ainda não foram lidos ou conferidos.'),
  }),
})

/** The same as a spreadsheet; ours. */
export const downloadFreight = route({
  method: 'GET',
  path: '/v1/api/Fretes/planilha',
  atLeast: 'leitura',
  scope: 'exportar',
  summary: `Os achados do filtro como planilha XLSX, até ${freightMax.sheet.toLocaleString('pt-BR')} linhas.`,
  refusals: [404, 429],
  query: z.object(filterShape).refine(isPeriod, badPeriod),
  produces: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})

/** Returns the findings of one bill, including those that a person marked as right; ours. */
export const getFreight = route({
  method: 'GET',
  path: '/v1/api/Fretes/detalhes/{idDFe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'O que não fecha em um CT-e; vazio: nada.',
  refusals: [404],
  params: z.object({ idDFe: z.string() }),
  data: z.array(FreightFinding),
})

/** Marks a finding as right, or removes the mark; ours. */
export const markFreight = route({
  method: 'POST',
  path: '/v1/api/Fretes/estado',
  atLeast: 'fiscal',
  summary:
    'Diz que um achado está certo, ou desfaz isso. Vale enquanto o achado disser o mesmo; 409 quando já diz outra coisa, ou compara com um documento que você não vê.',
  refusals: [404, 409],
  body: z
    .object({
      idDFe: z.string({ error: 'Informe o documento.' }).min(1, 'Informe o documento.'),
      regra: code,
      certo: flag('certo'),
      frase: z.string().optional().describe('A do achado, como foi lida; obrigatória com `certo`.'),
    })
    .refine(({ certo, frase }) => !certo || frase !== undefined, {
      path: ['frase'],
      message: 'Informe a frase do achado que está certo.',
    }),
  data: z.object({ alterados: z.number().describe('0: já estava assim.') }),
})
