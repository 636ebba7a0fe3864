import { listHeldEvents, releaseHeldEvents } from '@vigia/contract/answer-rules'
import { eventName } from '../documents/list/rows.ts'
import { findHold } from '../events/hold.ts'
import { beyondLimit, readWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http/http.ts'
import { serviceOf } from '../platform/service.ts'
import { listHeldOf, releaseAlone, whyNotRelease } from './held.ts'

export const heldRoutes = [
  handle(listHeldEvents, async (shown, { session }) => {
    const ctx = beyondLimit(shown)
    const held = await findHold(ctx)
    if (!held) return { data: { desde: null, motivo: null, items: [], totalDeItens: 0, impedimento: null } }
    const { workspaceId } = session
    const { total, events } = await readWorkspace(ctx, workspaceId, (ctx) => listHeldOf(ctx, session))
    return {
      data: {
        desde: held.since.toISOString(),
        motivo: held.why,
        items: events.map(({ documentId, tpEvento, motivo, pedidaEm, ...document }) => ({
          idDFe: ctx.ids.encode(workspaceId, documentId),
          ...document,
          descricao: eventName(serviceOf(document.tipoDFe), tpEvento),
          motivo,
          pedidaEm,
        })),
        totalDeItens: total,
        impedimento: await whyNotRelease(ctx, session),
      },
    }
  }),

  handle(releaseHeldEvents, 'waiting', async (ctx, { session }) => {
    await releaseAlone(beyondLimit(ctx), session)
    return { data: null, message: 'Envio liberado: o que espera sai nos próximos segundos.' }
  }),
]
