import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { guarded, inWorkspace, isDataError, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind } from '../../platform/jobs/jobs.ts'
import { beginPosition, lockPosition, nextPortion, queueWhenBehind, readPosition, readWait } from '../following.ts'
import { receivedContent } from '../received/column.ts'
import { contentFollower as follower } from '../unread.ts'
import { countedTerms, putFacts } from './facts.ts'
import { auditBills } from './freight.ts'
import type { Inside } from './inside.ts'
import { putPostings } from './postings.ts'
import { countProducts } from './products.ts'
import { readAll } from './reading.ts'

// How the documents of a workspace come to be read from inside: docs/decisions/0050-what-is-inside.md.

const readMax = 100
// Documents per turn that could not be read before.
const againMax = 20
const againMs = 24 * 3_600_000

/** Reads what is inside the documents of workspaces, a bounded part of one after the other. */
export const contentJob: JobKind = { name: follower.kind, concurrency: 2, waits: [60_000], run: takeTurn }

export const reviewContents = (ctx: Context, workspaceId: number) => queueWhenBehind(ctx, follower, workspaceId)

/** Reads what changed next in a workspace, or next of what was there before; a bounded part of it. */
async function takeTurn(ctx: Context, job: Job): Promise<Again | null> {
  const workspaceId = job.workspaceId!
  const next = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const position = await readPosition(db, follower, workspaceId)
    if (!position) return null
    const portion = await nextPortion(db, workspaceId, position, readMax)
    const { rows: again } = await sql<{ id: bigint }>`
      select document_id as id from content_unread where workspace_id = ${workspaceId} and again_at <= now() order by again_at limit ${againMax}`.execute(
      db,
    )
    const ids = [...new Set([...portion.ids, ...again.map(({ id }) => id)])]
    return { portion, ids, found: ids.length > 0 ? await findDocuments(db, workspaceId, ids) : [] }
  })
  if (!next) return (await beginPosition(ctx, follower, workspaceId)) ? { waitMs: 0 } : null
  const { portion, ids, found } = next
  const answers = await readAll(found.map(({ content, cnpj }) => ({ content: new Uint8Array(content), cnpj })))
  return inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await lockPosition(db, follower, workspaceId)
    const read: ReadDocument[] = []
    const unread: { id: bigint; companyId: number; untried: boolean }[] = []
    for (const [index, one] of found.entries()) {
      const inside = answers[index]
      if (inside) read.push({ ...one, inside })
      else unread.push({ ...one, untried: inside === undefined })
    }
    if (unread.length > 0)
      ctx.log.warn({ workspaceId, documents: unread.map(({ id }) => id) }, 'documents could not be read from inside')
    for (const { error, ...one } of await putAll(db, workspaceId, read)) {
      ctx.log.error({ err: error, workspaceId, document: one.id }, 'what is inside a document cannot be stored')
      unread.push({ ...one, untried: false })
    }
    await sql`delete from content_unread where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(
      db,
    )
    await sql`
      insert into content_unread (workspace_id, document_id, company_id, again_at)
      select ${workspaceId}, u.id, u.company, case when u.untried then now() else now() + ${againMs} * interval '1 ms' end
        from unnest(${unread.map(({ id }) => id)}::bigint[], ${unread.map(({ companyId }) => companyId)}::int[],
                    ${unread.map(({ untried }) => untried)}::boolean[]) u (id, company, untried)
      -- None is there; without this Citus would copy rows, which it refuses where they have policies.
      on conflict (workspace_id, document_id) do nothing`.execute(db)
    await auditBills({ db, log: ctx.log }, workspaceId, ids)
    const { next } = portion
    await sql`
      update content_position
         set version = ${next.version}, walked_type = ${next.walkedType}::smallint, walked_at = ${next.walkedAt}::timestamp, walked_id = ${next.walkedId}::bigint
       where workspace_id = ${workspaceId}`.execute(db)
    const waitMs = portion.more ? 0 : await readWait(db, workspaceId, ['content_unread'])
    // Last, because everyone who notes a change waits for this lock.
    await holdJob({ db }, job)
    return waitMs === null ? null : { waitMs }
  })
}

interface Found {
  id: bigint
  companyId: number
  cnpj: string
  month: string
  content: Buffer
}

type ReadDocument = Found & { inside: Inside }

// One that the database refuses is told, and its neighbours are stored all the same.
async function putAll(
  db: Database,
  workspaceId: number,
  read: readonly ReadDocument[],
): Promise<(ReadDocument & { error: unknown })[]> {
  try {
    await guarded(db, async () => {
      await putFacts(db, workspaceId, new Map(read.map(({ id, inside }) => [id, inside])))
      await putPostings(db, workspaceId, {
        dropped: read.map(({ id }) => id),
        added: read.flatMap(({ id, month, inside: { side, contents } }) =>
          contents ? { id, month, terms: [...contents.terms, ...countedTerms(contents.sums, side)] } : [],
        ),
      })
      await countProducts(
        db,
        workspaceId,
        read.map(({ id }) => id),
      )
    })
    return []
  } catch (error) {
    if (!isDataError(error)) throw error
    if (read.length === 1) return [{ ...read[0]!, error }]
    const refused = []
    for (const one of read) refused.push(...(await putAll(db, workspaceId, [one])))
    return refused
  }
}

async function findDocuments(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<Found[]> {
  const { rows } = await sql<Found>`
    select q.id, d.company_id as "companyId", o.cnpj, to_char(d.issued_at, 'YYYY-MM-01') as month, r.content
      from unnest(${ids}::bigint[]) q (id)
     -- Each by its key: without statistics, as in a new workspace, a join would go through all receipts.
     cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d
      join company o on o.workspace_id = ${workspaceId} and o.id = d.company_id
     cross join lateral (select ${receivedContent(workspaceId, 'r')} as content from receipt r
                          where r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu offset 0) r`.execute(
    db,
  )
  return rows
}
