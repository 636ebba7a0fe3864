import { z } from 'zod'
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

/** New company: certificate and password (sections 5 and 7). */
export const NewCompanyForm = z.object({
  Certificado: z
    .file({ error: 'Por favor, selecione um certificado e digite a senha.' })
    .refine((file) => /\.(pfx|p12)$/i.test(file.name), 'Por favor, selecione um arquivo .pfx ou .p12'),
  Senha: z
    .string({ error: 'Por favor, selecione um certificado e digite a senha.' })
    .min(1, 'Por favor, selecione um certificado e digite a senha.'),
})

/** The companies of the workspace (section 7). */
export const listCompanies = route({
  method: 'GET',
  path: '/v1/api/Empresas/obter-empresas',
  access: 'session',
  summary: 'Lista as empresas do workspace; `busca` procura por nome ou CNPJ.',
  query: z.object({ busca: z.string().trim().max(200).optional() }),
  data: z.array(CompanyRow),
})

/** Registers a company by its certificate (section 7). */
export const createCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas',
  access: 'session',
  summary: 'Cadastra uma empresa pelo certificado digital A1.',
  form: NewCompanyForm,
  data: z.object({ idEmpresa: z.string() }),
})

/** Asks for a query to the authority as soon as its rules allow (section 7). */
export const synchronizeCompany = route({
  method: 'POST',
  path: '/v1/api/Empresas/sincronizar',
  access: 'session',
  summary: 'Pede uma consulta à SEFAZ assim que as regras dela permitirem.',
  query: z.object({ idEmpresa: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: z.object({ proximaConsulta: z.string().nullable() }),
})
