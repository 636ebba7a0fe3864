import type { FamilyId } from '@vigia/dfe/families/id'
import { z } from 'zod'
import { familyIds } from './codes.ts'
import { flag, numberBetween } from './fields.ts'
import { EditCompanyForm, LogoForm, NewCompanyForm } from './forms.ts'
import { route } from './route.ts'
import { formatInteger } from './text.ts'

export const CaptureState = z.object({
  servico: z.enum(familyIds),
  estado: z.enum(['aguardando', 'capturando', 'bloqueada', 'falha', 'parada']),
  mensagem: z.string(),
  proximaConsulta: z.string().nullable(),
  ultimoNsu: z.string(),
  maxNsu: z.string(),
  /** Ours: ISO 8601 instant of the authority's last answer for its CNPJ; null: none or unproved. */
  ultimaResposta: z.string().nullable(),
  /** Ours: the cause, as text, when it is the same for every company; else null. */
  causaComum: z.string().nullable(),
  /** Ours: what a person must fix for the capture to continue; null: nothing. */
  providencia: z.enum(['certificado', 'plano']).nullable(),
})

/** State of the capture of one service. */
export type CaptureState = z.output<typeof CaptureState>

/** Company row of the list (section 3). Dates are ISO 8601 instants. */
export const CompanyRow = z.object({
  id: z.string(),
  razaoSocial: z.string(),
  cnpj: z.string(),
  ativa: z.boolean(),
  ultimaSincronizacaoNFe: z.string().nullable(),
  ultimaSincronizacaoCTe: z.string().nullable(),
  validadeCertificadoA1: z.string().nullable(),
  /** Ours, beyond the specification, from here on. Whether the authority is asked by the hour. */
  sincronizacaoAutomatica: z.boolean().optional(),
  /** State of the capture of each service, with the time of the next query. */
  captura: z.array(CaptureState).optional(),
  /** Documents of both kinds issued in the current month. */
  documentosNoMes: z.number().optional(),
})
export type CompanyRow = z.output<typeof CompanyRow>

/** When the service of each family last responded. */
export function lastSynchronizations(company: CompanyRow): Readonly<Record<FamilyId, string | null>> {
  const named: Partial<Record<FamilyId, string | null>> = {
    nfe: company.ultimaSincronizacaoNFe,
    cte: company.ultimaSincronizacaoCTe,
  }
  const last = (id: FamilyId) => named[id] ?? company.captura?.find(({ servico }) => servico === id)?.ultimaResposta
  return Object.fromEntries(familyIds.map((id) => [id, last(id) ?? null])) as Record<FamilyId, string | null>
}

/** Company as the edit page shows it (section 3). */
export const CompanyDetail = z.object({
  razaoSocial: z.string(),
  cnpj: z.string(),
  /** Empty when there is none. */
  email: z.string(),
  sincronizacaoAutomatica: z.boolean(),
  empresaUf: z.object({ codUf: z.number(), uf: z.string() }),
  /** dd/MM/yyyy; of the certificate in use, possibly of another company of the same base. */
  dataValidadeCertificadoDigital: z.string().nullable(),
  configuracaoNFe: z.object({
    emitenteNFe: z.boolean(),
    destinatarioNFe: z.boolean(),
    transportadorNFe: z.boolean(),
    terceiroNFe: z.boolean(),
    manifestarCienciaAutomaticamente: z.boolean(),
    ultimoNsu: z.string(),
    mensagemSincronizacao: z.string(),
  }),
  configuracaoCTe: z.object({
    emitenteCTe: z.boolean(),
    remetenteCTe: z.boolean(),
    destinatarioCTe: z.boolean(),
    expedidorCTe: z.boolean(),
    recebedorCTe: z.boolean(),
    tomadorCTe: z.boolean(),
    terceiroCTe: z.boolean(),
    ultimoNsu: z.string(),
    mensagemSincronizacao: z.string(),
  }),
  /** Ours, from here on. */
  ativa: z.boolean().optional(),
  captura: z.array(CaptureState).optional(),
  /** The certificate used for the company; null if there is none. Times are ISO 8601 instants. */
  certificado: z
    .object({
      titular: z.string(),
      cnpj: z.string(),
      emissor: z.string(),
      validoDe: z.string(),
      validoAte: z.string(),
      /** It was uploaded for another company with the same base. */
      deOutraEmpresa: z.boolean(),
      enviadoPor: z.string(),
      enviadoEm: z.string(),
      /** The newest uses, at most twenty. */
      usos: z.array(z.object({ quando: z.string(), servico: z.string(), finalidade: z.string() })),
    })
    .nullish(),
  /** Since when the Ciência is sent automatically, and who switched it on; null when it is not. */
  cienciaAutomatica: z.object({ desde: z.string(), por: z.string() }).nullish(),
  /** The documents that this company issues are printed with a logo. */
  temLogo: z.boolean().optional(),
})
export type CompanyDetail = z.output<typeof CompanyDetail>

