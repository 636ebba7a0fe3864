import { decideAsked, getTwoPeople, listAsked, saveTwoPeople } from '@vigia/contract/answer-rules'
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
import { endSentence, formatCount } from '@vigia/contract/text'
import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import type { Correction } from '@vigia/sefaz/events'
import type { Context } from '../platform/context.ts'
import { beyondLimit, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import type { Service } from '../platform/service.ts'
import { numbersText } from './announcements.ts'
import * as approve from './approve.ts'
import { previewEvents } from './candidates.ts'
import { readHistory } from './history.ts'
import { keepText, readTexts } from './justifications.ts'
import { protocols } from './protocols.ts'
import { requestAgain, requestEvents } from './request.ts'
import { answerRuleRoutes } from './rule-routes.ts'
import { readTwoPeople, saveTwoFrom } from './two-people.ts'

interface ManifestationBody {
  justificativa: string
  idsDFe: string[]
  tipoManifestacao: number
  correcoes?: Correction[]
}

export const manifestationRoutes = [
  ...answerRuleRoutes,
  handle(manifestNfe, 'waiting', (ctx, { body, session }) => manifest(ctx, session, nfe, body)),
  handle(manifestCte, 'waiting', (ctx, { body, session }) => manifest(ctx, session, cte, body)),

  handle(previewManifestation, async (ctx, { body, session }) => ({
    data: await previewEvents(ctx, session, { ...kindOf(body), documents: body.idsDFe }),
  })),

  handle(listManifestationTexts, async (ctx, { query, session: { workspaceId } }) => {
    const { service, kind } = kindOf(query)
    const texts = await readWorkspace(ctx, workspaceId, (ctx) => readTexts(ctx, workspaceId, service, kind))
    return { data: { sugestao: texts.suggestion, modelos: texts.kept } }
  }),

  handle(keepManifestationText, async (ctx, { body, session: { workspaceId } }) => {
    const { service, kind } = kindOf(body)
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
    const documento = await requestAgain(ctx, session, asked)
    return { data: { documento }, message: documento.mensagem }
  }),

  handle(listManifestations, async (ctx, { params, session }) => ({
    data: await readHistory(ctx, session.workspaceId, params.idDfe),
  })),

  handle(getTwoPeople, async (ctx, { session }) => ({ data: await readSetting(ctx, session) })),

  handle(saveTwoPeople, async (ctx, { body, session }) => {
    await saveTwoFrom(ctx, session, body.valor)
    return {
      data: await readSetting(ctx, session),
      message:
        body.valor === null
          ? 'Desligado: as próximas respostas são enviadas com uma pessoa. As que já esperam continuam esperando.'
          : 'Guardado: as respostas a partir deste valor só são enviadas com duas pessoas.',
    }
  }),

  handle(listAsked, async (shown, { session }) => {
    const { workspaceId } = session
    const ctx = beyondLimit(shown)
    const { total, answers } = await readWorkspace(ctx, workspaceId, (ctx) => approve.listAsked(ctx, session))
    const items = answers.map(({ id, documentId, ...answer }) => ({
      idPedido: ctx.ids.encode(workspaceId, id),
      idDFe: ctx.ids.encode(workspaceId, documentId),
      ...answer,
    }))
    return { data: { totalDeItens: total, items } }
  }),

  handle(decideAsked, async (shown, { body, session }) => {
    const reason = body.aprovar ? null : endSentence(body.motivo!)
    const data = await approve.settleAsked(beyondLimit(shown), session, { chosen: body.idsPedido, reason })
    const { feitas, impedidas } = data
    if (feitas === 0) throw new AppError('conflict', [...new Set(impedidas.map(({ motivo }) => motivo))].join(' '))
    const what = body.aprovar
      ? formatCount(feitas, 'resposta aprovada: está na fila de envio', 'respostas aprovadas: estão na fila de envio')
      : formatCount(feitas, 'resposta recusada: nada foi enviado', 'respostas recusadas: nada foi enviado')
    const rest = impedidas.length > 0 ? `, e ${formatCount(impedidas.length, 'continua', 'continuam')} esperando.` : '.'
    return { data, message: `${what}${rest}` }
  }),
]

async function readSetting(ctx: Context, session: Session) {
  const { setting, alone } = await readWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) =>
    readTwoPeople(ctx, session),
  )
  return {
    valor: setting?.twoFrom ?? null,
    guardadoPor: setting?.by ?? null,
    guardadoEm: setting?.at.toISOString() ?? null,
    empresasSemSegunda: alone,
  }
}

// The contract takes no other choice.
function kindOf({ TipoDFe, tipoManifestacao }: { TipoDFe: number; tipoManifestacao: number }) {
  const { id, answers } = familyOf(TipoDFe)
  return { service: id, kind: answers.find(({ choice }) => choice === tipoManifestacao)! }
}

async function manifest(ctx: Context, session: Session, { id, code }: Family, body: ManifestationBody) {
  const documentos = await requestEvents(ctx, session, {
    ...kindOf({ ...body, TipoDFe: code }),
    documents: body.idsDFe,
    justification: body.justificativa,
    corrections: body.correcoes,
  })
  const reasons = reasonsOf(documentos)
  if (documentos.every(({ situacao }) => situacao === 'recusada'))
    throw new AppError('conflict', reasons.join(' '), { errors: reasons })
  return { data: { documentos }, message: summaryOf(id, documentos, reasons) }
}

function summaryOf(service: Service, documents: ManifestedDocument[], reasons: string[]): string {
  const number = (of: ManifestedDocument['situacao']) => documents.filter(({ situacao }) => situacao === of).length
  const without = (of: ManifestedDocument['situacao']) => documents.filter(({ situacao }) => situacao !== of)
  const unconfirmed = number('sem-confirmacao')
  if (unconfirmed > 0) {
    const doubted = documents.filter(({ situacao }) => situacao === 'sem-confirmacao')
    const others = without('sem-confirmacao')
    const doubt = `${formatCount(unconfirmed, 'documento sem confirmação', 'documentos sem confirmação')}: ${[...new Set(doubted.map(({ mensagem }) => mensagem))].join(' ')}`
    return others.length > 0 ? `${doubt} ${summaryOf(service, others, reasons)}` : doubt
  }
  const asked = number('aguarda-segunda-pessoa')
  if (asked > 0) {
    const waits = `${formatCount(asked, 'resposta espera', 'respostas esperam')} a aprovação de uma segunda pessoa, e nada foi enviado ainda`
    const others = without('aguarda-segunda-pessoa')
    return others.length > 0 ? `${waits}. ${summaryOf(service, others, reasons)}` : `${waits}.`
  }
  const [registered, sending, refused] = [number('registrada'), number('enviando'), number('recusada')]
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
function reasonsOf(documents: ManifestedDocument[]): string[] {
  const refused = documents.filter(({ situacao }) => situacao === 'recusada')
  const reasons = [...new Set(refused.map(({ mensagem }) => mensagem))]
  if (documents.length === 1) return reasons
  return reasons.map((reason) => {
    const numbers = refused.flatMap(({ mensagem, numero }) => (mensagem === reason ? numero : []))
    return `${numbers.length === 1 ? 'Documento' : 'Documentos'} ${numbersText(numbers)}: ${reason}`
  })
}
