import { z } from 'zod'
import { amountText, flag, LocalDateTime } from './fields.ts'
import { route } from './route.ts'

// Alerts: documents that look wrong, with the reasons. All of it is ours.

/** Severities of an alert, the most serious last. */
export const alertBands = ['informativo', 'medio', 'alto', 'critico'] as const
export type AlertBand = (typeof alertBands)[number]

/** The severities in words. */
export const bandNames = { informativo: 'informativo', medio: 'médio', alto: 'alto', critico: 'crítico' } as const

/** States of an alert: `nova`, `em-analise` and `confirmada` are open. */
export const alertStates = ['nova', 'em-analise', 'conhecida', 'confirmada'] as const
export type AlertState = (typeof alertStates)[number]

/** Limits: months for which a reason stays silenced, alerts changed by one call, and others. */
export const alertMax = {
  knownMonths: 12,
  perCall: 500,
  comparedShown: 20,
  /** Limits of a rule test. */
  testedDays: 90,
  testedPerType: 10_000,
  strongestShown: 20,
}

const ruleId = z.string().regex(/^S\d{2}$/, 'Regra desconhecida')

/** A document compared by a reason; `idDFe` null: not here, or not visible to the caller. */
const Compared = z.object({
  idDFe: z.string().nullable(),
  tipoDFe: z.number(),
  chave: z.string(),
  numero: z.number(),
  emitente: z.string(),
  valor: z.number().nullable(),
  emissao: z.string().nullable(),
})

/** Why a document looks wrong: a rule that fired. */
const Reason = z.object({
  regra: z.string(),
  nome: z.string(),
  versao: z.number(),
  peso: z.number(),
  frase: z.string(),
  emAprendizado: z.boolean().describe('Só mostrado: os hábitos da empresa ainda não são conhecidos.'),
  comparados: z.array(Compared).describe(`Os documentos com que a regra comparou, até ${alertMax.comparedShown}.`),
  entradas: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).describe('Os números da decisão.'),
})

/** An alert: one document that looks wrong, with all of its reasons. */
export const Alert = z.object({
  idDFe: z.string(),
  chave: z.string(),
  tipoDFe: z.number(),
  numero: z.number(),
  emitente: z.string(),
  cnpjEmitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  valor: z.number(),
  /** As written in the document, offset included. */
  emissao: z.string(),
  /** 0 to 1, two decimals. */
  score: z.number(),
  faixa: z.enum(alertBands),
  estado: z.enum(alertStates),
  emAprendizado: z
    .boolean()
    .describe('Algum motivo é só mostrado, porque os hábitos da empresa ainda não são conhecidos.'),
  /** By weight, the heaviest first. */
  motivos: z.array(Reason),
  /** Person who set the state, and when; null: no one did. Name null: the account was deleted. */
  decisao: z.object({ quem: z.string().nullable(), quando: z.string() }).nullable(),
  avaliadoEm: z.string(),
  motivoNovo: z.boolean().describe('Há um motivo que não havia quando uma pessoa decidiu.'),
  seguraCiencia: z.boolean().describe('A Ciência automática deste documento espera por uma pessoa.'),
})
export type Alert = z.output<typeof Alert>

/** The alerts of a workspace as a work list; ours. */
export const listAlerts = route({
  method: 'GET',
  path: '/v1/api/Alertas',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Os alertas do filtro, do mais grave ao menos grave e do mais novo ao mais antigo, 50 de cada vez.',
  refusals: [404],
  query: z.object({
    Faixa: z.enum(alertBands, 'Faixa deve ser informativo, medio, alto ou critico').optional(),
    /** `abertos`: not `conhecida`, with a reason that counts, and the document looks wrong. */
    Estado: z
      .enum(
        ['abertos', 'em-aprendizado', ...alertStates],
        'Estado deve ser abertos, em-aprendizado, nova, em-analise, conhecida ou confirmada',
      )
      .default('abertos'),
    Regra: ruleId.optional(),
    IdEmpresa: z.string().optional(),
    depoisDe: z.string().max(100).optional().describe('`proximo` da resposta anterior.'),
  }),
  data: z.object({
    items: z.array(Alert),
    /** Null: these were the last. */
    proximo: z.string().nullable(),
    totalDeItens: z.number().describe('Do filtro inteiro, contados até 10.000.'),
  }),
})

/** Counts open alerts, and tells whether all documents were judged; ours. */
export const countAlerts = route({
  method: 'GET',
  path: '/v1/api/Alertas/resumo',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Quantos alertas abertos há em cada faixa, e se todos os documentos já foram avaliados.',
  data: z.object({
    abertos: z.object({
      informativo: z.number(),
      medio: z.number(),
      alto: z.number(),
      critico: z.number(),
    }),
    emAprendizado: z.number().describe('Quantos só são mostrados: nenhum motivo deles conta ainda.'),
    /** `em-dia`: all judged. `avaliando`: new documents pending. `construindo`: old ones. */
    situacao: z.enum(['em-dia', 'avaliando', 'construindo']),
    faltam: z.number().describe('Quantas alterações ou documentos faltam avaliar, contados até 10.000.'),
    desde: z.string().nullable().describe('Há quanto tempo a mais antiga delas espera; null: nenhuma.'),
    mensagem: z.string().describe('A situação em uma frase.'),
  }),
})

