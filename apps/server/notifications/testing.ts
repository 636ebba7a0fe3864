import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { tellTogether, type Writers } from './teller.ts'

/** What is announced to a workspace of one kind, as soon as everything that happened may be announced; nothing twice. */
export async function toldOf(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  writers: Writers,
  workspaceId: number,
  what: string,
): Promise<{ header: string; body: string; kind: string }[]> {
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    await sql`update happening set ready_at = now() where what = ${what}`.execute(ctx.db)
    const last = await sql<{ id: bigint }>`select coalesce(max(id), 0) as id from announcement`.execute(ctx.db)
    await sql`update announcement set at = (at at time zone 'UTC' - interval '1 hour') at time zone 'UTC'`.execute(
      ctx.db,
    )
    await tellTogether(ctx, { workspaceId, what }, writers[what]!)
    return ctx.db
      .selectFrom('announcement')
      .select(['header', 'body', 'kind'])
      .where('id', '>', last.rows[0]!.id)
      .execute()
  })
}