/** The companies of the workspace (section 7). */
export const listCompanies = route({
  method: 'GET',
  path: '/v1/api/Empresas/obter-empresas',
  atLeast: 'leitura',
  scope: 'empresas:ler',
  summary: 'Lista as empresas do workspace; `busca` procura por nome ou CNPJ.',
  query: z.object({ busca: z.string().trim().max(200, 'busca deve ter no máximo 200 caracteres').optional() }),
  data: z.array(CompanyRow),
})

/** One company with its settings (section 7). */
export const getCompany = route({
  method: 'GET',
  path: '/v1/api/Empresas/obter-empresa',
  atLeast: 'leitura',
  scope: 'empresas:ler',
  summary: 'Mostra uma empresa com as suas configurações.',
  refusals: [404],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: CompanyDetail,
})

/** Changes a company, its switches and, when one is sent, its certificate (section 7). */
export const updateCompany = route({
  method: 'PUT',
  path: '/v1/api/Empresas',
  atLeast: 'fiscal',
  // The handler also asks for one when the switch of the Ciência is turned on.
  proof: ({ form }: { form: { 'CertificadoDigital.Certificado'?: File | undefined } }) =>
    form['CertificadoDigital.Certificado'] !== undefined,
  scope: 'empresas:gerir',
  summary: 'Altera uma empresa; IdEmpresa e RazaoSocial vêm sempre, e outro campo que não vem fica como está.',
  refusals: [403, 404, 409],
  form: EditCompanyForm,
})

/** Takes away the certificate that was uploaded for a company; ours. */
export const removeCertificate = route({
  method: 'POST',
  path: '/v1/api/Empresas/remover-certificado',
  atLeast: 'administrador',
  proof: 'always',
  scope: 'empresas:gerir',
  summary: 'Apaga o certificado enviado para a empresa. Sem outro da mesma raiz, a captura dela para.',
  refusals: [404, 409],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
})

/** Ends the captures of a company and keeps its documents; ours. */
export const archiveCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas/arquivar',
  atLeast: 'fiscal',
  scope: 'empresas:gerir',
  summary: 'Arquiva a empresa: a captura para, os documentos ficam e o plano não a conta mais.',
  refusals: [404, 409],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
})

/** Takes an archived company back into use; ours. */
export const reactivateCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas/reativar',
  atLeast: 'fiscal',
  scope: 'empresas:gerir',
  summary: 'Reativa uma empresa arquivada, se couber no plano; a captura continua.',
  refusals: [402, 404, 409],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
})

/** The logo of a company, as it is printed; ours. */
export const getLogo = route({
  method: 'GET',
  path: '/v1/api/Empresas/logo',
  atLeast: 'leitura',
  scope: 'empresas:ler',
  summary: 'Mostra o logotipo que sai no DANFE e no DACTE que a empresa emite.',
  refusals: [404],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  produces: 'image/png',
})

/** Sets the logo of a company, in place of the one that it had; ours. */
export const sendLogo = route({
  method: 'POST',
  path: '/v1/api/Empresas/logo',
  atLeast: 'fiscal',
  scope: 'empresas:gerir',
  summary: 'Guarda o logotipo que sai no DANFE e no DACTE que a empresa emite.',
  refusals: [404, 409],
  form: LogoForm,
})

/** Takes the logo of a company away; ours. */
export const removeLogo = route({
  method: 'POST',
  path: '/v1/api/Empresas/remover-logo',
  atLeast: 'fiscal',
  scope: 'empresas:gerir',
  summary: 'Remove o logotipo da empresa: o DANFE e o DACTE saem sem ele.',
  refusals: [404, 409],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
})

/** Returns a certificate of a fictitious company; ours, in the ambiente `simulado` only. */
export const downloadTestCertificate = route({
  method: 'GET',
  path: '/v1/api/Empresas/certificado-de-teste',
  atLeast: 'administrador',
  summary: 'Certificado A1 de uma empresa inventada, para experimentar na SEFAZ simulada.',
  refusals: [404, 429],
  produces: 'application/x-pkcs12',
})

