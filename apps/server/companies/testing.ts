import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { companyNameIn, type TopicItem, type Writer } from './topics.ts'

/** What its writer makes of everything of one kind that happened in a workspace; nothing twice. */
export async function toldOf(
  ctx: Pick<Context, 'db'>,
  writers: Readonly<Record<string, Writer>>,
  workspaceId: number,
  what: string,
): Promise<{ header: string; body: string; kind: string }[]> {
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql<TopicItem>`
      with taken as (
        delete from happening where workspace_id = ${workspaceId} and what = ${what} returning id, company_id, payload)
      select t.company_id as "companyId", ${companyNameIn(workspaceId)} as company, c.public_id as "companyPublicId", t.payload
        from taken t left join company c on c.workspace_id = ${workspaceId} and c.id = t.company_id
       order by t.id`.execute(db),
  )
  const text = rows.length > 0 ? writers[what]!.write(rows) : null
  return text ? [{ header: text.header, body: text.body, kind: text.kind }] : []
}
