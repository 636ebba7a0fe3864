import { families } from '@vigia/dfe/families/all'
import { desacordo } from '@vigia/dfe/families/cte'
import { z } from 'zod'
import { justificationMaxOf, unprovedMax } from './codes.ts'
import { DocumentFilter } from './documents.ts'
import { flag, wholeNumber } from './fields.ts'
import { CorrectionForm, CteManifestationForm, justification, ManifestationForm, unknownType } from './forms.ts'
import { route } from './route.ts'

/** The state of the event of one document at the time of the response. */
export const ManifestedDocument = z.object({
  idDfe: z.string(),
  chave: z.string(),
  numero: z.number(),
  situacao: z.enum(['registrada', 'enviando', 'recusada', 'aguarda-segunda-pessoa', 'sem-confirmacao']),
  /** cStat of the authority, when it has answered. */
  codigo: z.number().optional(),
  mensagem: z.string(),
})
export type ManifestedDocument = z.output<typeof ManifestedDocument>

const outcome = z.object({ documentos: z.array(ManifestedDocument) })

/** Ciência, Confirmação, Desconhecimento or Operação não Realizada of NF-e (section 7). */
export const manifestNfe = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/manifestar-nfe',
  shared: true,
  atLeast: 'fiscal',
  proof: ({ body }: { body: { idsDFe: string[] } }) => body.idsDFe.length > unprovedMax,
  scope: 'documentos:responder',
  summary: 'Registra na SEFAZ a manifestação do destinatário das NF-e escolhidas.',
  refusals: [404, 409],
  body: ManifestationForm,
  data: outcome,
})

/** Cancelamento, Carta de Correção or Prestação em Desacordo of CT-e (section 7). */
export const manifestCte = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/manifestar-cte',
  shared: true,
  atLeast: 'fiscal',
  proof: ({ body }: { body: { idsDFe: string[] } }) => body.idsDFe.length > unprovedMax,
  scope: 'documentos:responder',
  summary: 'Registra na SEFAZ um evento dos CT-e escolhidos.',
  refusals: [404, 409],
  body: CteManifestationForm,
  data: outcome,
})

const kindOfManifestation = {
  TipoDFe: DocumentFilter.shape.TipoDFe,
  tipoManifestacao: wholeNumber(unknownType),
}
const isKnown = ({ TipoDFe, tipoManifestacao }: { TipoDFe: number; tipoManifestacao: number }) =>
  families.every(({ code, answers }) => code !== TipoDFe || answers.some(({ choice }) => choice === tipoManifestacao))
const known = { message: unknownType, path: ['tipoManifestacao'] }

/** Previews which documents an event would be sent for, without sending it; ours. */
export const previewManifestation = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/previa-manifestacao',
  shared: true,
  atLeast: 'fiscal',
  scope: 'documentos:responder',
  summary: 'Diz de quais documentos um evento sairia, e por que os outros ficariam de fora. Não envia nada.',
  refusals: [404],
  body: z.object({ ...kindOfManifestation, idsDFe: ManifestationForm.shape.idsDFe }).refine(isKnown, known),
  data: z.object({
    permitidos: z.array(z.string()),
    impedidos: z.array(z.object({ idDfe: z.string(), numero: z.number(), emitente: z.string(), motivo: z.string() })),
    /** Earliest deadline of the permitted documents; null: none is known. */
    primeiroPrazo: z.string().nullable(),
  }),
})

const texts = z.object({
  /** Initial text of the form: the last one sent, else a usual one; null if each needs its own. */
  sugestao: z.string().nullable(),
  /** Kept by the workspace, in the order of the alphabet. */
  modelos: z.array(z.string()),
})

/** How many texts a workspace keeps for each kind of manifestação. */
export const keptTextsMax = 20

/** Texts for the justificativa of a kind of manifestação; ours. */
export const listManifestationTexts = route({
  method: 'GET',
  path: '/v1/api/DocumentosFiscais/textos-de-manifestacao',
  atLeast: 'fiscal',
  summary:
    'Textos para a justificativa: com qual começar, e os que o workspace guardou para este tipo de manifestação.',
  query: z.object(kindOfManifestation).refine(isKnown, known),
  data: texts,
})

/** Keeps a text for the justificativa, or forgets it; ours. */
export const keepManifestationText = route({
  method: 'PUT',
  path: '/v1/api/DocumentosFiscais/textos-de-manifestacao',
  atLeast: 'fiscal',
  summary: 'Guarda um texto para usar de novo como justificativa deste tipo de manifestação, ou o esquece.',
  refusals: [409],
  body: z
    .object({
      ...kindOfManifestation,
      justificativa: justification(justificationMaxOf(desacordo)),
      guardado: flag('guardado'),
    })
    .refine(isKnown, known)
    .refine(({ tipoManifestacao, justificativa }) => justificativa.length <= justificationMaxOf(tipoManifestacao), {
      message: 'Este texto é longo demais para esta resposta.',
      path: ['justificativa'],
    }),
  data: texts,
})

/** An event that left from here or is about to. Times are ISO 8601 instants. */
export const OutgoingEvent = z.object({
  tpEvento: z.number(),
  descricao: z.string(),
  sequencia: z.number(),
  situacao: z
    .enum(['aguardando', 'enviando', 'registrada', 'recusada', 'aguarda-segunda-pessoa', 'sem-confirmacao'])
    .describe(
      '`sem-confirmacao`: em um dia a SEFAZ não disse se o registrou, ou outro sistema o registrou antes e ela não diz qual resposta vale.',
    ),
  mensagem: z.string(),
  /** Requester as text. */
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
  podeReenviar: z.boolean().describe('Se o mesmo evento pode ser enviado de novo, para a SEFAZ dizer se o tem.'),
})

/** An event that may still be sent about a document, with its deadline. */
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
  atLeast: 'leitura',
  scope: 'documentos:ler',
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

/** Resends the same event when it is unknown whether the authority has it; ours. */
export const sendManifestationAgain = route({
  method: 'POST',
  path: '/v1/api/DocumentosFiscais/manifestacoes/{idDfe}/reenviar',
  shared: true,
  atLeast: 'fiscal',
  scope: 'documentos:responder',
  summary:
    'Envia de novo à SEFAZ o mesmo evento, quando em um dia ela não disse se o registrou; ela o registra uma vez só.',
  refusals: [404, 409],
  params: z.object({ idDfe: z.string() }),
  body: z.object({
    tpEvento: wholeNumber('Informe o código do evento.'),
    sequencia: wholeNumber('Informe a sequência do evento.'),
  }),
  data: z.object({ documento: ManifestedDocument }),
})
