import { z } from 'zod'
import { idOf } from './fields.ts'
import { KeyForm, keyName } from './forms.ts'
import { route } from './route.ts'

// API keys for other programs, which cannot make the calls below. All of it is ours.

/** The API keys of the workspace, the newest first; ours. */
export const listKeys = route({
  method: 'GET',
  path: '/v1/api/Chaves',
  atLeast: 'administrador',
  summary: 'As chaves de API do workspace, com as quais outros sistemas fazem chamadas.',
  data: z.object({
    chaves: z.array(
      z.object({
        idChave: z.string(),
        nome: z.string(),
        /** How the key begins. */
        inicio: z.string(),
        permissoes: z.array(z.string()),
        /** Null: all. */
        idsEmpresas: z.array(z.string()).nullable(),
        criadaEm: z.string(),
        criadaPor: z.string().nullable(),
        validaAte: z.string().nullable(),
        vencida: z.boolean(),
        /** Kept to the hour. */
        usadaEm: z.string().nullable(),
      }),
    ),
  }),
})

/** Makes a key, which is shown this once; ours. */
export const addKey = route({
  method: 'POST',
  path: '/v1/api/Chaves',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Cria uma chave de API. A chave só aparece nesta resposta.',
  refusals: [409],
  body: KeyForm,
  data: z.object({ idChave: z.string(), chave: z.string() }),
})

/** Renames a key; ours. */
export const renameKey = route({
  method: 'PUT',
  path: '/v1/api/Chaves',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Muda o nome de uma chave de API.',
  refusals: [404, 409],
  body: z.object({ idChave: idOf('a chave de API'), nome: keyName }),
})

/** Removes a key, with which nothing can be done from then on; ours. */
export const removeKey = route({
  method: 'POST',
  path: '/v1/api/Chaves/apagar',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Apaga uma chave de API, que deixa de valer na hora.',
  refusals: [404, 409],
  body: z.object({ idChave: idOf('a chave de API') }),
})
