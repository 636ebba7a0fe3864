import { z } from 'zod'
import { route } from './route.ts'

/** How many days ahead deadlines of answers are listed, today included; ours. */
export const agendaDays = 15

/** Answers of one kind that can be given until the end of a day at most. */
const Due = z.object({
  /** aaaa-MM-dd, in São Paulo. */
  dia: z.string(),
  tipoDFe: z.number(),
  para: z.enum(['ciencia', 'manifestacao', 'desacordo']),
  totalDeItens: z.number(),
  valorTotal: z.number(),
  /** How many companies they are of, and the names of three. */
  totalDeEmpresas: z.number(),
  empresas: z.array(z.string()),
})
/** What the browser receives as answers that are due. */
export type Due = z.output<typeof Due>

/** Until when documents can be answered, day by day; ours. */
export const listDue = route({
  method: 'GET',
  path: '/v1/api/Prazos',
  access: 'session',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `Quantos documentos têm o prazo da próxima resposta em cada um dos próximos ${agendaDays} dias.`,
  data: z.array(Due),
})
