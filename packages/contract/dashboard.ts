import { z } from 'zod'
import { route } from './route.ts'

/** Dashboard of the current month (section 3). `tipoDfe` 0 means NFe, any other value CTe. */
export const Dashboard = z.object({
  qtdNfe: z.number(),
  qtdCte: z.number(),
  totalNfeCte: z.number(),
  qtdEmpresasCadastradas: z.number(),
  qtdDocumentosPorEmpresa: z.array(
    z.object({
      razaoSocial: z.string(),
      qtdNfe: z.number(),
      qtdCte: z.number(),
      totalNfeCte: z.number(),
      ativa: z.boolean(),
    }),
  ),
  ultimosDocumentosProcessados: z.array(
    z.object({ tipoDfe: z.number(), nomeEmitente: z.string(), chaveDfe: z.string(), dataCadastro: z.string() }),
  ),
})
/** What the browser receives as the dashboard (section 3). */
export type Dashboard = z.output<typeof Dashboard>

/** The numbers of the month (section 7). */
export const getDashboard = route({
  method: 'GET',
  path: '/v1/api/Dashboard',
  access: 'session',
  summary: 'Números do mês, documentos por empresa e últimos documentos de hoje.',
  data: Dashboard,
})
