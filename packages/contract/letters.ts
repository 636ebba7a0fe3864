import { z } from 'zod'
import { route } from './route.ts'

// E-mails about alerts and deadlines. All of it is ours.

/** Choices of e-mails about alerts. */
export const alertLetters = ['criticos', 'criticos-e-resumo', 'resumo', 'nenhum'] as const
export type AlertLetters = (typeof alertLetters)[number]

/** Choices of e-mails about deadlines. */
export const deadlineLetters = ['diario', 'semanal', 'nenhum'] as const
export type DeadlineLetters = (typeof deadlineLetters)[number]

const LetterChoice = z.object({
  alertas: z.enum(alertLetters, 'alertas deve ser criticos, criticos-e-resumo, resumo ou nenhum'),
  prazos: z.enum(deadlineLetters, 'prazos deve ser diario, semanal ou nenhum'),
})

/** Returns the e-mail choices of the session's person in this workspace; ours. */
export const getLetterChoice = route({
  method: 'GET',
  path: '/v1/api/Usuarios/avisos',
  atLeast: 'leitura',
  summary: 'Que e-mails sobre alertas e prazos esta pessoa recebe deste workspace. Os resumos saem às 7h de Brasília.',
  data: LetterChoice,
})

/** Changes it; ours. */
export const changeLetterChoice = route({
  method: 'PUT',
  path: '/v1/api/Usuarios/avisos',
  atLeast: 'leitura',
  summary: 'Escolhe que e-mails sobre alertas e prazos esta pessoa recebe deste workspace.',
  refusals: [409],
  body: LetterChoice,
  data: LetterChoice,
})

/** Ends the letters of the kind whose letter has the link, without a login (RFC 8058); ours. */
export const stopLetters = route({
  method: 'POST',
  path: '/avisos/{segredo}',
  access: 'public',
  summary:
    'Encerra os e-mails do tipo daquele que trouxe o link, sem login. Programas de e-mail a fazem com um clique.',
  refusals: [404, 429],
  params: z.object({ segredo: z.string().max(300) }),
})
