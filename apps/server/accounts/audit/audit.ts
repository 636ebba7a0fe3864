import type { RouteInput } from '@vigia/contract/route'
import { formatInteger } from '@vigia/contract/text'
import type { AuditAction, AuditRow, listAudit } from '@vigia/contract/workspace'
import { formatCnpj, parseCnpj } from '@vigia/dfe/cnpj'
import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { beforeCommit, readWorkspace } from '../../platform/database.ts'
import type { Caller } from '../../platform/http/session.ts'
import { likeLiteral, searchable } from '../../platform/text.ts'

/** Author of an audit entry: a session, or somebody without one. */
interface Actor {
  workspaceId: number
  /** Absent: the operator, or somebody who could not log in. */
  accountId?: number
  accountName: string
  /** Absent: not over the network. */
  address?: string
}

/**
 * Writes down what `actor` did, in a sentence for the people of the workspace: no passwords, no keys. `ctx.db` is a transaction inside the
 * workspace: the one that does it, wherever there is one. The entry is there when it commits.
 */
export async function recordAudit(
  ctx: WithDatabase,
  actor: Actor,
  action: AuditAction,
  description: string,
): Promise<void> {
  append(ctx, 'append_audit', actor, action, description)
}

/** Like `recordAudit`, but the same again within an hour is counted in its entry. */
export async function recordCounted(
  ctx: WithDatabase,
  actor: Actor,
  action: 'leitura' | 'chave',
  description: string,
): Promise<void> {
  append(ctx, 'append_counted', actor, action, description)
}

/** Writes down that `reader` took a file. A HEAD takes nothing. */
export async function recordRead(
  ctx: WithDatabase,
  reader: Actor,
  { isHead }: Pick<Caller, 'isHead'>,
  description: string,
): Promise<void> {
  if (!isHead) await recordCounted(ctx, reader, 'leitura', description)
}

function append(
  { db }: WithDatabase,
  name: 'append_audit' | 'append_counted',
  { workspaceId, accountId, accountName, address }: Actor,
  action: AuditAction,
  description: string,
): void {
  const search = searchable(`${accountName} ${description}`)
  const statement = sql`
    select ${sql.ref(name)}(${workspaceId}, ${accountId ?? null}, ${accountName}, ${action}, ${description}, ${address ?? null}, ${search})`
  beforeCommit({ db }, { lock: 'audit', workspaceId }, async () => void (await statement.execute(db)))
}

export const auditPageSize = 50

/** Among how many entries, the newest of its period, a text is looked for: reading more takes too long for one call. */
export const searchedMax = 100_000

export type AuditQuery = RouteInput<typeof listAudit>['query']

/** An entry as people read it; `times`: how often it was counted within an hour. */
type AuditEntry = Omit<AuditRow, 'quando'> & { quando: Date; times: number }

/** The description of an entry, with how often it was counted. */
export function countedText(description: string, times: number): string {
  return times > 1 ? `${description} (${formatInteger(times)} vezes em uma hora)` : description
}

interface AuditRecords {
  entries: AuditEntry[]
  total: number
  /** There are older entries in which the text was not looked for. */
  cutOff: boolean
}

/** One page of the audit, newest first, with the exact count of the filter. */
export async function searchAudit(ctx: WithDatabase, workspaceId: number, query: AuditQuery): Promise<AuditRecords> {
  const { Acao, CampoPesquisa, DataDe, DataAte } = query
  const conditions = sql.join(
    [
      sql`workspace_id = ${workspaceId}`,
      ...(Acao ? [sql`action = ${Acao}`] : []),
      ...(DataDe ? [sql`at >= ${DataDe}::timestamp at time zone 'America/Sao_Paulo'`] : []),
      ...(DataAte ? [sql`at < (${DataAte}::timestamp + interval '1 second') at time zone 'America/Sao_Paulo'`] : []),
    ],
    sql` and `,
  )
  const found = CampoPesquisa ? matching(CampoPesquisa, conditions) : sql`select at, id from audit where ${conditions}`
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: counts } = await sql<{ total: number }>`select count(*)::int as total from (${found}) f`.execute(db)
    const { total } = counts[0]!
    const offset = (query.PaginaAtual - 1) * auditPageSize
    const { rows: entries } = await sql<AuditEntry>`
      select a.at as quando, a.actor as usuario, a.action as acao, a.description as descricao, a.address as endereco, a.times
        from (select at, id from (${found}) f order by at desc, id desc offset ${Math.min(offset, total)} limit ${auditPageSize}) k
        join audit a on a.workspace_id = ${workspaceId} and a.id = k.id
       order by k.at desc, k.id desc`.execute(db)
    const { rows: older } = CampoPesquisa
      ? await sql`
        select 1 from audit where ${conditions} order by at desc, id desc offset ${searchedMax} limit 1`.execute(db)
      : { rows: [] }
    return { entries, total, cutOff: older.length > 0 }
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