/** Registers a company by its certificate (section 7). */
export const createCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas',
  shared: true,
  atLeast: 'administrador',
  proof: 'always',
  scope: 'empresas:gerir',
  summary: 'Cadastra uma empresa pelo certificado digital A1.',
  refusals: [402, 403, 409],
  form: NewCompanyForm,
  data: z.object({ idEmpresa: z.string() }),
})

/** Limits of a batch of certificate files, and of one call, whose body has at most 256 kB. */
export const batchMax = { files: 1000, filesOfCall: 20, fileBytes: 32 * 1024, passwordCharacters: 100_000 }

/** Certificate files uploaded together. */
const Batch = z.object({
  idLote: z.string(),
  enviadoPor: z.string(),
  enviadoEm: z.string(),
  /** Announced and received numbers of files. */
  totalDeArquivos: z.number(),
  recebidos: z.number(),
  trocados: z.number().describe('Arquivos que passaram a ser o certificado de uma empresa cadastrada.'),
  cadastrados: z.number().describe('Arquivos que viraram uma empresa nova.'),
  semMudanca: z.number().describe('Arquivos cuja empresa já tem o mesmo certificado, ou um mais novo.'),
  comProblema: z.number(),
  encerrado: z.boolean().describe('Todos os arquivos recebidos foram conferidos, e não se esperam outros.'),
})
export type Batch = z.output<typeof Batch>

/** A file of a batch. */
const BatchFile = z.object({
  nome: z.string(),
  situacao: z.enum(['na-fila', 'trocado', 'cadastrado', 'sem-mudanca', 'problema']),
  mensagem: z.string(),
  /** The company, once identified. */
  idEmpresa: z.string().nullable(),
  razaoSocial: z.string().nullable(),
  cnpj: z.string().nullable(),
})
export type BatchFile = z.output<typeof BatchFile>

const noPasswords = 'Informe as senhas dos certificados: uma linha CNPJ;senha para cada um, ou uma senha para todos.'
const noFiles = 'Envie pelo menos um arquivo.'
const tooLarge = 'Um arquivo tem mais de 32 KB, e um certificado ocupa bem menos do que isso.'

/** Starts a batch of certificate files, each of which renews or registers its company; ours. */
export const startBatch = route({
  method: 'POST',
  path: '/v1/api/Empresas/certificados-em-lote',
  shared: true,
  atLeast: 'administrador',
  proof: 'always',
  scope: 'empresas:gerir',
  summary: 'Começa um lote de certificados A1; os arquivos vão depois, até vinte por chamada.',
  refusals: [409, 429],
  body: z.object({
    senhas: z
      .string({ error: noPasswords })
      .max(batchMax.passwordCharacters, 'A lista de senhas é grande demais.')
      .default(''),
    totalDeArquivos: numberBetween(
      1,
      batchMax.files,
      `Informe quantos arquivos o lote vai ter: até ${formatInteger(batchMax.files)}.`,
    ),
  }),
  data: z.object({ idLote: z.string() }),
})

/** Adds files to a batch; ours. */
export const addToBatch = route({
  method: 'POST',
  path: '/v1/api/Empresas/certificados-em-lote/{id}/arquivos',
  shared: true,
  atLeast: 'administrador',
  scope: 'empresas:gerir',
  summary:
    'Acrescenta arquivos a um lote. Cada um renova a empresa de que é, ou a cadastra; repetir a chamada não repete nada.',
  refusals: [404, 409, 429],
  params: z.object({ id: z.string() }),
  body: z.object({
    arquivos: z
      .array(
        z.object({
          nome: z
            .string({ error: 'Informe o nome de cada arquivo.' })
            .min(1, 'Informe o nome de cada arquivo.')
            .max(255, 'O nome de um arquivo é comprido demais.'),
          conteudo: z
            .string({ error: 'Envie o conteúdo de cada arquivo em base64.' })
            .max(Math.ceil(batchMax.fileBytes / 3) * 4, tooLarge)
            .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Envie o conteúdo de cada arquivo em base64.'),
          senha: z.string({ error: noPasswords }).max(1000, 'Uma senha é comprida demais.').optional(),
        }),
        { error: noFiles },
      )
      .min(1, noFiles)
      .max(batchMax.filesOfCall, `Envie até ${batchMax.filesOfCall} arquivos por chamada.`),
    ultimos: flag('ultimos').default(false),
  }),
  data: z.object({ recebidos: z.number() }),
})

