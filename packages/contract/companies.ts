import { parseCnpj } from '@vigia/dfe/cnpj'
import { ufByCode } from '@vigia/dfe/uf'
import { z } from 'zod'
import { emailShape, wholeNumber } from './fields.ts'
import { route } from './route.ts'

/** Company row of the list (section 3). Dates are ISO 8601 instants. */
export const CompanyRow = z.object({
  id: z.string(),
  razaoSocial: z.string(),
  cnpj: z.string(),
  ativa: z.boolean(),
  ultimaSincronizacaoNFe: z.string().nullable(),
  ultimaSincronizacaoCTe: z.string().nullable(),
  validadeCertificadoA1: z.string().nullable(),
  /** Ours, beyond the specification: what the capture of each service says, and when it asks again. */
  captura: z.array(
    z.object({
      servico: z.enum(['nfe', 'cte']),
      estado: z.enum(['aguardando', 'capturando', 'bloqueada', 'falha', 'parada']),
      mensagem: z.string(),
      proximaConsulta: z.string().nullable(),
      ultimoNsu: z.string(),
      maxNsu: z.string(),
    }),
  ),
})
/** What the browser receives as a company row (section 3). */
export type CompanyRow = z.output<typeof CompanyRow>

/** Company as the edit page shows it (section 3). */
export const CompanyDetail = z.object({
  razaoSocial: z.string(),
  cnpj: z.string(),
  /** Empty when there is none. */
  email: z.string(),
  sincronizacaoAutomatica: z.boolean(),
  empresaUf: z.object({ codUf: z.number(), uf: z.string() }),
  /** dd/MM/yyyy; of the certificate that speaks for the company, which may be one of another with the same base. */
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
})
/** What the browser receives as a company to edit (section 3). */
export type CompanyDetail = z.output<typeof CompanyDetail>

const chooseBoth = 'Por favor, selecione um certificado e digite a senha.'
const chooseFile = 'Por favor, selecione um arquivo .pfx ou .p12'
const noUf = 'Uf deve ser o código de um estado, como 35 para São Paulo'
const isPfx = (file: File) => /\.(pfx|p12)$/i.test(file.name)

/** New company: certificate and password (sections 5 and 7). */
export const NewCompanyForm = z.object({
  Certificado: z.file({ error: chooseBoth }).refine(isPfx, chooseFile),
  Senha: z.string({ error: chooseBoth }).min(1, chooseBoth),
  /** Ours, beyond the specification: the filial to register, when the certificate is its matriz's. */
  Cnpj: z
    .string()
    .refine((text) => text.trim() === '' || parseCnpj(text) !== null, 'CNPJ inválido. Confira os 14 caracteres.')
    .optional(),
})

// Browsers and other clients write a switch in several ways.
const flag = (field: string) =>
  z
    .union([z.boolean(), z.stringbool({ truthy: ['true', '1', 'on'], falsy: ['false', '0', 'off'] })], {
      error: `${field} deve ser true ou false`,
    })
    .optional()

