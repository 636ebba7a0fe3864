import type { CorrectionForm } from '@vigia/contract/forms'
import {
  keepManifestationText,
  listManifestations,
  listManifestationTexts,
  type ManifestedDocument,
  manifestCte,
  manifestNfe,
  previewManifestation,
  sendManifestationAgain,
} from '@vigia/contract/manifestation'
import { formatCount } from '@vigia/contract/text'
import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import type { z } from 'zod'
import { eventName } from '../documents/list/rows.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import type { Service } from '../platform/service.ts'
import { answerRuleRoutes } from './answer-rule-routes.ts'
import { askedRoutes } from './asked-routes.ts'
import { readHistory } from './history.ts'
import { keepText, readTexts } from './justifications.ts'
import { protocols } from './protocols.ts'
import { previewEvents, type RequestOutcome, requestAgain, requestEvents } from './requests.ts'
import type { Named } from './subjects.ts'
import { numbersText } from './texts.ts'

type CorrectionInput = z.output<typeof CorrectionForm>

interface ManifestationBody {
  justificativa: string
  idsDFe: string[]
  tipoManifestacao: number
  correcoes?: CorrectionInput[]
}

export const manifestationRoutes = [
  ...answerRuleRoutes,
  ...askedRoutes,
  handle(manifestNfe, 'waiting', (ctx, { body, session }) => manifest(ctx, session, nfe, body)),
  handle(manifestCte, 'waiting', (ctx, { body, session }) => manifest(ctx, session, cte, body)),

  handle(previewManifestation, async (ctx, { body, session }) => {
    const previewed = await previewEvents(ctx, session, { ...answerOf(body), documents: body.idsDFe })
    const deadlines = previewed.flatMap(({ refusal, deadline }) => (refusal === null && deadline ? [deadline] : []))
    const first = deadlines.toSorted((a, b) => a.getTime() - b.getTime())[0]
    const idOf = ({ documentId }: Named) => ctx.ids.encode(session.workspaceId, documentId)
    return {
      data: {
        permitidos: previewed.flatMap(({ candidate, refusal }) => (refusal === null ? idOf(candidate) : [])),
        impedidos: previewed.flatMap(({ candidate, refusal }) => {
          const { number, issuerName } = candidate
          return refusal === null
            ? []
            : { idDfe: idOf(candidate), numero: number, emitente: issuerName, motivo: refusal }
        }),
        primeiroPrazo: first?.toISOString() ?? null,
      },
    }
  }),

  handle(listManifestationTexts, async (ctx, { query, session: { workspaceId } }) => {
    const { service, kind } = answerOf(query)
    const texts = await readWorkspace(ctx, workspaceId, (ctx) => readTexts(ctx, workspaceId, service, kind))
    return { data: { sugestao: texts.suggestion, modelos: texts.kept } }
  }),

  handle(keepManifestationText, async (ctx, { body, session: { workspaceId } }) => {
    const { service, kind } = answerOf(body)
    const texts = await inWorkspace(ctx, workspaceId, async (ctx) => {
      await keepText(ctx, workspaceId, service, kind, { text: body.justificativa, keep: body.guardado })
      return readTexts(ctx, workspaceId, service, kind)
    })
    return {
      data: { sugestao: texts.suggestion, modelos: texts.kept },
      message: body.guardado ? 'Modelo guardado para todos do workspace.' : 'Modelo apagado.',
    }
  }),

  handle(sendManifestationAgain, 'waiting', async (ctx, { params, body, session }) => {
    const asked = { document: params.idDfe, tpEvento: body.tpEvento, sequence: body.sequencia }
    const outcome = await requestAgain(ctx, session, asked)
    return { data: { documento: toManifested(ctx, session, outcome) }, message: outcome.message }
  }),

  handle(listManifestations, async (ctx, { params, session }) => {
    const { candidate, events, options } = await readHistory(ctx, session.workspaceId, params.idDfe)
    const { type, chave } = candidate
    return {
      data: {
        idDfe: params.idDfe,
        chave,
        eventos: events.map((event) => ({
          tpEvento: event.tp_evento,
          descricao: eventName(type, event.tp_evento),
          sequencia: event.sequence,
          situacao: rowStates[event.state],
          mensagem: event.message,
          motivo: event.why,
          automatica: event.requested_by === null,
          justificativa: event.justification,
          // Written by this slice, in this shape.
          correcoes: (event.corrections ?? []) as CorrectionInput[],
          pedidaEm: event.requested_at.toISOString(),
          enviadaEm: event.sent_at?.toISOString() ?? null,
          respondidaEm: event.answered_at?.toISOString() ?? null,
          registradaEm: event.registered_at?.toISOString() ?? null,
          proximoEnvio: ['waiting', 'sending'].includes(event.state) ? event.next_at.toISOString() : null,
          codigo: event.c_stat,
          motivoSefaz: event.x_motivo,
          protocolo: event.protocol,
          podeReenviar: event.again,
        })),
        opcoes: options.map(({ answer, deadline, refusal }) => ({
          tipoManifestacao: answer.choice,
          tpEvento: answer.tpEvento,
          descricao: eventName(type, answer.tpEvento),
          prazo: deadline?.toISOString() ?? null,
          permitida: refusal === null,
          impedimento: refusal,
        })),
      },
    }
  }),
]

