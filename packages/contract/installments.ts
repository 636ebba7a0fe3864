import { z } from 'zod'
import { alertBands } from './alerts.ts'
import { flag, LocalDay } from './fields.ts'
import { route } from './route.ts'

// Parcels (cobr/dup) of received notes, and their payment marks set by people. All of it is ours.

/** States to filter by: unpaid, overdue, not yet due, marked as paid. */
export const installmentStates = ['abertas', 'vencidas', 'a-vencer', 'pagas'] as const

/** Groupings of the sums. */
export const installmentGroupings = ['semana', 'mes', 'fornecedor'] as const

/** Limits: parcels per call, spreadsheet rows, months of a period, default months back. */
export const installmentMax = { marked: 5_000, sheet: 20_000, months: 36, monthsBack: 12 }

const filter = {
  Situacao: z
    .enum(installmentStates, { error: 'Situacao deve ser abertas, vencidas, a-vencer ou pagas' })
    .default('abertas'),
  IdEmpresa: z.string().optional(),
  Emitente: z
    .string()
    .regex(
      /^([0-9A-Z]{8}([0-9A-Z]{4}[0-9]{2})?|[0-9]{11})$/,
      'Emitente deve ser a raiz de um CNPJ (8), um CNPJ (14) ou um CPF (11), sem pontuação',
    )
    .optional(),
  VencimentoDe: LocalDay('VencimentoDe').optional(),
  VencimentoAte: LocalDay('VencimentoAte').optional(),
  SemVencimento: flag('SemVencimento').optional(),
}

const inOrder = ({
  VencimentoDe,
  VencimentoAte,
}: {
  VencimentoDe?: string | undefined
  VencimentoAte?: string | undefined
}) => !VencimentoDe || !VencimentoAte || VencimentoDe <= VencimentoAte
const notInOrder = { message: 'A data inicial deve ser anterior à data final', path: ['VencimentoDe'] }

/** Filter of parcels; both days inclusive. */
const InstallmentFilter = z.object(filter).refine(inOrder, notInOrder)

/** A parcel as people read it. */
export const Installment = z.object({
  idParcela: z.string(),
  idDFe: z.string(),
  chave: z.string(),
  numero: z.number(),
  /** nDup, as the issuer wrote it. */
  parcela: z.string(),
  emitente: z.string(),
  cnpjCpfEmitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  vencimento: z.string().nullable().describe('aaaa-MM-dd; null: a nota não diz quando a parcela vence.'),
  valor: z.number(),
  vencida: z.boolean().describe('Ninguém a marcou como paga, e o vencimento passou.'),
  alerta: z.enum(alertBands).nullable().describe('A faixa do alerta aberto da nota; null: nenhum.'),
  /** Set by a person, without knowledge of a payment; `quem` null: the account was deleted. */
  marcadaComoPaga: z.object({ quando: z.string(), quem: z.string().nullable() }).nullable(),
})
export type Installment = z.output<typeof Installment>

const sum = z.object({ totalDeItens: z.number(), valorTotal: z.number() })

/** Parcels by due date, oldest first, those marked as paid newest first; fifty a page. */
export const listInstallments = route({
  method: 'GET',
  path: '/v1/api/Vencimentos',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'As parcelas das notas recebidas, pela data do vencimento; as marcadas como pagas, da última para a primeira.',
  refusals: [404],
  query: z.object({ ...filter, depoisDe: z.string().optional() }).refine(inOrder, notInOrder),
  data: z.object({ items: z.array(Installment), proximo: z.string().nullable() }),
})

/** Sums of parcels by week, month or supplier. */
export const sumInstallments = route({
  method: 'GET',
  path: '/v1/api/Vencimentos/resumo',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Quantas parcelas vencem e quanto somam, por semana, mês ou fornecedor; as vencidas à parte.',
  refusals: [404],
  query: z
    .object({
      ...filter,
      Por: z.enum(installmentGroupings, { error: 'Por deve ser semana, mes ou fornecedor' }).default('semana'),
    })
    .refine(inOrder, notInOrder),
  data: z.object({
    total: sum,
    vencidas: sum.describe('Das abertas, as que já venceram.'),
    grupos: z.array(
      sum.extend({
        situacao: z
          .enum(installmentStates)
          .describe('Com de, ate e emitente, o filtro que mostra as parcelas do grupo.'),
        de: z.string().nullable().describe('Primeiro dia da semana (segunda-feira) ou do mês.'),
        ate: z.string().nullable(),
        semVencimento: z.boolean().describe('As parcelas sem data, que o filtro SemVencimento mostra.'),
        emitente: z.string().nullable().describe('Raiz do CNPJ, ou CPF.'),
        nome: z.string().nullable(),
        vencidas: sum,
      }),
    ),
    desde: z
      .string()
      .describe(
        `O primeiro vencimento que entra. Sem VencimentoDe, ${installmentMax.monthsBack} meses atrás; um período tem até ${installmentMax.months} meses.`,
      ),
    faltaLer: z
      .number()
      .describe('Documentos do workspace que ainda não foram lidos por dentro: as parcelas deles faltam.'),
    totalDeGrupos: z.number().describe('Vêm até 200: os primeiros, ou os fornecedores de maior valor.'),
  }),
})

/** Selects all parcels of a filter, to mark them. */
export const selectInstallments = route({
  method: 'GET',
  path: '/v1/api/Vencimentos/selecao',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `Os identificadores das parcelas de um filtro, até ${installmentMax.marked.toLocaleString('pt-BR')}, pela data do vencimento.`,
  refusals: [404],
  query: InstallmentFilter,
  data: z.object({ idsParcelas: z.array(z.string()), totalDeItens: z.number() }),
})

/** Marks parcels as paid, or removes the mark. */
export const markPaid = route({
  method: 'PUT',
  path: '/v1/api/Vencimentos/pagas',
  atLeast: 'fiscal',
  summary: 'Marca parcelas como pagas por quem chama, ou tira a marca. Nada é pago nem conferido em banco nenhum.',
  refusals: [404, 409],
  body: z.object({
    idsParcelas: z
      .array(z.string(), { error: 'Escolha as parcelas.' })
      .min(1, 'Escolha as parcelas.')
      .max(
        installmentMax.marked,
        `Escolha no máximo ${installmentMax.marked.toLocaleString('pt-BR')} parcelas de cada vez.`,
      ),
    paga: flag('paga'),
  }),
  data: z.object({ idsParcelas: z.array(z.string()).describe('As que mudaram: para desfazer.') }),
})

/** Parcels as a spreadsheet. */
export const downloadInstallments = route({
  method: 'GET',
  path: '/v1/api/Vencimentos/planilha',
  atLeast: 'leitura',
  scope: 'exportar',
  summary: `As parcelas de um filtro como planilha (XLSX), até ${installmentMax.sheet.toLocaleString('pt-BR')}.`,
  refusals: [404, 409],
  query: InstallmentFilter,
  produces: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})
