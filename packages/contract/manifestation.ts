import { z } from 'zod'
import type { Code } from './codes.ts'
import { wholeNumber } from './fields.ts'
import { route } from './route.ts'

/** What the menu "Manifestar" offers (section 3); the last two of the CT-e are ours, named by their `tpEvento`: no small number sent by mistake means one. */
export const manifestationTypes: { nfe: readonly Code[]; cte: readonly Code[] } = {
  nfe: [
    { code: 1, label: 'Ciência' },
    { code: 2, label: 'Confirmação' },
    { code: 3, label: 'Desconhecimento' },
    { code: 4, label: 'Não Realizada' },
  ],
  cte: [
    { code: 1, label: 'Cancelamento' },
    { code: 2, label: 'Carta Correção' },
    { code: 610110, label: 'Prestação em Desacordo' },
    { code: 610111, label: 'Cancelamento do Desacordo' },
  ],
}

const noDocument = 'Selecione pelo menos um documento para manifestar.'
const unknownType = 'Tipo de manifestação desconhecido.'
const noReason = 'A justificativa é obrigatória'

/** Characters that the form takes as a justificativa (section 5). */
export const justificationMax = 200

const typeOf = (family: keyof typeof manifestationTypes) =>
  wholeNumber(unknownType).refine((code) => manifestationTypes[family].some((type) => type.code === code), unknownType)

/** Payload of a manifestação of NF-e (sections 3 and 5). */
export const ManifestationForm = z.object({
  justificativa: z
    .string({ error: noReason })
    .trim()
    .min(1, noReason)
    .max(justificationMax, `A justificativa deve ter no máximo ${justificationMax} caracteres`),
  idsDFe: z
    .array(z.string(), { error: noDocument })
    .min(1, noDocument)
    .max(300, 'Selecione no máximo 300 documentos de cada vez.'),
  tipoManifestacao: typeOf('nfe'),
})

const nameOfField = (what: string) =>
  z
    .string({ error: `Informe ${what} de cada correção.` })
    .trim()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,19}$/, `${what} de uma correção é um nome do XML, com até 20 letras e números.`)

/** One field of a Carta de Correção; ours, the specification gives one free text. */
export const CorrectionForm = z.object({
  grupoAlterado: nameOfField('grupoAlterado'),
  campoAlterado: nameOfField('campoAlterado'),
  valorAlterado: z
    .string({ error: 'Informe valorAlterado de cada correção.' })
    .trim()
    .min(1, 'Informe valorAlterado de cada correção.')
    .max(500, 'O novo valor de uma correção deve ter no máximo 500 caracteres.'),
  nroItemAlterado: z
    .int('O número do item corrigido vai de 1 a 99.')
    .min(1, 'O número do item corrigido vai de 1 a 99.')
    .max(99, 'O número do item corrigido vai de 1 a 99.')
    .optional(),
})

/** Payload of an event of CT-e (sections 3 and 5). */
export const CteManifestationForm = ManifestationForm.extend({
  tipoManifestacao: typeOf('cte'),
  correcoes: z
    .array(CorrectionForm, { error: 'As correções não estão no formato esperado.' })
    .min(1, 'Informe pelo menos uma correção.')
    .max(50, 'Informe no máximo 50 correções de cada vez.')
    .optional(),
})

/** What became of the event of one document by the time of the answer. */
export const ManifestedDocument = z.object({
  idDfe: z.string(),
  chave: z.string(),
  numero: z.number(),
  situacao: z.enum(['registrada', 'enviando', 'recusada']),
  /** cStat of the authority, when it has answered. */
  codigo: z.number().optional(),
  mensagem: z.string(),
})
/** What the browser receives about one document. */
export type ManifestedDocument = z.output<typeof ManifestedDocument>

const outcome = z.object({ documentos: z.array(ManifestedDocument) })

/** Ciência, Confirmação, Desconhecimento or Operação não Realizada of NF-e (section 7). */
export const manifestNfe = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/manifestar-nfe',
  access: 'session',
  summary: 'Registra na SEFAZ a manifestação do destinatário das NF-e escolhidas.',
  refusals: [404, 409],
  body: ManifestationForm,
  data: outcome,
})

/** Cancelamento, Carta de Correção or Prestação em Desacordo of CT-e (section 7). */
export const manifestCte = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/manifestar-cte',
  access: 'session',
  summary: 'Registra na SEFAZ um evento dos CT-e escolhidos.',
  refusals: [404, 409],
  body: CteManifestationForm,
  data: outcome,
})

/** An event that left from here or is about to. Times are ISO 8601 instants. */
export const OutgoingEvent = z.object({
  tpEvento: z.number(),
  descricao: z.string(),
  sequencia: z.number(),
  situacao: z.enum(['aguardando', 'enviando', 'registrada', 'recusada']),
  mensagem: z.string(),
  /** Who wanted it, in words. */
  motivo: z.string(),
  automatica: z.boolean(),
  justificativa: z.string().nullable(),
  correcoes: z.array(CorrectionForm),
  pedidaEm: z.string(),
  enviadaEm: z.string().nullable(),
  respondidaEm: z.string().nullable(),
  registradaEm: z.string().nullable(),
  /** When it is sent (again); null when it is settled. */
  proximoEnvio: z.string().nullable(),
  codigo: z.number().nullable(),
  motivoSefaz: z.string().nullable(),
  protocolo: z.string().nullable(),
})

/** What may still be sent about a document, and until when. */
export const OpenManifestation = z.object({
  tipoManifestacao: z.number(),
  tpEvento: z.number(),
  descricao: z.string(),
  /** The last instant in which the authority takes it; null when no deadline is known. */
  prazo: z.string().nullable(),
  permitida: z.boolean(),
  /** Why not. */
  impedimento: z.string().nullable(),
})

/** The events of a document that left from here; ours. */
export const listManifestations = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/manifestacoes/{idDfe}',
  access: 'session',
  summary: 'Eventos enviados daqui sobre um documento, e até quando cada um ainda pode ser enviado.',
  refusals: [404],
  params: z.object({ idDfe: z.string() }),
  data: z.object({
    idDfe: z.string(),
    chave: z.string(),
    eventos: z.array(OutgoingEvent),
    opcoes: z.array(OpenManifestation),
  }),
})
