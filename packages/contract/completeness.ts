import { z } from 'zod'
import { route } from './route.ts'

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
  query: z.object({ id: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.') }),
  data: z.array(z.object({ servico: z.enum(['nfe', 'cte']), meses: z.array(CompletenessMonth) })),
})
