import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'

// Companies that are chosen for a person, a key or an address of another program: people name them by public ids, rows keep their numbers.

/** The numbers of chosen companies, each once; null without a choice: all companies. Refuses one that is not of the workspace. `ctx.db` is a transaction inside it. */
export async function findCompanyIds(
  { db }: WithDatabase,
  workspaceId: number,
  publicIds: readonly string[] | null | undefined,
): Promise<number[] | null> {
  if (!publicIds) return null
  const wanted = [...new Set(publicIds.map((id) => id.toLowerCase()))]
  const { rows } = await sql<{ id: number }>`
    select id from company where workspace_id = ${workspaceId} and public_id::text = any (${wanted}::text[])
     order by id`.execute(db)
  if (rows.length < wanted.length) throw new AppError('not-found', 'Empresa não encontrada. Nada foi alterado.')
  return rows.map(({ id }) => id)
}

/** The public ids of chosen companies that still exist; null: all were chosen. `ctx.db` is a transaction inside the workspace. */
export async function findPublicIds(
  { db }: WithDatabase,
  workspaceId: number,
  ids: readonly number[] | null,
): Promise<string[] | null> {
  if (ids === null) return null
  const { rows } = await sql<{ id: string }>`
    select public_id::text as id from company where workspace_id = ${workspaceId} and id = any (${ids}::int[])
     order by company.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** SQL for the public ids of the companies whose numbers are in an array column, like `findPublicIds`. */
export function publicIdsIn(workspaceId: number, column: `${string}.company_ids`): RawBuilder<string[] | null> {
  const ids = sql.ref(column)
  return sql`case when ${ids} is not null then array(
    select c.public_id::text from company c where c.workspace_id = ${workspaceId} and c.id = any (${ids}) order by c.id) end`
}
