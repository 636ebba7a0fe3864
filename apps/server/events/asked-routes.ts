import { decideAsked, getTwoPeople, listAsked, saveTwoPeople } from '@vigia/contract/answer-rules'
import { endSentence, formatCount } from '@vigia/contract/text'
import { eventName } from '../documents/list/rows.ts'
import type { Context } from '../platform/context.ts'
import { beyondLimit, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { serviceOf } from '../platform/service.ts'
import { deadlineOf, decideAsked as decide, listAsked as list, refusalOf } from './asked.ts'
import { readTwoPeople, saveTwoFrom } from './two-people.ts'

export const askedRoutes = [
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
    const { total, answers } = await readWorkspace(ctx, workspaceId, (ctx) => list(ctx, session))
    return {
      data: {
        totalDeItens: total,
        items: answers.map((answer) => ({
          idPedido: ctx.ids.encode(workspaceId, answer.id),
          idDFe: ctx.ids.encode(workspaceId, answer.documentId),
          tipoDFe: answer.type,
          chave: answer.chave,
          numero: answer.number,
          emitente: answer.issuer,
          idEmpresa: answer.companyPublicId,
          empresa: answer.company,
          valor: answer.amount,
          tpEvento: answer.tpEvento,
          descricao: eventName(serviceOf(answer.type), answer.tpEvento),
          justificativa: answer.justification,
          motivo: answer.why,
          pedidaEm: answer.requestedAt.toISOString(),
          prazo: deadlineOf(answer)?.toISOString() ?? null,
          minha: answer.own,
          impedimento: refusalOf(answer),
        })),
      },
    }
  }),

  handle(decideAsked, async (shown, { body, session }) => {
    const { workspaceId } = session
    const reason = body.aprovar ? null : endSentence(body.motivo!)
    const outcomes = await decide(beyondLimit(shown), session, { chosen: body.idsPedido, reason })
    const barred = outcomes.filter(({ refusal }) => refusal !== null)
    const done = outcomes.length - barred.length
    if (done === 0) throw new AppError('conflict', [...new Set(barred.map(({ refusal }) => refusal!))].join(' '))
    const what = body.aprovar
      ? formatCount(done, 'resposta aprovada: está na fila de envio', 'respostas aprovadas: estão na fila de envio')
      : formatCount(done, 'resposta recusada: nada foi enviado', 'respostas recusadas: nada foi enviado')
    const rest = barred.length > 0 ? `, e ${formatCount(barred.length, 'continua', 'continuam')} esperando.` : '.'
    return {
      data: {
        feitas: done,
        impedidas: barred.map(({ answer, refusal }) => ({
          idPedido: shown.ids.encode(workspaceId, answer.id),
          numero: answer.number,
          motivo: refusal!,
        })),
      },
      message: `${what}${rest}`,
    }
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
