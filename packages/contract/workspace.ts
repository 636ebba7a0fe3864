import { z } from 'zod'
import { LocalDateTime, numberBetween, wholeNumber } from './fields.ts'
import { route } from './route.ts'

/** Dashboard of the current month (section 3). `tipoDfe` 0 means NFe, any other value CTe. */
export const Dashboard = z.object({
  qtdNfe: z.number(),
  qtdCte: z.number(),
  totalNfeCte: z.number(),
  qtdEmpresasCadastradas: z.number(),
  /** Ours: the sums of the same documents, in reais, and both of the whole month before. */
  valorNfe: z.number().optional(),
  valorCte: z.number().optional(),
  mesAnterior: z
    .object({ qtdNfe: z.number(), qtdCte: z.number(), valorNfe: z.number(), valorCte: z.number() })
    .optional(),
  /** The company of most documents first. */
  qtdDocumentosPorEmpresa: z.array(
    z.object({
      razaoSocial: z.string(),
      qtdNfe: z.number(),
      qtdCte: z.number(),
      totalNfeCte: z.number(),
      ativa: z.boolean(),
      /** Ours, as the sum of its documents in reais. */
      idEmpresa: z.string().optional(),
      valorNfeCte: z.number().optional(),
    }),
  ),
  ultimosDocumentosProcessados: z.array(
    z.object({
      tipoDfe: z.number(),
      nomeEmitente: z.string(),
      chaveDfe: z.string(),
      dataCadastro: z.string(),
      /** Ours. */
      idDfe: z.string().optional(),
    }),
  ),
  /** Ours: documents by issue date, for each day of the month until today (aaaa-MM-dd). */
  documentosPorDia: z.array(z.object({ dia: z.string(), qtdNfe: z.number(), qtdCte: z.number() })).optional(),
  /** Ours: what asks for a person; `pendingLists` has what each number counts. */
  pendencias: z
    .object({
      /** NF-e of the last 90 days with only the summary here. */
      resumos: z.number(),
      /** NF-e of the last 90 days with a Ciência but without a conclusive answer. */
      aguardandoResposta: z.number(),
      /** NF-e and CT-e of the current month that were cancelled. */
      canceladasNfe: z.number(),
      canceladosCte: z.number(),
      /** NF-e and CT-e whose next answer can be given until the end of tomorrow at most. */
      vencemNfe: z.number(),
      vencemCte: z.number(),
      /** NF-e and CT-e that changed after a person relied on them, and were not checked since. */
      mudaramNfe: z.number(),
      mudaramCte: z.number(),
      /** NF-e for which a rule suggests an answer, and answers that wait for a second person. */
      confirmacoesSugeridas: z.number(),
      desconhecimentosPreparados: z.number(),
      aguardamSegunda: z.number(),
      /** Open alerts, and the counts of the three most serious bands. */
      alertas: z.number(),
      alertasCriticos: z.number(),
      alertasAltos: z.number(),
      alertasMedios: z.number(),
      /** Overdue parcels of the last twelve months that are not marked as paid. */
      parcelasVencidas: z.number(),
      /** CT-e of the last three months with a finding not marked as right. */
      fretesAConferir: z.number(),
    })
    .optional(),
  /** Ours: problems of the whole installation that concern everybody, a sentence or two each. */
  avisos: z.array(z.string()).optional(),
  /** Ours: what arrives can be stored. */
  armazenamentoSaudavel: z.boolean().optional(),
  /** Ours: the first events of the production environment wait for their release. */
  envioRetido: z.boolean().optional(),
})
export type Dashboard = z.output<typeof Dashboard>

/** The numbers of the month (section 7). */
export const getDashboard = route({
  method: 'GET',
  path: '/v1/api/Dashboard',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Números do mês, documentos por empresa e últimos documentos de hoje.',
  data: Dashboard,
})

/** Money that somebody should look at, in reais: the first part of the dashboard; ours. */
export const Money = z.object({
  aConferir: z
    .object({ documentos: z.number(), valor: z.number() })
    .describe('Documentos com alerta aberto alto ou crítico, e quanto valem.'),
  transportadoras: z
    .array(
      z.object({
        cnpjCpf: z.string(),
        nome: z.string(),
        documentos: z.number(),
        valor: z.number(),
        porQuilo: z.number(),
        aRecuperar: z.number().describe('Cobrado em dobro e ainda não aceito.'),
      }),
    )
    .describe('As três que mais cobram por quilo neste mês e nos dois anteriores, com três CT-e ou mais.'),
})
export type Money = z.output<typeof Money>

/** Money that somebody should look at; ours. */
export const getMoney = route({
  method: 'GET',
  path: '/v1/api/Dashboard/dinheiro',
  access: 'session',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'Quanto valem os documentos com alerta alto ou crítico, e as transportadoras que mais cobram por quilo.',
  data: Money,
})

const count = z.object({ usadas: z.number(), limite: z.number().nullable() })

/** The plan of a workspace with its limits and their use (section 9); ours. */
export const Plan = z.object({
  tipoPlano: z.number(),
  nome: z.string(),
  /** `encerrado`: trial and plan have ended; captured data stays, nothing new comes. */
  situacao: z.enum(['teste', 'ativo', 'encerrado']),
  /** The whole truth in a sentence or two. */
  mensagem: z.string(),
  testeAte: z.string(),
  pagoAte: z.string().nullable(),
  capturaPausada: z.boolean(),
  empresas: count,
  /** Documents received this month; beyond the limit they are still captured. */
  documentosNoMes: count,
})
export type Plan = z.output<typeof Plan>

/** The plan of the workspace; ours. */
export const getPlan = route({
  method: 'GET',
  path: '/v1/api/Plano',
  atLeast: 'leitura',
  summary: 'Plano do workspace, limites e uso.',
  data: Plan,
})

