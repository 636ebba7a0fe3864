import { z } from 'zod'
import { route } from './route.ts'

/** Sums of IBS, CBS and IS over documents of a month, in reais; informative in 2026. */
const Sum = z.object({
  documentos: z.number(),
  valor: z.number(),
  ibs: z.number(),
  cbs: z.number(),
  is: z.number(),
})

/** Documents of one kind of the month. */
const Count = z.object({ tipoDFe: z.number(), documentos: z.number(), valor: z.number() })

const Supplier = z.object({ cnpjCpf: z.string(), nome: z.string() })

/** A document of the sheet. */
const SheetDocument = z.object({
  idDFe: z.string(),
  tipoDFe: z.number(),
  numero: z.number(),
  emitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  valor: z.number(),
  dataEmissao: z.string().describe('Data e hora locais do documento.'),
})

/** A nota de crédito or débito of a supplier. */
const Note = SheetDocument.extend({
  dias: z.number().describe('Dias inteiros desde a emissão.'),
})

/** IBS, CBS and IS of a month; ours. */
export const ReformSheet = z.object({
  mes: z.string(),
  aviso: z.string().nullable().describe('O que os valores não são; null: o ano não é de teste.'),
  tabela: z.string().describe('O dia das tabelas de CST e cClassTrib com que se conferiu, aaaa-MM-dd.'),
  faltam: z.number().describe('Documentos da conta que ainda não foram lidos por dentro e não entram aqui.'),
  total: z.array(Sum.extend({ tipoDFe: z.number() })),
  fornecedores: z
    .array(Supplier.extend(Sum.shape).extend({ tipoDFe: z.number() }))
    .describe('Os que destacaram IBS, CBS ou IS, do maior valor ao menor.'),
  fornecedoresAoTodo: z.number(),
  cfops: z.array(Sum.extend({ codigo: z.string() })).describe('Das NF-e; a soma do que fica fora dos itens não entra.'),
  ncms: z.array(Sum.extend({ codigo: z.string() })),
  classificacoes: z
    .array(Sum.extend({ tipoDFe: z.number(), codigo: z.string(), nome: z.string().describe('Do CST, na tabela.') }))
    .describe('Por cClassTrib, também sem valor destacado.'),
  com: z.array(Count),
  parcial: z.array(Count),
  dispensado: z.array(Count).describe('De emitentes do Simples e MEI: em 2026 não precisam informar.'),
  sem: z.array(Count),
  semGrupos: z
    .array(
      Supplier.extend(Count.shape).extend({
        texto: z.string().describe('Pronto para enviar ao fornecedor.'),
      }),
    )
    .describe('Fornecedores do regime normal que não informaram IBS e CBS, do maior valor ao menor.'),
  semGruposAoTodo: z.number().describe('Fornecedores.'),
  achados: z.array(SheetDocument.extend({ achados: z.array(z.object({ codigo: z.string(), frase: z.string() })) })),
  achadosAoTodo: z.array(Count),
  creditos: z
    .array(Note)
    .describe('Notas de crédito de fornecedores sem resposta (211128), de qualquer mês, da mais antiga à mais nova.'),
  creditosAoTodo: z.number(),
  debitos: z.array(Note).describe('Notas de débito de fornecedores emitidas no mês.'),
  debitosAoTodo: z.number(),
})
export type ReformSheet = z.output<typeof ReformSheet>

const query = z.object({
  Mes: z
    .string({ error: 'Mes deve ser um mês como 2026-11' })
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'Mes deve ser um mês como 2026-11'),
  IdEmpresa: z.string().optional(),
})

/** Returns IBS, CBS and IS of the documents of a month; ours. */
export const getReformSheet = route({
  method: 'GET',
  path: '/v1/api/Reforma',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'IBS, CBS e IS destacados no mês por fornecedor, CFOP e NCM, quem não os informou, o que não fecha e o que espera resposta. Em 2026 os valores são informativos.',
  refusals: [404],
  query,
  data: ReformSheet,
})

/** The same as a spreadsheet; ours. */
export const downloadReformSheet = route({
  method: 'GET',
  path: '/v1/api/Reforma/planilha',
  atLeast: 'leitura',
  scope: 'exportar',
  summary: 'A planilha de IBS, CBS e IS do mês, em XLSX.',
  refusals: [404, 429],
  query,
  produces: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})
