import { sql } from 'kysely'
import { damagedProblem } from '../documents/arrival.ts'
import { receivedContent } from '../documents/received/column.ts'
import type { WithDatabase } from '../platform/context.ts'
import { type Service, serviceCodes } from '../platform/service.ts'

export interface Unreadable {
  companyId: number
  company: string
  cnpj: string
  nsu: bigint
  schema: string
  /** Found in the bytes. */
  chave: string | null
  problem: string | null
  receivedAt: Date
}

interface Choice {
  service: Service
  companyId?: number
  /** Received on this day of Brasília or later. */
  since?: string
}

/** How many are named; the newest. */
const unreadableMax = 200
const lookedAtMax = 1000

/** Files that could not be read, oldest first, and their count; damaged ones only while no whole copy was fetched. Inside the workspace. */
export async function listUnreadable(
  { db }: WithDatabase,
  workspaceId: number,
  { service, companyId, since }: Choice,
): Promise<{ total: number; files: Unreadable[] }> {
  const code = serviceCodes[service]
  const { rows } = await sql<Unreadable & { n: number }>`
    select c.id as "companyId", c.name as company, c.cnpj, r.nsu, r.schema, r.chave, r.problem, r.received_at as "receivedAt", count(*) over ()::int as n
      from receipt r join company c on c.workspace_id = ${workspaceId} and c.id = r.company_id
     where r.workspace_id = ${workspaceId} and r.service = ${code} and r.unread
       and (${companyId ?? null}::int is null or r.company_id = ${companyId ?? null}::int)
       and (${since ?? null}::timestamp is null or r.received_at at time zone 'America/Sao_Paulo' >= ${since ?? null}::timestamp)
     order by r.received_at desc, r.nsu desc limit ${lookedAtMax}`.execute(db)
  const damaged = rows.filter(({ problem }) => problem === damagedProblem)
  const missing = await findMissing({ db }, workspaceId, code, damaged)
  const left = rows.filter((row) => row.problem !== damagedProblem || missing.has(keyOf(row)))
  const total = (rows[0]?.n ?? 0) - rows.length + left.length
  return { total, files: left.slice(0, unreadableMax).reverse() }
}

const keyOf = ({ companyId, nsu }: Position) => `${companyId} ${nsu}`

type Position = Pick<Unreadable, 'companyId' | 'nsu'>

// The tables of the capture and those of the workspace are never joined.
async function findMissing(
  { db }: WithDatabase,
  workspaceId: number,
  code: number,
  damaged: readonly Position[],
): Promise<Set<string>> {
  if (damaged.length === 0) return new Set()
  const [companies, positions] = [damaged.map(({ companyId }) => companyId), damaged.map(({ nsu }) => nsu)]
  const { rows } = await sql<Position>`
    select d.company as "companyId", d.nsu from unnest(${companies}::int[], ${positions}::bigint[]) d (company, nsu)
     where exists (select from capture_subscription s join capture_line l on l.id = s.line_id join capture_gap g on g.line_id = l.id
                    where s.workspace_id = ${workspaceId} and s.company_id = d.company and l.service = ${code}
                      and d.nsu between g.from_nsu and g.to_nsu)`.execute(db)
  return new Set(rows.map(keyOf))
}

/** The bytes of one of them, as stored, and the CNPJ of its company; null: there is none. `ctx.db` is a transaction inside the workspace. */
export async function findUnreadable(
  { db }: WithDatabase,
  workspaceId: number,
  { companyId, service, nsu }: { companyId: number; service: Service; nsu: bigint },
): Promise<{ content: Buffer; cnpj: string } | null> {
  const { rows } = await sql<{ content: Buffer; cnpj: string }>`
    select c.cnpj, ${receivedContent(workspaceId, 'r')} as content
      from receipt r join company c on c.workspace_id = r.workspace_id and c.id = r.company_id
     where r.workspace_id = ${workspaceId} and r.company_id = ${companyId} and r.service = ${serviceCodes[service]}
       and r.nsu = ${nsu} and r.unread`.execute(db)
  return rows[0] ?? null
}
