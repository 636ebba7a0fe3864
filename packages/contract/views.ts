import { z } from 'zod'
import { SaveViewForm } from './forms.ts'
import { route } from './route.ts'

/** A saved view of a list: filter, order and columns. */
export const SavedView = z.object({
  idVisao: z.string(),
  tipoDFe: z.number(),
  nome: z.string(),
  /** The query of the list's address in the browser. */
  endereco: z.string(),
  /** Null: the account was deleted. */
  guardadaPor: z.string().nullable(),
  /** The initial view of the caller. */
  inicial: z.boolean(),
})
export type SavedView = z.output<typeof SavedView>

/** How many views a workspace keeps. */
export const viewsMax = 50

/** Lists the saved views of all lists; ours. */
export const listViews = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/visoes',
  atLeast: 'leitura',
  summary: 'As visões das listas que o workspace guardou: filtro, ordem e colunas, com um nome.',
  data: z.array(SavedView),
})

/** Keeps a view, in the place of one with the same name; ours. */
export const saveView = route({
  method: 'PUT',
  path: '/v1/api/DocumentosFiscais/visoes',
  atLeast: 'fiscal',
  summary: 'Guarda uma visão de uma lista, no lugar da que tiver o mesmo nome.',
  refusals: [409],
  body: SaveViewForm,
  data: z.array(SavedView),
})

/** Forgets a view, for everybody in the workspace; ours. */
export const removeView = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/apagar-visao',
  atLeast: 'fiscal',
  summary: 'Apaga uma visão, para todos do workspace.',
  refusals: [404, 409],
  body: z.object({ idVisao: z.string({ error: 'Informe a visão.' }).min(1, 'Informe a visão.') }),
  data: z.array(SavedView),
})
