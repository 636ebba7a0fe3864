import { listViews, removeView, saveView, viewsMax } from '@vigia/contract/documents'
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
      const { numDeletedRows } = await ctx.db
        .deleteFrom('saved_view')
        .where('workspace_id', '=', session.workspaceId)
        // As a text: what is no id of ours is not found either.
        .where(sql<string>`public_id::text`, '=', body.idVisao)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw new AppError('not-found', 'Visão não encontrada.')
      return readViews(ctx, session)
    })
    return { data, message: 'Visão apagada.' }
  }),
]

async function readViews({ db }: WithDatabase, { workspaceId, accountId }: Session) {
  const rows = await db
    .selectFrom('saved_view as v')
    .leftJoin('first_view as f', (join) =>
      join
        .onRef('f.workspace_id', '=', 'v.workspace_id')
        .onRef('f.view_id', '=', 'v.id')
        .on('f.account_id', '=', accountId),
    )
    .leftJoin('account as a', (join) =>
      join.onRef('a.workspace_id', '=', 'v.workspace_id').onRef('a.id', '=', 'v.saved_by'),
    )
    .select(['v.public_id', 'v.type', 'v.name', 'v.address', 'a.name as saved_by', 'f.view_id as first'])
    .where('v.workspace_id', '=', workspaceId)
    .orderBy('v.type')
    .orderBy(sql`lower(v.name)`)
    .execute()
  return rows.map((row) => ({
    idVisao: row.public_id,
    tipoDFe: row.type,
    nome: row.name,
    endereco: row.address,
    guardadaPor: row.saved_by,
    inicial: row.first !== null,
  }))
}

async function keepView(
  { db }: WithDatabase,
  { workspaceId, accountId }: Session,
  { tipoDFe, nome, endereco, inicial }: { tipoDFe: 0 | 2; nome: string; endereco: string; inicial: boolean },
): Promise<void> {
  // Two that are saved at once take turns, and the second one counts the first.
  await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
  const { id } = await db
    .insertInto('saved_view')
    .values({ workspace_id: workspaceId, type: tipoDFe, name: nome, address: endereco, saved_by: accountId })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'type', 'name'])
        .doUpdateSet({ address: endereco, saved_by: accountId, saved_at: sql<Date>`excluded.saved_at` }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  const { n } = await db
    .selectFrom('saved_view')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  if (n > viewsMax)
    throw new AppError(
      'conflict',
      `Já há ${viewsMax} visões guardadas. Esta não foi guardada; apague uma que não usa mais e tente de novo.`,
    )
  const own = { workspace_id: workspaceId, account_id: accountId, type: tipoDFe }
  if (inicial)
    await db
      .insertInto('first_view')
      .values({ ...own, view_id: id })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'account_id', 'type']).doUpdateSet({ view_id: id }))
      .execute()
  else
    await db
      .deleteFrom('first_view')
      .where(({ and }) => and({ ...own, view_id: id }))
      .execute()
}