/** Returns an alert with its earlier evaluations; ours. */
export const getAlert = route({
  method: 'GET',
  path: '/v1/api/Alertas/detalhes/{idDFe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'O alerta de um documento, com as avaliações anteriores dele. 404: não há alerta.',
  refusals: [404],
  params: z.object({ idDFe: z.string() }),
  data: Alert.extend({
    /** Newest first, the last twenty. */
    anteriores: z.array(
      z.object({
        quando: z.string(),
        score: z.number(),
        faixa: z.enum(alertBands),
        texto: z.string(),
        regras: z.array(z.string()),
      }),
    ),
  }),
})

/** Why a document looks wrong, as files; ours. */
export const downloadEvidence = route({
  method: 'GET',
  path: '/v1/api/Alertas/evidencias/{idDFe}',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'As evidências de um alerta em um ZIP: XML e eventos do documento e dos comparados, motivos e linha do tempo.',
  refusals: [404, 429],
  params: z.object({ idDFe: z.string() }),
  produces: 'application/zip',
})

/** New state of alerts, set by a person. */
export const AlertStateForm = z.object({
  idsDFe: z
    .array(z.string(), { error: 'Escolha os alertas.' })
    .min(1, 'Escolha os alertas.')
    .max(alertMax.perCall, `Escolha no máximo ${alertMax.perCall} alertas de cada vez.`),
  estado: z.enum(['em-analise', 'conhecida', 'confirmada'], {
    error: 'Estado deve ser em-analise, conhecida ou confirmada',
  }),
  /** For `conhecida`: the reasons to silence; default: all of the alert that can be silenced. */
  regras: z.array(ruleId).max(50).optional(),
  /** Reais: dearer documents raise the alert again. */
  teto: amountText('teto').optional(),
  /** Documents issued later raise the alert again; default: twelve months from now. */
  ate: LocalDateTime('ate').optional(),
})

/** Sets the state of alerts; ours. */
export const setAlertState = route({
  method: 'POST',
  path: '/v1/api/Alertas/estado',
  atLeast: 'fiscal',
  summary:
    'Muda o estado de alertas. `conhecida` cala os motivos para o mesmo emitente e a mesma empresa; `em-analise` desfaz isso.',
  refusals: [404, 409],
  body: AlertStateForm,
  data: z.object({ alterados: z.number() }),
})

/** A rule with its statistics. */
export const AlertRule = z.object({
  id: z.string(),
  nome: z.string(),
  familia: z.enum(['identidade', 'valor', 'tempo', 'transporte', 'tributos', 'integridade', 'cancelamento']),
  peso: z.number(),
  ligada: z.boolean(),
  /** It cannot be switched off. */
  fixa: z.boolean(),
  /** Alerts in which it fired, and their states set by people. */
  disparos: z.number(),
  confirmados: z.number(),
  conhecidos: z.number(),
  precisao: z.number().nullable().describe('Confirmados entre os que uma pessoa decidiu, de 0 a 1; null: nenhum.'),
})
export type AlertRule = z.output<typeof AlertRule>

/** The rules of the alerts; ours. */
export const listAlertRules = route({
  method: 'GET',
  path: '/v1/api/Alertas/regras',
  atLeast: 'leitura',
  summary: 'As regras dos alertas, com quantas vezes cada uma disparou e o que as pessoas disseram.',
  data: z.array(AlertRule),
})

/** Switches a rule on or off; ours. */
export const switchAlertRule = route({
  method: 'PUT',
  path: '/v1/api/Alertas/regras/{id}',
  atLeast: 'administrador',
  summary: 'Liga ou desliga uma regra. O que já foi avaliado é avaliado de novo aos poucos.',
  refusals: [404, 409],
  params: z.object({ id: z.string() }),
  body: z.object({ ligada: flag('ligada') }),
  data: z.array(AlertRule),
})

