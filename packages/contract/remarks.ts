import { z } from 'zod'
import { flag } from './fields.ts'
import { route } from './route.ts'

// Remarks and marks of people on the documents of a workspace. All of it is ours.

/** How long a remark may be, and how many a document has at most. */
export const remarkMax = { length: 1_000, count: 100 }

/** A remark about a document. */
export const RemarkForm = z.object({
  idDfe: z.string({ error: 'Informe o documento.' }).min(1, 'Informe o documento.'),
  texto: z
    .string({ error: 'Escreva a observação.' })
    .trim()
    .min(1, 'Escreva a observação.')
    .max(remarkMax.length, `A observação deve ter no máximo ${remarkMax.length.toLocaleString('pt-BR')} caracteres.`),
})

/** A remark as people read it. */
export const Remark = z.object({
  idObservacao: z.string(),
  texto: z.string(),
  /** Null: the account was deleted. */
  autor: z.string().nullable(),
  quando: z.string(),
  /** The caller may delete it, as author or administrator. */
  apagavel: z.boolean(),
})
export type Remark = z.output<typeof Remark>

/** Adds a remark to a document. */
export const addRemark = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/observacoes',
  atLeast: 'fiscal',
  summary: 'Acrescenta uma observação a um documento, para todos do workspace que o veem.',
  refusals: [404, 409],
  body: RemarkForm,
  data: z.array(Remark),
})

/** Removes a remark. */
export const removeRemark = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/apagar-observacao',
  atLeast: 'fiscal',
  summary: 'Apaga uma observação: quem a escreveu, ou quem administra o workspace.',
  refusals: [404, 409],
  body: z.object({
    idDfe: z.string({ error: 'Informe o documento.' }),
    idObservacao: z.string({ error: 'Informe a observação.' }),
  }),
  data: z.array(Remark),
})

const checkedMax = 5_000

const chosenDocuments = z
  .array(z.string(), { error: 'Escolha os documentos.' })
  .min(1, 'Escolha os documentos.')
  .max(checkedMax, `Escolha no máximo ${checkedMax.toLocaleString('pt-BR')} documentos de cada vez.`)

/** Marks documents as checked, or removes the mark. */
export const markChecked = route({
  method: 'PUT',
  path: '/v1/api/DocumentosFiscais/conferidas',
  atLeast: 'fiscal',
  summary: 'Marca documentos como conferidos por quem chama, ou tira a marca.',
  refusals: [404, 409],
  body: z.object({
    idsDFe: chosenDocuments,
    conferida: flag('conferida'),
  }),
  data: z.object({ alteradas: z.number() }),
})

/** Marks for work done elsewhere: booked, or handed on. */
export const doneMarks = ['lancada', 'entregue'] as const

/** Marks documents as booked or handed on, or removes the mark. */
export const markDone = route({
  method: 'PUT',
  path: '/v1/api/DocumentosFiscais/marcas',
  atLeast: 'fiscal',
  summary: 'Marca documentos como lançados ou entregues por quem chama, ou tira a marca.',
  refusals: [404, 409],
  body: z.object({
    idsDFe: chosenDocuments,
    marca: z.enum(doneMarks, { error: 'marca deve ser lancada ou entregue' }),
    marcada: flag('marcada'),
  }),
  data: z.object({ alteradas: z.number() }),
})