const unknownPlan = 'Tipo de plano deve ser 1, 2 ou 3'

/** Asks us for a plan; one with more room counts at once until the trial ends; ours. */
export const requestPlan = route({
  method: 'POST',
  path: '/v1/api/Plano/pedir',
  atLeast: 'administrador',
  summary:
    'Pede um plano a quem administra o sistema, que responde por e-mail. Durante o teste, um maior vale na hora, até o fim dele.',
  refusals: [409, 429],
  body: z.object({ tipoPlano: wholeNumber(unknownPlan).pipe(z.literal([1, 2, 3], { error: unknownPlan })) }),
})

/** The kinds of entries of the audit. */
export const auditActions = [
  'conta',
  'login',
  'login-recusado',
  'sessao',
  'chave',
  'senha',
  'empresa',
  'certificado',
  'sincronizacao',
  'manifestacao',
  'exportacao',
  'leitura',
  'plano',
  'equipe',
  'anotacao',
  'alerta',
] as const
export type AuditAction = (typeof auditActions)[number]

/** Filters of the audit; the days are São Paulo's, both inclusive. */
export const AuditFilter = z
  .object({
    PaginaAtual: numberBetween(1, 999_999_999, 'PaginaAtual deve ser um número a partir de 1').default(1),
    Acao: z.enum(auditActions, { error: 'Ação desconhecida' }).optional(),
    CampoPesquisa: z.string().trim().max(200, 'CampoPesquisa deve ter no máximo 200 caracteres').optional(),
    DataDe: LocalDateTime('DataDe').optional(),
    DataAte: LocalDateTime('DataAte').optional(),
  })
  .refine((filter) => !filter.DataDe || !filter.DataAte || filter.DataDe <= filter.DataAte, {
    message: 'A data inicial deve ser anterior à data final',
    path: ['DataDe'],
  })

/** One audit entry: who, what, when, from where. */
export const AuditRow = z.object({
  quando: z.string(),
  /** Name of the person, or of what did it. */
  usuario: z.string(),
  acao: z.enum(auditActions),
  descricao: z.string(),
  endereco: z.string().nullable(),
})
export type AuditRow = z.output<typeof AuditRow>

/** Lists the audit entries of the workspace, newest first, fifty per page; ours. */
export const listAudit = route({
  method: 'GET',
  path: '/v1/api/Auditoria',
  atLeast: 'administrador',
  summary: 'Quem fez o quê, quando e de onde, do mais novo ao mais antigo.',
  query: AuditFilter,
  data: z.object({ items: z.array(AuditRow), totalDePaginas: z.number() }),
})

/** Makes a link to the whole audit; ours. */
export const exportAudit = route({
  method: 'POST',
  path: '/v1/api/Auditoria/exportar',
  shared: true,
  atLeast: 'administrador',
  summary: 'Um link de dois minutos para a auditoria inteira em CSV.',
  data: z.object({ endereco: z.string(), validoAte: z.string(), nome: z.string() }),
})

/** The audit as the link of `exportAudit` names it; ours. */
export const downloadAudit = route({
  method: 'GET',
  path: '/v1/api/Auditoria/exportacao/{bilhete}',
  access: 'public',
  summary: 'O CSV a que o link de `Auditoria/exportar` leva.',
  refusals: [404, 410, 429],
  params: z.object({ bilhete: z.string() }),
  produces: 'text/csv',
})

/** Path of the SignalR hub for open pages; the workspace names every message (section 8). */
export const hubPath = '/notification-hub'

/** Query parameter of the hub: with `1`, no messages about actions of its own session; ours. */
export const hubWithoutEcho = 'semEco'

/** How a page shows a message, its third argument after header and body (section 4). */
export const messageKinds = ['sucesso', 'error', 'alert'] as const
export type MessageKind = (typeof messageKinds)[number]

/** Maximum of the unread count; more are not counted. */
export const unreadCountMax = 100

/** An announcement to the people of a workspace, as open pages showed it (section 4); ours. */
export const AnnouncementRow = z.object({
  idAviso: z.string(),
  quando: z.string(),
  tipo: z.enum(messageKinds),
  titulo: z.string(),
  texto: z.string(),
  /** Path of the screen that shows its subject; null: there is none. */
  tela: z.string().nullable(),
  /** Path of a second screen, when the first shows only part of it. */
  outraTela: z.string().nullable(),
  /** True if this account has read it, or this session caused it. */
  lido: z.boolean(),
})
export type AnnouncementRow = z.output<typeof AnnouncementRow>

/** Lists the announcements of the last thirty days, newest first, twenty at a time; ours. */
export const listAnnouncements = route({
  method: 'GET',
  path: '/v1/api/Avisos',
  atLeast: 'leitura',
  summary: 'Os avisos dos últimos 30 dias, do mais novo ao mais antigo, 20 de cada vez.',
  refusals: [404],
  query: z.object({ antesDe: z.string().optional() }),
  data: z.object({
    items: z.array(AnnouncementRow),
    /** There are older ones. */
    temMais: z.boolean(),
    /** At most `unreadCountMax`. */
    naoLidos: z.number(),
  }),
})

/** Marks an announcement and all older ones as read by the account that asks; ours. */
export const readAnnouncements = route({
  method: 'POST',
  path: '/v1/api/Avisos/lidos',
  shared: true,
  atLeast: 'leitura',
  summary: 'Marca um aviso e todos os mais antigos como lidos por esta conta.',
  refusals: [404],
  body: z.object({ ate: z.string({ error: 'Informe o aviso.' }).min(1, 'Informe o aviso.') }),
})