const AlertTest = z.object({
  pedidoEm: z.string(),
  situacao: z.enum(['testando', 'pronto', 'falhou']),
  /** Documents that were looked at, and how many there are to look at. */
  avaliados: z.number(),
  total: z.number(),
  limitado: z
    .boolean()
    .describe(`Há mais de ${alertMax.testedPerType} documentos de um tipo: só os mais novos são testados.`),
  incompleto: z.boolean().describe('Documentos mais antigos ainda estavam sendo lidos quando o teste foi pedido.'),
  marcados: z.number().describe('Documentos que a regra marcaria, sem os que alguém disse que são conhecidos.'),
  emAprendizado: z
    .number()
    .describe('Deles, os que seriam só mostrados: os hábitos da empresa ainda não são conhecidos.'),
  confirmados: z.number().describe('Deles, os que uma pessoa já confirmou.'),
  conhecidos: z.number().describe('Documentos que a regra acha e que uma pessoa disse que são conhecidos.'),
  alertasNovos: z.number().describe('Documentos que só têm alerta por causa da regra.'),
  mudamDeFaixa: z.number().describe('Documentos com alerta cuja faixa é outra por causa da regra.'),
  /** By score. */
  maisFortes: z.array(
    z.object({
      idDFe: z.string(),
      chave: z.string(),
      tipoDFe: z.number(),
      numero: z.number(),
      emitente: z.string(),
      idEmpresa: z.string(),
      empresa: z.string(),
      valor: z.number(),
      emissao: z.string(),
      /** With the rule. */
      score: z.number(),
      sem: z.enum(alertBands).nullable().describe('A faixa sem a regra; null: sem ela não há alerta.'),
      com: z.enum(alertBands),
      frase: z.string(),
      estado: z.enum(alertStates).nullable().describe('Do alerta que o documento tem agora; null: nenhum.'),
    }),
  ),
})
/** Result of a rule test. */
export type AlertTest = z.output<typeof AlertTest>

/** Starts a test of a rule on recent documents; ours. */
export const testAlertRule = route({
  method: 'POST',
  path: '/v1/api/Alertas/regras/{id}/testar',
  shared: true,
  atLeast: 'administrador',
  summary: `Testa uma regra, ligada ou não, nos documentos dos últimos ${alertMax.testedDays} dias. Nada muda: \`teste\` diz o que ela marcaria.`,
  refusals: [404, 429],
  params: z.object({ id: z.string() }),
  data: AlertTest,
})

/** Returns the result of the last test of a rule; ours. */
export const getAlertTest = route({
  method: 'GET',
  path: '/v1/api/Alertas/regras/{id}/teste',
  atLeast: 'administrador',
  summary: 'O último teste de uma regra, também enquanto anda. 404: não houve.',
  refusals: [404],
  params: z.object({ id: z.string() }),
  data: AlertTest,
})

const Habits = z.object({
  silencios: z.array(
    z.object({
      idEmpresa: z.string(),
      empresa: z.string(),
      dias: z.number().describe('Dias desde a última nota.'),
      comum: z.number().describe('Intervalo entre dias com notas que quase nunca (5%) é maior, em dias.'),
      capturaParada: z.boolean().describe('Há um dia nada é consultado com sucesso: o silêncio pode ser da captura.'),
    }),
  ),
  digitos: z.array(
    z.object({
      raizEmitente: z.string(),
      emitente: z.string(),
      notas: z.number(),
      desvio: z.number().describe('Desvio médio dos primeiros dígitos dos valores da lei de Benford; acima de 0,015.'),
    }),
  ),
})
/** Unusual habits of companies and issuers. */
export type AlertHabits = z.output<typeof Habits>

/** Lists unusual habits of companies and issuers, not tied to one document; ours. */
export const listAlertHabits = route({
  method: 'GET',
  path: '/v1/api/Alertas/habitos',
  atLeast: 'leitura',
  summary:
    'Empresas sem notas há mais tempo do que o hábito explica, e emitentes cujos valores começam fora do comum, até 50 de cada.',
  data: Habits,
})

/** Reasons that a person marked as known. */
const Known = z.object({
  idConhecido: z.string(),
  regra: z.string(),
  nome: z.string(),
  /** Base of a CNPJ, or a CPF. */
  raizEmitente: z.string(),
  emitente: z.string(),
  idEmpresa: z.string(),
  empresa: z.string(),
  /** Reais; null: any value. */
  teto: z.number().nullable(),
  ate: z.string(),
  quem: z.string().nullable(),
  quando: z.string(),
})
export type KnownAlert = z.output<typeof Known>

/** Lists reasons marked as known that are still in force, newest first; ours. */
export const listKnownAlerts = route({
  method: 'GET',
  path: '/v1/api/Alertas/conhecidos',
  atLeast: 'leitura',
  summary: 'O que as pessoas do workspace disseram que é conhecido, do mais novo ao mais antigo, até 1.000.',
  data: z.array(Known),
})

/** Takes back that something is known; ours. */
export const removeKnownAlert = route({
  method: 'POST',
  path: '/v1/api/Alertas/apagar-conhecido',
  atLeast: 'administrador',
  summary: 'Desfaz um conhecido: o que ele calava volta a ser mostrado.',
  refusals: [404],
  body: z.object({ idConhecido: z.string({ error: 'Informe o conhecido.' }) }),
  data: z.array(Known),
})
