import { z } from 'zod'
import { alertBands } from './alerts.ts'
import { answerRuleAnswers, answerRuleMax, purposes, unprovedMax } from './codes.ts'
import { AnswerRuleForm, AskedForm, TwoPeopleForm } from './forms.ts'
import { route } from './route.ts'

// Rules for the automatic Ciência and for suggested answers, in order: the first match decides.
// Also answers that need approval by a second person. All of it is ours.

/** A rule of a workspace. */
const AnswerRule = z.object({
  idRegra: z.string(),
  nome: z.string(),
  ativa: z.boolean(),
  condicoes: z.object({
    idsEmpresa: z.array(z.string()).optional(),
    emitentes: z.array(z.string()).optional(),
    emitenteNovo: z.boolean().optional(),
    comAlerta: z.enum(alertBands).optional(),
    operacao: z.enum(['0', '1']).optional(),
    finalidades: z.array(z.enum(purposes)).optional(),
    cfops: z.array(z.string()).optional(),
    valorDe: z.number().optional(),
    valorAte: z.number().optional(),
  }),
  resposta: z.enum(answerRuleAnswers),
  dias: z.number().nullable(),
  /** Person who saved it last; null: the account was deleted. */
  guardadaPor: z.string().nullable(),
  guardadaEm: z.string(),
})
export type AnswerRule = z.output<typeof AnswerRule>

const AnswerRules = z.object({
  /** In their order: the first that fits decides. */
  regras: z.array(AnswerRule),
  /** Applied after all rules: companies with automatic Ciência of every note. */
  comCienciaParaTodas: z.array(z.object({ idEmpresa: z.string(), empresa: z.string() })),
})

const base = '/v1/api/RegrasDeResposta'

/** The rules of the workspace; ours. */
export const listAnswerRules = route({
  method: 'GET',
  path: base,
  atLeast: 'leitura',
  summary: 'As regras que decidem a quais notas a Ciência da Operação vai sem uma pessoa, na ordem em que valem.',
  data: AnswerRules,
})

/** Adds a rule after the others, or replaces one; ours. */
export const saveAnswerRule = route({
  method: 'POST',
  path: `${base}/guardar`,
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Cria uma regra, depois das outras, ou muda uma.',
  refusals: [404, 409],
  body: AnswerRuleForm,
  data: AnswerRules,
})

/** Reorders the rules; ours. */
export const orderAnswerRules = route({
  method: 'POST',
  path: `${base}/ordenar`,
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Põe as regras em outra ordem. 409: as regras mudaram nesse meio-tempo.',
  refusals: [409],
  body: z.object({ idsRegra: z.array(z.string(), { error: 'Informe as regras.' }).max(answerRuleMax.rules) }),
  data: AnswerRules,
})

/** Deletes a rule; ours. */
export const removeAnswerRule = route({
  method: 'POST',
  path: `${base}/apagar`,
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Apaga uma regra. O que esperava por causa dela não é enviado.',
  refusals: [404],
  body: z.object({ idRegra: z.string({ error: 'Informe a regra.' }) }),
  data: AnswerRules,
})

/** Decision of a rule about a note. */
const Decision = z.object({
  /** Null: no rule fits, and the switch of the company decides. */
  regra: z.string().nullable(),
  resposta: z.enum([...answerRuleAnswers, 'nada']),
})

/** Tests a rule on received notes and sends nothing; ours. */
export const testAnswerRule = route({
  method: 'POST',
  path: `${base}/testar-regra`,
  shared: true,
  atLeast: 'administrador',
  summary: `O que a regra teria decidido das notas que chegaram nos últimos ${answerRuleMax.testedDays} dias. Nada é guardado nem enviado.`,
  refusals: [404],
  body: AnswerRuleForm,
  data: z.object({
    totalDeItens: z.number().describe('Notas destinadas às empresas que chegaram nesse tempo.'),
    decididas: z.number().describe('Delas, as que esta regra decidiria.'),
    mudariam: z.number().describe('Delas, as que teriam outra resposta do que com as regras de agora.'),
    exemplos: z
      .array(
        z.object({
          idDFe: z.string(),
          chave: z.string(),
          numero: z.number(),
          emitente: z.string(),
          idEmpresa: z.string(),
          empresa: z.string(),
          valor: z.number(),
          emissao: z.string(),
          antes: Decision,
          depois: Decision,
        }),
      )
      .describe(`As que mudariam, da mais nova à mais antiga, até ${answerRuleMax.shown}.`),
  }),
})

