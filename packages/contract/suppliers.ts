import { z } from 'zod'
import { wholeNumber } from './fields.ts'
import { route } from './route.ts'

// Everything about one issuer of documents, with all CNPJs of its root. All of it is ours.

/** Limits: months of sums (with this one), last documents for events and taxes, products. */
export const supplierMax = { months: 24, documents: 1_000, products: 20_000 }

const params = z.object({
  raiz: z
    .string()
    .regex(/^([0-9A-Z]{8}|[0-9]{11})$/, 'Informe a raiz do CNPJ (8 caracteres) ou o CPF (11), sem pontuação'),
})
const query = { IdEmpresa: z.string().optional() }

const count = z.number()
const sum = z.object({ totalDeItens: count, valorTotal: z.number() })
const place = z.object({ idDFe: z.string(), tipoDFe: z.number(), chave: z.string(), emissao: z.string() })

/** An issuer as people read it. */
export const Supplier = z.object({
  raiz: z.string(),
  /** From its last document. */
  nome: z.string(),
  estabelecimentos: z.array(
    z.object({
      cnpjCpf: z.string(),
      nomes: z.array(z.string()).describe('Como os documentos o chamam, o nome mais novo antes.'),
      uf: z.string().nullable(),
      ultimaEmissao: z.string(),
    }),
  ),
  totalDeEstabelecimentos: count,
  primeiro: place,
  ultimo: place,
  meses: z
    .array(z.object({ mes: z.string(), notas: sum, fretes: sum }))
    .describe(
      `Os últimos ${supplierMax.months} meses: notas recebidas e fretes pagos que valem, de documentos completos.`,
    ),
  dozeMeses: z.object({
    valorTotal: z.number(),
    participacao: z
      .number()
      .nullable()
      .describe('Do valor de todas as notas recebidas, de 0 a 1; null: não há nenhuma.'),
    valorIbs: z.number().describe('Informativo em 2026: nem dívida, nem crédito.'),
    valorCbs: z.number().describe('Informativo em 2026: nem dívida, nem crédito.'),
  }),
  situacoes: z
    .array(z.object({ tipoDFe: z.number(), status: z.number(), nome: z.string(), totalDeItens: count }))
    .describe(`Quantos documentos em cada situação, dos últimos ${supplierMax.months} meses.`),
  alertas: z.object({
    abertos: z.object({ critico: count, alto: count, medio: count, informativo: count }),
    ultimos: z.array(
      z.object({
        idDFe: z.string(),
        tipoDFe: z.number(),
        numero: z.number(),
        faixa: z.enum(['informativo', 'medio', 'alto', 'critico']),
        regras: z.array(z.string()).describe('Os nomes das regras.'),
      }),
    ),
  }),
  /** Statistics of the last documents. */
  recentes: z.object({
    totalDeItens: count.describe(`Quantos são, até ${supplierMax.documents.toLocaleString('pt-BR')}.`),
    eventos: z
      .array(z.object({ tpEvento: z.number(), nome: z.string(), totalDeItens: count }))
      .describe('Em quantos deles há respostas, cancelamentos e correções que valem.'),
    reforma: z.object({
      dispensados: count.describe('Sem IBS e CBS, e nem precisavam (Simples, MEI, antes de 2026).'),
      sem: count,
      parciais: count,
      completos: count,
      comAchados: count,
    }),
  }),
  vencimentos: z
    .object({ abertas: sum, vencidas: sum, proximo: z.string().nullable() })
    .describe('Com vencimento de doze meses atrás em diante.'),
  faltaLer: count.describe('Documentos do workspace cujos itens ainda não foram lidos: faltam nas somas.'),
})
export type Supplier = z.output<typeof Supplier>

/** Everything about one issuer but its products. */
export const getSupplier = route({
  method: 'GET',
  path: '/v1/api/Fornecedores/{raiz}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'Um fornecedor, pela raiz do CNPJ ou pelo CPF: nomes, meses, participação, situações, alertas, respostas, IBS e CBS, e o que há a pagar.',
  refusals: [404],
  params,
  query: z.object(query),
  data: Supplier,
})

/** Lists the products of an issuer under the names in its notes, by value; fifty a page. */
export const listSupplierProducts = route({
  method: 'GET',
  path: '/v1/api/Fornecedores/{raiz}/produtos',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `Os produtos de um fornecedor nos últimos ${supplierMax.months} meses, com o último preço médio mensal, o menor e o maior.`,
  refusals: [404],
  params,
  query: z.object({
    ...query,
    CampoPesquisa: z.string().trim().max(100, 'CampoPesquisa deve ter no máximo 100 caracteres').optional(),
    PaginaAtual: wholeNumber('PaginaAtual deve ser um número a partir de 1')
      .pipe(z.int().min(1, 'PaginaAtual deve ser um número a partir de 1').max(10_000))
      .default(1),
  }),
  data: z.object({
    items: z.array(
      z.object({
        idProduto: z.number().describe('O Produto dos filtros da lista de documentos.'),
        codigo: z.string(),
        nome: z.string(),
        ncm: z.string(),
        unidade: z.string(),
        totalDeDocumentos: count,
        quantidade: z.string().describe('Decimal, na unidade do produto.'),
        valorTotal: z.number().describe('Valor dos produtos menos os descontos.'),
        ultimoMes: z.string(),
        ultimoPreco: z.number().nullable().describe('Preço médio do último mês com compras; null: sem quantidade.'),
        menorPreco: z.number().nullable(),
        maiorPreco: z.number().nullable(),
      }),
    ),
    totalDeItens: count,
    incompleto: z
      .boolean()
      .describe(
        `São mais de ${supplierMax.products.toLocaleString('pt-BR')} produtos, e só os mais novos foram olhados.`,
      ),
    totalDePaginas: count,
  }),
})