/** Changes of a company (sections 5 and 7); what is omitted keeps its value. */
export const EditCompanyForm = z
  .object({
    IdEmpresa: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.'),
    RazaoSocial: z
      .string({ error: 'Razão social é obrigatória' })
      .trim()
      .min(1, 'Razão social é obrigatória')
      .max(200, 'Razão social deve ter no máximo 200 caracteres'),
    Email: z
      .string({ error: 'Email inválido' })
      .trim()
      .max(254, { error: 'Email inválido', abort: true })
      .refine((email) => email === '' || emailShape.test(email), 'Email inválido')
      .optional(),
    Uf: wholeNumber(noUf)
      .refine((code) => ufByCode(code) !== undefined, noUf)
      .optional(),
    SincronizacaoAutomatica: flag('SincronizacaoAutomatica'),
    'ConfiguracoesNfe.Emitente': flag('ConfiguracoesNfe.Emitente'),
    'ConfiguracoesNfe.Destinatario': flag('ConfiguracoesNfe.Destinatario'),
    'ConfiguracoesNfe.Transportador': flag('ConfiguracoesNfe.Transportador'),
    'ConfiguracoesNfe.Terceiro': flag('ConfiguracoesNfe.Terceiro'),
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': flag('ConfiguracoesNfe.ManifestarCienciaAutomaticamente'),
    'ConfiguracoesCte.Emitente': flag('ConfiguracoesCte.Emitente'),
    'ConfiguracoesCte.Remetente': flag('ConfiguracoesCte.Remetente'),
    'ConfiguracoesCte.Destinatario': flag('ConfiguracoesCte.Destinatario'),
    'ConfiguracoesCte.Expedidor': flag('ConfiguracoesCte.Expedidor'),
    'ConfiguracoesCte.Recebedor': flag('ConfiguracoesCte.Recebedor'),
    'ConfiguracoesCte.Tomador': flag('ConfiguracoesCte.Tomador'),
    'ConfiguracoesCte.Terceiro': flag('ConfiguracoesCte.Terceiro'),
    'CertificadoDigital.Certificado': z
      .union([z.file(), z.literal('')], { error: chooseFile })
      // A file field in which nothing was chosen arrives as an empty file without a name.
      .transform((file) => (file === '' || (file.size === 0 && !isPfx(file)) ? undefined : file))
      .refine((file) => !file || isPfx(file), { error: chooseFile, abort: true })
      .optional(),
    'CertificadoDigital.Senha': z.string().optional(),
  })
  .refine((form) => !form['CertificadoDigital.Certificado'] || form['CertificadoDigital.Senha'], {
    error: chooseBoth,
    path: ['CertificadoDigital.Senha'],
  })

/** The companies of the workspace (section 7). */
export const listCompanies = route({
  method: 'GET',
  path: '/v1/api/Empresas/obter-empresas',
  access: 'session',
  summary: 'Lista as empresas do workspace; `busca` procura por nome ou CNPJ.',
  query: z.object({ busca: z.string().trim().max(200, 'busca deve ter no máximo 200 caracteres').optional() }),
  data: z.array(CompanyRow),
})

/** One company with its settings (section 7). */
export const getCompany = route({
  method: 'GET',
  path: '/v1/api/Empresas/obter-empresa',
  access: 'session',
  summary: 'Mostra uma empresa com as suas configurações.',
  refusals: [404],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: CompanyDetail,
})

/** Changes a company, its switches and, when one is sent, its certificate (section 7). */
export const updateCompany = route({
  method: 'PUT',
  path: '/v1/api/Empresas',
  access: 'session',
  summary: 'Altera uma empresa; um campo que não vem fica como está.',
  refusals: [404, 409],
  form: EditCompanyForm,
  data: z.null(),
})

/** Registers a company by its certificate (section 7). */
export const createCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas',
  access: 'session',
  summary: 'Cadastra uma empresa pelo certificado digital A1.',
  refusals: [402, 409],
  form: NewCompanyForm,
  data: z.object({ idEmpresa: z.string() }),
})

/** Asks for a query to the authority as soon as its rules allow (section 7). */
export const synchronizeCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas/sincronizar',
  access: 'session',
  summary: 'Pede uma consulta à SEFAZ assim que as regras dela permitirem.',
  refusals: [402, 404],
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
  /** The authority has them no more. */
  perdidas: z.number(),
  faltam: z.number(),
})

/** What one conversation with the authority brought in one month. */
export const CompletenessMonth = z.object({
  mes: z.string(),
  /** Null: no position was passed in that month. */
  nsuInicial: z.string().nullable(),
  nsuFinal: z.string().nullable(),
  documentos: z.number(),
  /** Positions that the authority itself passed over, because they expired or are of nobody. */
  semDocumento: z.number(),
  consultas: z.number(),
  semResposta: z.number(),
  lacunas: z.array(Gap),
})
/** What the browser receives of one month (ours, beyond the specification). */
export type CompletenessMonth = z.output<typeof CompletenessMonth>

/** From where to where a company's captures are complete, month by month (ours, beyond the specification). */
export const getCompleteness = route({
  method: 'GET',
  path: '/v1/api/Empresas/completude',
  access: 'session',
  summary: 'Mostra, por mês, as posições (NSU) recebidas da SEFAZ, as que faltaram e o que foi feito delas.',
  refusals: [404],
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: z.array(z.object({ servico: z.enum(['nfe', 'cte']), meses: z.array(CompletenessMonth) })),
})
