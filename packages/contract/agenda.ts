import { z } from 'zod'
import { dueAnswers } from './codes.ts'
import { flag } from './fields.ts'
import { route } from './route.ts'

/** How many days ahead deadlines of answers are listed, today included; ours. */
export const agendaDays = 15

/** Answers of one kind whose deadline is on a day. */
const Due = z.object({
  /** aaaa-MM-dd, in São Paulo. */
  dia: z.string(),
  tipoDFe: z.number(),
  para: z.enum(dueAnswers),
  totalDeItens: z.number(),
  valorTotal: z.number(),
  /** Number of their companies, and the names of three. */
  totalDeEmpresas: z.number(),
  empresas: z.array(z.string()),
})
export type Due = z.output<typeof Due>

/** Counts documents by the day of their next deadline; ours. */
export const listDue = route({
  method: 'GET',
  path: '/v1/api/Prazos',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: `Quantos documentos têm o prazo da próxima resposta em cada um dos próximos ${agendaDays} dias.`,
  data: z.array(Due),
})

/** How many days ahead a calendar shows, today included; ours. */
export const feedDays = 60

/** Kinds of calendar feeds: deadlines of answers, or due dates of parcels; each has its own URL. */
export const calendarKinds = ['prazos', 'vencimentos'] as const
export type CalendarKind = (typeof calendarKinds)[number]

const kindOf = (field: string) =>
  z.enum(calendarKinds, { error: `${field} deve ser prazos ou vencimentos` }).default('prazos')

/** Whether the person has an address for calendars; ours. */
export const getCalendar = route({
  method: 'GET',
  path: '/v1/api/Prazos/calendario',
  atLeast: 'leitura',
  summary:
    'Desde quando esta pessoa tem um endereço para assinar os prazos, ou os vencimentos, num calendário; o endereço não é mostrado de novo.',
  query: z.object({ Calendario: kindOf('Calendario') }),
  data: z.object({ desde: z.string().nullable().describe('Instante em que foi criado; null: não há.') }),
})

/** Makes the address, in the place of the one before, or revokes it; ours. */
export const changeCalendar = route({
  method: 'POST',
  path: '/v1/api/Prazos/calendario',
  atLeast: 'leitura',
  proof: ({ body }: { body: { ligado: boolean } }) => body.ligado,
  summary: 'Cria o endereço secreto do calendário desta pessoa, no lugar do anterior, ou o revoga.',
  refusals: [409, 429],
  body: z.object({
    ligado: flag('ligado'),
    calendario: kindOf('calendario'),
  }),
  data: z.object({
    endereco: z.string().nullable().describe('O endereço, desta vez só; null: foi revogado.'),
    desde: z.string().nullable().describe('Instante em que foi criado; null: não há.'),
  }),
})

/** The deadlines or payments for programs that show calendars, without names (RFC 5545); ours. */
export const readCalendar = route({
  method: 'GET',
  path: '/prazos/{segredo}.ics',
  access: 'public',
  summary: `Os prazos ou os vencimentos dos próximos ${feedDays} dias como calendário, um evento por dia e tipo, sem nomes. Vale enquanto a pessoa tiver acesso e não o revogar.`,
  refusals: [404, 429],
  params: z.object({ segredo: z.string() }),
  produces: 'text/calendar',
})
