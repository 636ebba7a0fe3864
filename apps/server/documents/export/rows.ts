import { type RawBuilder, sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { type DocumentFile, readFiles } from '../files.ts'
import { all, type Criteria, type FilterQuery, withinRange } from '../list/filter.ts'
import { readWhole } from '../list/list.ts'

/** Chosen documents: by criteria, by id, or all of them, including hidden ones. */
export type ExportChoice = { criteria: Criteria } | { ids: bigint[] } | 'everything'

const batchSize = 100

/** The chosen documents that are shown, newest first (everything: by id). Each batch is a short transaction, so slow downloads keep no connection. */
export async function* readInBatches(
  ctx: WithDatabase,
  workspaceId: number,
  choice: ExportChoice,
  { withContent, abandoned }: { withContent: boolean; abandoned?: AbortSignal },
): AsyncGenerator<DocumentFile[]> {
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
  for (let last: DocumentFile | undefined; ; ) {
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
): Promise<DocumentFile[]> {
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
): Promise<DocumentFile[]> {
  const { rows } = await sql<{ id: bigint }>`
    select d.id from document d where ${condition} order by ${order} limit ${batchSize}`.execute(db)
  return readFiles(
    db,
    workspaceId,
    rows.map(({ id }) => id),
    withContent,
  )
}
