import type { RouteData } from '@vigia/contract/route'
import { listViews, removeView, saveView, viewsMax } from '@vigia/contract/views'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'

// Views of a list that the people of a workspace keep under a name.

export const viewRoutes = [
  handle(listViews, async (ctx, { session }) => ({
    data: await readWorkspace(ctx, session.workspaceId, (ctx) => readViews(ctx, session)),
  })),

  handle(saveView, async (ctx, { body, session }) => {
    const data = await inWorkspace(ctx, session.workspaceId, async (ctx) => {
      await keepView(ctx, session, body)
      return readViews(ctx, session)
    })
    return { data, message: `Visão "${body.nome}" guardada.` }
  }),

  handle(removeView, async (ctx, { body, session }) => {
    const data = await inWorkspace(ctx, session.workspaceId, async (ctx) => {
      // As a text: what is no id of ours is not found either.
      const { numAffectedRows } = await sql`
        delete from saved_view
         where workspace_id = ${session.workspaceId} and public_id::text = ${body.idVisao}`.execute(ctx.db)
      if (numAffectedRows === 0n) throw new AppError('not-found', 'Visão não encontrada.')
      return readViews(ctx, session)
    })
    return { data, message: 'Visão apagada.' }
  }),
]

async function readViews({ db }: WithDatabase, { workspaceId, accountId }: Session) {
  const { rows } = await sql<RouteData<typeof listViews>[number]>`
    select v.public_id as "idVisao", v.type as "tipoDFe", v.name as nome, v.address as endereco,
           a.name as "guardadaPor", f.view_id is not null as inicial
      from saved_view v
      left join first_view f on f.workspace_id = v.workspace_id and f.view_id = v.id and f.account_id = ${accountId}
      left join account a on a.workspace_id = v.workspace_id and a.id = v.saved_by
     where v.workspace_id = ${workspaceId} order by v.type, lower(v.name)`.execute(db)
  return rows
}

async function keepView(
  { db }: WithDatabase,
  { workspaceId, accountId }: Session,
  { tipoDFe, nome, endereco, inicial }: { tipoDFe: number; nome: string; endereco: string; inicial: boolean },
): Promise<void> {
  // Two that are saved at once take turns, and the second one counts the first.
  await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
  const { rows } = await sql<{ id: bigint }>`
    insert into saved_view (workspace_id, type, name, address, saved_by)
    values (${workspaceId}, ${tipoDFe}, ${nome}, ${endereco}, ${accountId})
        on conflict (workspace_id, type, name) do update
       set address = excluded.address, saved_by = excluded.saved_by, saved_at = excluded.saved_at
    returning id`.execute(db)
  const { id } = rows[0]!
  const { rows: views } = await sql`select from saved_view where workspace_id = ${workspaceId}`.execute(db)
  if (views.length > viewsMax)
    throw new AppError(
      'conflict',
      `Já há ${viewsMax} visões guardadas. Esta não foi guardada; apague uma que não usa mais e tente de novo.`,
    )
  if (inicial)
    await sql`
      insert into first_view (workspace_id, account_id, type, view_id)
      values (${workspaceId}, ${accountId}, ${tipoDFe}, ${id})
          on conflict (workspace_id, account_id, type) do update set view_id = excluded.view_id`.execute(db)
  else
    await sql`
      delete from first_view
       where workspace_id = ${workspaceId} and account_id = ${accountId} and view_id = ${id}`.execute(db)
}