const AskedAnswer = z.object({
  idPedido: z.string(),
  idDFe: z.string(),
  tipoDFe: z.number(),
  chave: z.string(),
  numero: z.number(),
  emitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  valor: z.number(),
  tpEvento: z.number(),
  descricao: z.string(),
  justificativa: z.string().nullable(),
  /** Text with the requester and the time. */
  motivo: z.string(),
  pedidaEm: z.string(),
  /** The last instant in which the authority takes it; null: none is known. */
  prazo: z.string().nullable(),
  minha: z.boolean().describe('Quem chama, ou uma chave de API sua, a pediu: pode retirá-la, e não aprová-la.'),
  impedimento: z.string().nullable().describe('Por que quem chama não pode aprovar; null: pode.'),
})
const heldFields = {
  idDFe: true,
  tipoDFe: true,
  chave: true,
  numero: true,
  emitente: true,
  empresa: true,
  descricao: true,
  motivo: true,
  pedidaEm: true,
} as const
/** An answer that waits for a second person. */
export type AskedAnswer = z.output<typeof AskedAnswer>

const TwoPeople = z.object({
  valor: z
    .number()
    .nullable()
    .describe('A partir de quantos reais uma resposta precisa de duas pessoas; null: nenhuma.'),
  guardadoPor: z.string().nullable(),
  guardadoEm: z.string().nullable(),
  empresasSemSegunda: z
    .array(z.string())
    .describe('Empresas em que menos de duas pessoas podem responder: nelas ninguém poderia aprovar.'),
})
/** Amount above which an answer needs two people. */
export type TwoPeople = z.output<typeof TwoPeople>

const askedBase = '/v1/api/SegundaPessoa'

/** From which amount on an answer needs two people; ours. */
export const getTwoPeople = route({
  method: 'GET',
  path: `${askedBase}/valor`,
  atLeast: 'leitura',
  summary: 'A partir de que valor uma resposta final, ou um desacordo, só é enviada com duas pessoas.',
  data: TwoPeople,
})

/** Changes that amount, or switches it off; ours. */
export const saveTwoPeople = route({
  method: 'PUT',
  path: `${askedBase}/valor`,
  atLeast: 'administrador',
  proof: 'always',
  summary:
    'Muda esse valor, ou o desliga. O que já espera continua esperando. 409: em uma empresa ninguém poderia aprovar.',
  refusals: [409],
  body: TwoPeopleForm,
  data: TwoPeople,
})

/** The answers that wait for a second person; ours. */
export const listAsked = route({
  method: 'GET',
  path: askedBase,
  atLeast: 'leitura',
  summary: 'As respostas que esperam por uma segunda pessoa, da mais antiga à mais nova, até 300.',
  data: z.object({ items: z.array(AskedAnswer), totalDeItens: z.number() }),
})

/** The events that wait for a release; ours. */
export const listHeldEvents = route({
  method: 'GET',
  path: `${askedBase}/retidas`,
  atLeast: 'leitura',
  summary: 'O que sairia se o envio de manifestações fosse liberado, até 300, enquanto ele está retido.',
  data: z.object({
    desde: z.string().nullable().describe('Desde quando o envio espera; null: não espera.'),
    motivo: z.string().nullable().describe('Por que espera.'),
    items: z.array(AskedAnswer.pick(heldFields)),
    totalDeItens: z.number(),
    impedimento: z.string().nullable().describe('Por que quem chama não pode liberar; null: pode.'),
  }),
})

/** Lets them leave; ours. */
export const releaseHeldEvents = route({
  method: 'POST',
  path: `${askedBase}/liberar`,
  atLeast: 'administrador',
  proof: 'always',
  summary:
    'Libera o envio de manifestações que está retido. 409: ela tem mais de um workspace, e libera quem a administra.',
  refusals: [409],
})

/** Approves or refuses answers that wait; ours. */
export const decideAsked = route({
  method: 'POST',
  path: `${askedBase}/decidir`,
  shared: true,
  atLeast: 'fiscal',
  proof: ({ body }: { body: { idsPedido: string[] } }) => body.idsPedido.length > unprovedMax,
  summary:
    'Aprova respostas que esperam, que então são enviadas, ou as recusa com um motivo; quem pediu só pode retirar o pedido. Nenhuma chave de API aprova.',
  refusals: [404, 409],
  body: AskedForm,
  data: z.object({
    feitas: z.number(),
    impedidas: z.array(z.object({ idPedido: z.string(), numero: z.number(), motivo: z.string() })),
  }),
})
