import { status } from '@vigia/dfe/families/statuses'
import type { Proof } from '@vigia/dfe/proof'
import { type RawBuilder, sql } from 'kysely'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { epecCodes } from '../files.ts'
import { all, type Criteria, type FilterQuery, withinRange } from '../list/filter.ts'
import { readWhole } from '../list/list.ts'
import { receivedContent } from '../received/column.ts'
import { isAltered } from '../workflow/remarks.ts'

export interface ExportRow {
  id: bigint
  type: number
  company_id: number
  /** Position of the receipt with its best bytes. */
  nsu: bigint
  company: string
  cnpj: string
  number: number
  series: number | null
  chave: string
  issuer: string
  tax_id: string
  amount: string
  issued_at: string
  created_at: Date
  roles: number
  status: number
  base_status: number
  event_code: number
  event_text: string | null
  complete: boolean
  proof: Proof | null
  checked_at: Date | null
  checkedBy: string | null
  booked_at: Date | null
  bookedBy: string | null
  delivered_at: Date | null
  deliveredBy: string | null
  altered_by: number | null
  remarks: string | null
  /** Bytes of the receipt; null: not requested. */
  content: Buffer | null
  cancelProtocol: string | null
  cancelledAt: Date | null
  epecProtocol: string | null
  epecAt: Date | null
}

/** Chosen documents: by criteria, by id, or all of them, including hidden ones. */
export type ExportChoice = { criteria: Criteria } | { ids: bigint[] } | 'everything'

const batchSize = 100

/** The chosen documents that are shown, newest first (everything: by id). Each batch is a short transaction, so slow downloads keep no connection. */
export async function* readInBatches(
  ctx: WithDatabase,
  workspaceId: number,
  choice: ExportChoice,
  { withContent, abandoned }: { withContent: boolean; abandoned?: AbortSignal },
): AsyncGenerator<ExportRow[]> {
  const read = async (batch: (db: Database) => Promise<RawBuilder<unknown>>) => {
    abandoned?.throwIfAborted()
    return readWorkspace(ctx, workspaceId, async ({ db }) => {
      const hiding = await readHiding({ db }, workspaceId)
      return readBatch(db, workspaceId, all([await batch(db), ...shownConditions(hiding, 'd')]), withContent)
    })
  }
  if (choice === 'everything') {
    for (let last = 0n; ; ) {
      abandoned?.throwIfAborted()
      const after = sql`d.workspace_id = ${workspaceId} and d.id > ${last}`
      const rows = await readWorkspace(ctx, workspaceId, ({ db }) =>
        readBatch(db, workspaceId, after, withContent, sql`d.id`),
      )
      if (rows.length > 0) yield rows
      if (rows.length < batchSize) return
      last = rows.at(-1)!.id
    }
  }
  if ('ids' in choice) {
    for (let from = 0; from < choice.ids.length; from += batchSize) {
      const ids = choice.ids.slice(from, from + batchSize)
      yield await read(async () => sql`d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])`)
    }
    return
  }
  // The first batch of a search finds the matching issuers.
  let query: FilterQuery | undefined
  for (let last: ExportRow | undefined; ; ) {
    const after = last
    const rows = await read(async (db) => {
      query ??= await readWhole(db, workspaceId, choice.criteria, 'Nada foi exportado')
      const rest = after ? sql`(d.issued_at, d.id) < (${after.issued_at}::timestamp, ${after.id}::bigint)` : sql`true`
      return sql`${withinRange(query, query.range)} and ${rest}`
    })
    if (rows.length > 0) yield rows
    last = rows.at(-1)
    if (rows.length < batchSize) return
  }
}

/** The documents of these chaves that these companies have, a hundred at most, without content; `ctx.db` is a transaction inside the workspace. */
export async function readByChave(
  { db }: WithDatabase,
  workspaceId: number,
  wanted: readonly { companyId: number; chave: string }[],
): Promise<ExportRow[]> {
  const [companyIds, chaves] = [wanted.map(({ companyId }) => companyId), wanted.map(({ chave }) => chave)]
  const condition = sql`
    d.workspace_id = ${workspaceId} and (d.company_id, d.chave) in (select * from unnest(${companyIds}::int[], ${chaves}::text[]))`
  return readBatch(db, workspaceId, condition, false)
}

const newestFirst = sql`d.issued_at desc, d.id desc`

async function readBatch(
  db: Database,
  workspaceId: number,
  condition: RawBuilder<unknown>,
  withContent: boolean,
  order: RawBuilder<unknown> = newestFirst,
): Promise<ExportRow[]> {
  // The documents of the batch first, so that the rest is looked up for these only.
  const { rows } = await sql<ExportRow>`
    with d as materialized (
      select d.* from document d where ${condition} order by ${order} limit ${batchSize})
    select d.id, d.type, d.company_id, d.nsu, c.name as company, c.cnpj, d.number::float8 as number, d.series, d.chave, s.name as issuer, s.tax_id, d.amount,
           d.issued_at, d.created_at, d.roles, d.status, d.base_status, d.event_code, d.event_text, d.complete, d.proof,
           u.checked_at, case when u.checked_by is not null then ${nameOfAuthor(workspaceId, 'u.checked_by')} end as "checkedBy",
           u.booked_at, case when u.booked_by is not null then ${nameOfAuthor(workspaceId, 'u.booked_by')} end as "bookedBy",
           u.delivered_at, case when u.delivered_by is not null then ${nameOfAuthor(workspaceId, 'u.delivered_by')} end as "deliveredBy", case when ${isAltered} then u.altered_by end as altered_by,
           case when u.remarks > 0 then (select string_agg(m.text, E'\n' order by m.id) from document_remark m
             where m.workspace_id = ${workspaceId} and m.document_id = d.id) end as remarks,
           ${withContent ? receivedContent(workspaceId, 'r') : sql`null::bytea`} as content, e.protocol as "cancelProtocol", e.registered_at as "cancelledAt", p.protocol as "epecProtocol", p.registered_at as "epecAt"
      from d
      join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      left join document_reliance u on u.workspace_id = ${workspaceId} and u.document_id = d.id
      ${withContent ? sql`left join receipt r on r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu` : sql``}
      left join lateral (
        select e.protocol, e.registered_at from document_event e
         where d.status = ${status.cancelled} and e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave and e.status = ${status.cancelled}
         order by e.registered_at desc limit 1) e on true
      left join lateral (
        select p.protocol, p.registered_at from document_event p
         where p.workspace_id = ${workspaceId} and p.company_id = d.company_id and p.chave = d.chave
           and p.tp_evento = any (${epecCodes}::int[]) and p.rank > 0
         order by p.registered_at desc limit 1) p on true
     order by ${order}`.execute(db)
  return rows
}
