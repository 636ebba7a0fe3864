import { sql } from 'kysely'
import type { Context, Database } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { serviceCodes } from '../platform/service.ts'
import { companyNameIn, type TopicItem, type Writer } from './topics.ts'

/** Announcements that a writer makes of all happenings of a kind; takes each happening once. */
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

/** Has a company, or all of a workspace, show documents only in these roles, as bit masks. */
export async function showOnly(
  db: Database,
  workspaceId: number,
  { nfe, cte, companyId = null }: { nfe?: number; cte?: number; companyId?: number | null },
): Promise<void> {
  const families = Object.entries({ nfe, cte }).flatMap(([service, shown]) =>
    shown === undefined ? [] : sql`(${serviceCodes[service as 'nfe' | 'cte']}::smallint, ${shown}::int)`,
  )
  await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`insert into company_family (workspace_id, company_id, family, shown)
        select c.workspace_id, c.id, s.family, s.shown from company c cross join (values ${sql.join(families)}) s (family, shown)
         where c.workspace_id = ${workspaceId} and (${companyId}::int is null or c.id = ${companyId})
        on conflict (workspace_id, company_id, family) do update set shown = excluded.shown`.execute(db),
  )
}
