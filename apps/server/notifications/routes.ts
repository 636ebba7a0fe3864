import { listAnnouncements, readAnnouncements } from '@vigia/contract/workspace'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import { noteRead, readHistory } from './history.ts'

export const notificationRoutes = [
  handle(listAnnouncements, async (ctx, { query, session }) => {
    const before = query.antesDe === undefined ? null : idOf(ctx, session.workspaceId, query.antesDe)
    const { announcements, hasMore, unread } = await readHistory(ctx, session, before)
    return {
      data: {
        items: announcements.map(({ id, ...one }) => ({ idAviso: ctx.ids.encode(session.workspaceId, id), ...one })),
        temMais: hasMore,
        naoLidos: unread,
      },
    }
  }),

  handle(readAnnouncements, async (ctx, { body, session }) => {
    if (!(await noteRead(ctx, session, idOf(ctx, session.workspaceId, body.ate)))) throw unknown()
    return { data: null, message: 'Avisos marcados como lidos.' }
  }),
]

function idOf({ ids }: Pick<Context, 'ids'>, workspaceId: number, text: string): bigint {
  const id = ids.decode(workspaceId, text)
  if (id === null) throw unknown()
  return id
}

const unknown = () =>
  new AppError('not-found', 'Este aviso não existe mais: eles são guardados por 30 dias. Abra os avisos de novo.')