/** The batches of the last month, newest first; ours. */
export const listBatches = route({
  method: 'GET',
  path: '/v1/api/Empresas/certificados-em-lote',
  atLeast: 'administrador',
  scope: 'empresas:gerir',
  summary: 'Os lotes de certificados dos últimos 30 dias, do mais novo ao mais antigo, e em que ponto estão.',
  data: z.array(Batch),
})

/** A batch and what became of each file; ours. */
export const getBatch = route({
  method: 'GET',
  path: '/v1/api/Empresas/certificados-em-lote/{id}/arquivos',
  atLeast: 'administrador',
  scope: 'empresas:gerir',
  summary: 'Um lote de certificados e o que foi feito de cada arquivo.',
  refusals: [404],
  params: z.object({ id: z.string() }),
  data: Batch.extend({ arquivos: z.array(BatchFile) }),
})

/** Asks for a query to the authority as soon as its rules allow (section 7). */
export const synchronizeCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas/sincronizar',
  shared: true,
  atLeast: 'fiscal',
  scope: 'empresas:gerir',
  summary: 'Pede uma consulta à SEFAZ assim que as regras dela permitirem.',
  refusals: [402, 404, 409],
  query: z.object({ idEmpresa: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: z.object({ proximaConsulta: z.string().nullable() }),
})

/** Positions that the authority counted as delivered and that were not received here. */
const Gap = z.object({
  de: z.string(),
  ate: z.string(),
  descobertaEm: z.string(),
  motivo: z.string(),
  recuperadas: z.number(),
  /** No longer held by the authority. */
  perdidas: z.number(),
  /** Skipped by the authority, which has nothing there. */
  vazias: z.number(),
  faltam: z.number(),
})

/** Result of the capture of one service in one month. */
export const CompletenessMonth = z.object({
  mes: z.string(),
  /** Null: no position was passed in that month. */
  nsuInicial: z.string().nullable(),
  nsuFinal: z.string().nullable(),
  documentos: z.number(),
  /** NSU positions that the authority skipped: expired, or of another company. */
  semDocumento: z.number(),
  consultas: z.number(),
  semResposta: z.number(),
  lacunas: z.array(Gap),
})
export type CompletenessMonth = z.output<typeof CompletenessMonth>

/** A received file that could not be parsed, so its document is unknown. The newest 200. */
const Unreadable = z.object({
  nsu: z.string().describe('A posição na SEFAZ; negativa: outro conteúdo da mesma posição, ou sem posição.'),
  esquema: z.string().describe('O que a SEFAZ disse que é.'),
  recebidoEm: z.string(),
  chave: z.string().nullable().optional().describe('A chave de acesso, quando os bytes a trazem.'),
  motivo: z.string(),
})
export type Unreadable = z.output<typeof Unreadable>

/** Returns the complete NSU ranges of a company's captures by month (ours). */
export const getCompleteness = route({
  method: 'GET',
  path: '/v1/api/Empresas/completude',
  atLeast: 'leitura',
  scope: 'empresas:ler',
  summary: 'Mostra, por mês, as posições (NSU) recebidas da SEFAZ, as que faltaram e o que foi feito delas.',
  refusals: [404],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: z.array(
    z.object({
      servico: z.enum(familyIds),
      meses: z.array(CompletenessMonth),
      totalNaoLidos: z.number().describe('Quantos arquivos recebidos não puderam ser lidos.'),
      naoLidos: z.array(Unreadable),
    }),
  ),
})

/** The bytes of a received file that could not be read (ours, beyond the specification). */
export const downloadUnreadable = route({
  method: 'GET',
  path: '/v1/api/Empresas/arquivo-nao-lido',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary:
    'Um arquivo que a SEFAZ entregou e não pôde ser lido: o conteúdo, ou o que chegou quando não pôde ser aberto.',
  refusals: [404],
  query: z.object({
    id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.'),
    servico: z.enum(familyIds, { error: `Informe o serviço: ${familyIds.join(' ou ')}.` }),
    nsu: z
      .string({ error: 'Informe a posição (NSU).' })
      .regex(/^-?\d{1,18}$/, 'Informe a posição (NSU) em algarismos.'),
  }),
  produces: 'application/octet-stream',
})
