import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import type { ServiceCode } from '../../platform/service.ts'
import { likeLiteral, searchable } from '../../platform/text.ts'
import { all } from '../list/filter.ts'

const suggestedMax = 6

export async function findIssuers(
  ctx: WithDatabase,
  workspaceId: number,
  type: ServiceCode,
  text: string,
): Promise<{ name: string; tax_id: string }[]> {
  const typed = searchable(text)
  if (typed.length < 2) return []
  const words = typed.split(' ').map((word) => {
    const bare = word.replace(/[./-]/g, '').toUpperCase()
    const ofTaxId = /\d/.test(bare) ? sql`s.tax_id like ${`%${likeLiteral(bare)}%`}` : sql`false`
    return sql`(s.search like ${`%${likeLiteral(word)}%`} or ${ofTaxId})`
  })
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
    const { rows } = await sql<{ name: string; tax_id: string }>`
      select s.name, s.tax_id from supplier s
       where s.workspace_id = ${workspaceId} and ${all(words)}
         and (select true from document d where ${all([sql`d.workspace_id = ${workspaceId}`, sql`d.supplier_id = s.id`, sql`d.type = ${type}`, ...shown])} limit 1)
       order by not s.search like ${`${likeLiteral(typed)}%`}, s.search, s.id limit ${suggestedMax}`.execute(db)
    return rows
  })
}
