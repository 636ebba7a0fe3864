import { z } from 'zod'
import { route } from './route.ts'

const SystemJob = z.object({
  trabalho: z.string(),
  nome: z.string(),
  esperam: z.number(),
  executando: z.number(),
  falhando: z.number(),
  proximo: z.string().nullable(),
  erro: z.string().nullable(),
})

/** Jobs of the installation; ours. */
export const listSystemJobs = route({
  method: 'GET',
  path: '/v1/api/Sistema/trabalhos',
  atLeast: 'administrador',
  summary: 'O que o sistema tem a fazer e o que falha, onde ele tem um workspace só.',
  data: z.object({ items: z.array(SystemJob), impedimento: z.string().nullable() }),
})
