import type { AuditAction } from '@vigia/contract/workspace'
import { formatCnpj, parseCnpj } from '@vigia/dfe/cnpj'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { likeLiteral, searchable } from '../platform/text.ts'

export const auditPageSize = 50

/** Among how many deeds, the newest of its period, a text is looked for: reading more takes too long for one call. */
export const searchedMax = 100_000

export interface AuditQuery {
  action?: AuditAction
  text?: string
  /** Local date and time of São Paulo, both inclusive. */
  from?: string
  to?: string
  page: number
}

export interface Deed {
  at: Date
  actor: string
  action: AuditAction
  description: string
  address: string | null
}

export interface AuditPage {
  deeds: Deed[]
  total: number
  /** There are older deeds in which the text was not looked for. */
  cutOff: boolean
}

/** One page of what was done in the workspace, newest first, with the exact count of the filter. */
export async function searchDeeds(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  query: AuditQuery,
): Promise<AuditPage> {
  const conditions = sql.join(
    [
      sql`workspace_id = ${workspaceId}`,
      ...(query.action ? [sql`action = ${query.action}`] : []),
      ...(query.from ? [sql`at >= ${query.from}::timestamp at time zone 'America/Sao_Paulo'`] : []),
      ...(query.to ? [sql`at < (${query.to}::timestamp + interval '1 second') at time zone 'America/Sao_Paulo'`] : []),
    ],
    sql` and `,
  )
  const found = query.text ? matching(query.text, conditions) : sql`select at, id from audit where ${conditions}`
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: counts } = await sql<{ total: number }>`select count(*)::int as total from (${found}) f`.execute(db)
    const { total } = counts[0]!
    const offset = (query.page - 1) * auditPageSize
    const { rows: deeds } = await sql<Deed>`
      select a.at, a.actor, a.action, a.description, a.address
        from (select at, id from (${found}) f order by at desc, id desc offset ${Math.min(offset, total)} limit ${auditPageSize}) k
        join audit a on a.workspace_id = ${workspaceId} and a.id = k.id
       order by k.at desc, k.id desc`.execute(db)
    const { rows: older } = query.text
      ? await sql`select 1 from audit where ${conditions} order by at desc, id desc offset ${searchedMax} limit 1`.execute(
          db,
        )
      : { rows: [] }
    return { deeds, total, cutOff: older.length > 0 }
  })
}

function matching(text: string, conditions: RawBuilder<unknown>): RawBuilder<unknown> {
  // Descriptions write a CNPJ with its mask.
  const cnpj = parseCnpj(text)
  const pattern = `%${likeLiteral(searchable(cnpj ? formatCnpj(cnpj) : text))}%`
  return sql`
    select at, id from (select at, id, search from audit where ${conditions} order by at desc, id desc limit ${searchedMax}) newest
     where search like ${pattern}`
}
