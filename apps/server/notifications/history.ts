import { listAnnouncements, readAnnouncements, unreadCountMax } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { countRows, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { type DataOf, handle } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'

export const notificationRoutes = [
  handle(listAnnouncements, async (ctx, { query, session }) => {
    return { data: await readHistory(ctx, session, query.antesDe) }
  }),

  handle(readAnnouncements, async (ctx, { body, session }) => {
    await markRead(ctx, session, body.ate)
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

type History = DataOf<typeof listAnnouncements>
type ReadContext = Pick<Context, 'db' | 'ids'>
type Reader = Pick<Session, 'workspaceId' | 'accountId' | 'publicId'>

const pageSize = 20

/** Announcements that are kept, newest first; `antesDe`: the last one of the previous page. */
export async function readHistory(
  ctx: ReadContext,
  { workspaceId, accountId, publicId }: Reader,
  antesDe?: string,
): Promise<History> {
  const before = antesDe === undefined ? null : idOf(ctx, workspaceId, antesDe)
  const readUpTo = sql`coalesce((
    select read_up_to from announcement_reading where workspace_id = ${workspaceId} and account_id = ${accountId}), 0)`
  // Own actions count as read.
  const unread = sql`a.id > ${readUpTo} and a.session_id is distinct from ${publicId}::uuid`
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Omit<History['items'][number], 'idAviso'> & { id: bigint }>`
      select a.id, a.at as quando, a.kind as tipo, a.header as titulo, a.body as texto, nullif(split_part(a.link, chr(10), 1), '') as tela,
             nullif(split_part(a.link, chr(10), 2), '') as "outraTela", not (${unread}) as lido from announcement a
       where a.workspace_id = ${workspaceId} and (${before}::bigint is null or a.id < ${before})
       order by a.id desc limit ${pageSize + 1}`.execute(db)
    const these = sql`select from announcement a where a.workspace_id = ${workspaceId} and ${unread} limit ${unreadCountMax}`
    const page = rows.slice(0, pageSize)
    return {
      items: page.map(({ id, ...row }) => ({ idAviso: ctx.ids.encode(workspaceId, id), ...row })),
      temMais: rows.length > pageSize,
      naoLidos: await countRows(db, sql`from (${these}) a`),
    }
  })
}

/** Notes that an account has read an announcement and all older ones. */
export async function markRead(ctx: ReadContext, { workspaceId, accountId }: Reader, ate: string): Promise<void> {
  const upTo = idOf(ctx, workspaceId, ate)
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      insert into announcement_reading as r (workspace_id, account_id, read_up_to)
      select workspace_id, ${accountId}::int, id from announcement where workspace_id = ${workspaceId} and id = ${upTo}
      on conflict (workspace_id, account_id) do update set read_up_to = greatest(r.read_up_to, excluded.read_up_to)
      returning 1`.execute(db),
  )
  if (rows.length === 0) throw unknown()
}