const rowStates = {
  asked: 'aguarda-segunda-pessoa',
  unconfirmed: 'sem-confirmacao',
  waiting: 'aguardando',
  sending: 'enviando',
  registered: 'registrada',
  rejected: 'recusada',
} as const
const outcomeStates = {
  registered: 'registrada',
  sending: 'enviando',
  refused: 'recusada',
  asked: 'aguarda-segunda-pessoa',
  unconfirmed: 'sem-confirmacao',
} as const

// The contract takes no other choice.
function answerOf({ TipoDFe, tipoManifestacao }: { TipoDFe: number; tipoManifestacao: number }) {
  const { id, answers } = familyOf(TipoDFe)
  return { service: id, kind: answers.find(({ choice }) => choice === tipoManifestacao)! }
}

async function manifest(ctx: Context, session: Session, { id, code }: Family, body: ManifestationBody) {
  const outcomes = await requestEvents(ctx, session, {
    ...answerOf({ ...body, TipoDFe: code }),
    documents: body.idsDFe,
    justification: body.justificativa,
    corrections: body.correcoes,
  })
  const reasons = reasonsOf(outcomes)
  if (outcomes.every((outcome) => outcome.state === 'refused'))
    throw new AppError('conflict', reasons.join(' '), { errors: reasons })
  const documentos = outcomes.map((outcome) => toManifested(ctx, session, outcome))
  return { data: { documentos }, message: summaryOf(id, outcomes, reasons) }
}

function toManifested({ ids }: Context, { workspaceId }: Session, outcome: RequestOutcome): ManifestedDocument {
  const { documentId, chave, number, state, cStat, message } = outcome
  const document = { idDfe: ids.encode(workspaceId, documentId), chave, numero: number }
  return {
    ...document,
    situacao: outcomeStates[state],
    ...(cStat === null ? {} : { codigo: cStat }),
    mensagem: message,
  }
}

function summaryOf(service: Service, outcomes: RequestOutcome[], reasons: string[]): string {
  const number = (state: RequestOutcome['state']) => outcomes.filter((outcome) => outcome.state === state).length
  const [registered, sending, refused] = [number('registered'), number('sending'), number('refused')]
  const unconfirmed = number('unconfirmed')
  if (unconfirmed > 0) {
    const doubted = outcomes.filter(({ state }) => state === 'unconfirmed')
    const others = outcomes.filter(({ state }) => state !== 'unconfirmed')
    const doubt = `${formatCount(unconfirmed, 'documento sem confirmação', 'documentos sem confirmação')}: ${[...new Set(doubted.map(({ message }) => message))].join(' ')}`
    return others.length > 0 ? `${doubt} ${summaryOf(service, others, reasons)}` : doubt
  }
  const asked = number('asked')
  if (asked > 0) {
    const waits = `${formatCount(asked, 'resposta espera', 'respostas esperam')} a aprovação de uma segunda pessoa, e nada foi enviado ainda`
    const others = outcomes.filter(({ state }) => state !== 'asked')
    return others.length > 0 ? `${waits}. ${summaryOf(service, others, reasons)}` : `${waits}.`
  }
  const { words } = protocols[service]
  const later = 'o resultado aparece na lista.'
  if (refused === 0) {
    if (sending === 0) return `${formatCount(registered, ...words.registered)}.`
    if (registered === 0) return `${formatCount(sending, 'documento', 'documentos')} em envio: ${later}`
    return `${formatCount(registered, ...words.registeredBesides)}, ${sending} em envio: ${later}`
  }
  const done = [
    registered > 0 ? formatCount(registered, ...words.registeredBesides) : '',
    sending > 0 ? `${sending} em envio` : '',
    formatCount(refused, 'recusado', 'recusados'),
  ]
  const sentence = `${done.filter(Boolean).join(', ')}: ${reasons.join(' ')}`
  return sending > 0 ? `${sentence} O que está em envio aparece na lista.` : sentence
}

// One sentence for each reason, with the numbers of the documents when there is more than one document.
function reasonsOf(outcomes: RequestOutcome[]): string[] {
  const refused = outcomes.filter((outcome) => outcome.state === 'refused')
  const reasons = [...new Set(refused.map((outcome) => outcome.message))]
  if (outcomes.length === 1) return reasons
  return reasons.map((reason) => {
    const numbers = refused.filter((outcome) => outcome.message === reason).map((outcome) => outcome.number)
    return `${numbers.length === 1 ? 'Documento' : 'Documentos'} ${numbersText(numbers)}: ${reason}`
  })
}
