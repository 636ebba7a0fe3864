import { sql } from 'kysely'
import { damagedProblem } from '../documents/arrival.ts'
import { receivedContent } from '../documents/received/column.ts'
import type { WithDatabase } from '../platform/context.ts'
import { type Service, type ServiceCode, serviceCodes } from '../platform/service.ts'

export interface Unreadable {
  companyId: number
  service: ServiceCode
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
  const { rows } = await sql<Unreadable & { n: number }>`
    select c.id as "companyId", r.service, c.name as company, c.cnpj, r.nsu, r.schema, r.chave, r.problem, r.received_at as "receivedAt", count(*) over ()::int as n
      from receipt r join company c on c.workspace_id = ${workspaceId} and c.id = r.company_id
     where r.workspace_id = ${workspaceId} and r.service = ${serviceCodes[service]} and r.unread
       and (${companyId ?? null}::int is null or r.company_id = ${companyId ?? null}::int)
       and (${since ?? null}::timestamp is null or r.received_at at time zone 'America/Sao_Paulo' >= ${since ?? null}::timestamp)
     order by r.received_at desc, r.nsu desc limit ${lookedAtMax}`.execute(db)
  const damaged = rows.filter(({ problem }) => problem === damagedProblem)
  const missing = await findMissing({ db }, workspaceId, damaged)
  const left = rows.filter((row) => row.problem !== damagedProblem || missing.has(keyOf(row)))
  const total = (rows[0]?.n ?? 0) - rows.length + left.length
  return { total, files: left.slice(0, unreadableMax).reverse() }
}

/** Counts the same files for each company and service that has any. Inside the workspace. */
export async function countUnreadable({ db }: WithDatabase, workspaceId: number, companyId: number | null) {
  const { rows } = await sql<{ companyId: number; service: ServiceCode; others: number; damaged: string[] }>`
    select company_id as "companyId", service, count(*) filter (where problem is distinct from ${damagedProblem})::int as others,
           coalesce(array_agg(nsu) filter (where problem = ${damagedProblem}), '{}') as damaged
      from receipt
     where workspace_id = ${workspaceId} and unread and (${companyId}::int is null or company_id = ${companyId}::int)
     group by 1, 2`.execute(db)
  const positions = rows.map(({ damaged, ...of }) => damaged.map((nsu) => ({ ...of, nsu: BigInt(nsu) })))
  const missing = await findMissing({ db }, workspaceId, positions.flat())
  return rows.map(({ companyId, service, others }, index) => {
    const left = positions[index]!.filter((position) => missing.has(keyOf(position)))
    return { companyId, service, unread: others + left.length }
  })
}

type Position = Pick<Unreadable, 'companyId' | 'service' | 'nsu'>

const keyOf = ({ companyId, service, nsu }: Position) => `${companyId} ${service} ${nsu}`

// The positions that are still missing, or lost. The tables of the capture and those of the workspace are never joined.
async function findMissing(
  { db }: WithDatabase,
  workspaceId: number,
  damaged: readonly Position[],
): Promise<Set<string>> {
  if (damaged.length === 0) return new Set()
  const companies = damaged.map(({ companyId }) => companyId)
  const [codes, positions] = [damaged.map(({ service }) => service), damaged.map(({ nsu }) => nsu)]
  const { rows } = await sql<Position>`
    select d.company as "companyId", d.service, d.nsu
      from unnest(${companies}::int[], ${codes}::smallint[], ${positions}::bigint[]) d (company, service, nsu)
     where exists (select from capture_subscription s join capture_line l on l.id = s.line_id join capture_gap g on g.line_id = l.id
                    where s.workspace_id = ${workspaceId} and s.company_id = d.company and l.service = d.service
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
