import { type RawBuilder, sql } from 'kysely'

/**
 * Name of an author, a person or a key, by the column with their id; null: unknown. No SQL
 * function, because a cluster would not run one that reads tables beside their rows.
 */
export function nameOfAuthor(workspaceId: number, author: `${string}.${string}`): RawBuilder<string | null> {
  const id = sql.ref(author)
  return sql`case when ${id} < 0 then (select by_key.author from api_key by_key where by_key.workspace_id = ${workspaceId}::int and by_key.id = ${id})
                  else (select by_person.name from account by_person where by_person.workspace_id = ${workspaceId}::int and by_person.id = ${id}) end`
}
