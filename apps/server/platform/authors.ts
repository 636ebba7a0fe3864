import { type RawBuilder, sql } from 'kysely'

/**
 * The name of who did something, a person or a key, by the columns that say the workspace and who; null: nobody knows any more. No function of
 * the database: one that looks into tables is not carried out where a distributed database keeps their rows.
 */
export function nameOfAuthor(
  workspace: `${string}.${string}`,
  author: `${string}.${string}`,
): RawBuilder<string | null> {
  const [ws, id] = [sql.ref(workspace), sql.ref(author)]
  return sql`case when ${id} < 0 then (select by_key.author from api_key by_key where by_key.workspace_id = ${ws} and by_key.id = ${id})
                  else (select by_person.name from account by_person where by_person.workspace_id = ${ws} and by_person.id = ${id}) end`
}
