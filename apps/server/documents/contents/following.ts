import { cnpjBase } from '@vigia/dfe/cnpj'
import { cte, cteRole } from '@vigia/dfe/families/cte'
import { standingStatuses } from '@vigia/dfe/families/lookup'
import { nfe, nfeRole } from '@vigia/dfe/families/nfe'
import { primaryRole } from '@vigia/dfe/roles'
import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { guarded, inWorkspace, isDataError, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind } from '../../platform/jobs/jobs.ts'
import { beginPosition, lockPosition, nextPortion, queueWhenBehind, readPosition, readWait } from '../following.ts'
import { receivedContent } from '../received/column.ts'
import { contentFollower as follower } from '../unread.ts'
import { auditDue, markCiting, putFreight } from './freight.ts'
import { type ReadQuestion, readAll } from './reading.ts'
import { type CountedBefore, firstIndexed, type KnownDocument, putContents, type ReadDocument } from './store.ts'
import type { Side } from './sums.ts'

// How the documents of a workspace come to be read from inside: docs/decisions/0050-what-is-inside.md.

const readMax = 100
// Documents per turn that could not be read before, and ones that are gone.
const againMax = 20
const goneMax = 100
// Bills of freight that are judged in one turn.
const auditedMax = 200
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
    // Documents that were made anew may be fewer.
    const { rows: gone } = portion.ended
      ? await sql<{ id: bigint }>`
          select c.document_id as id from content c where c.workspace_id = ${workspaceId}
             and not exists (select from document d where d.workspace_id = c.workspace_id and d.id = c.document_id) limit ${goneMax}`.execute(
          db,
        )
      : { rows: [] }
    const ids = [...new Set([...portion.ids, ...again.map(({ id }) => id), ...gone.map(({ id }) => id)])]
    return { portion, ids, gone: gone.length, found: ids.length > 0 ? await findDocuments(db, workspaceId, ids) : [] }
  })
  if (!next) return (await beginPosition(ctx, follower, workspaceId)) ? { waitMs: 0 } : null
  const { portion, ids, found, gone } = next
  const answers = await readAll(found.map(({ question }) => question))
  return inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await lockPosition(db, follower, workspaceId)
    const read: ReadDocument[] = []
    const unread: { documentId: bigint; companyId: number; untried: boolean }[] = []
    for (const [index, { document, documentId, before, indexed }] of found.entries()) {
      const answer = answers[index]
      if (answer) read.push({ documentId, document, before, indexed, answer })
      else
        unread.push({
          documentId,
          companyId: document?.companyId ?? before?.companyId ?? 0,
          untried: answer === undefined,
        })
    }
    if (unread.length > 0)
      ctx.log.warn(
        { workspaceId, documents: unread.map(({ documentId }) => documentId) },
        'documents could not be read from inside',
      )
    for (const one of await putAll(db, workspaceId, read)) {
      ctx.log.error(
        { err: one.error, workspaceId, document: one.documentId },
        'what is inside a document cannot be stored',
      )
      unread.push({ documentId: one.documentId, companyId: one.document?.companyId ?? 0, untried: false })
    }
    await sql`delete from content_unread where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(
      db,
    )
    await sql`
      insert into content_unread (workspace_id, document_id, company_id, again_at)
      select ${workspaceId}, u.id, u.company, case when u.untried then now() else now() + ${againMs} * interval '1 ms' end
        from unnest(${unread.map(({ documentId }) => documentId)}::bigint[], ${unread.map(({ companyId }) => companyId)}::int[],
                    ${unread.map(({ untried }) => untried)}::boolean[]) u (id, company, untried)
      -- None is there; without this Citus would copy rows, which it refuses where they have policies.
      on conflict (workspace_id, document_id) do nothing`.execute(db)
    // Notes change what is wrong with the CT-e that cite them, also those that cannot be read, and resumos.
    await markCiting(
      db,
      workspaceId,
      found.flatMap(({ note }) => note ?? []),
    )
    const audited = await auditSafely({ db, log: ctx.log }, workspaceId)
    const { next } = portion
    // When more documents are gone than one turn takes, the last part of the walk is repeated.
    const repeats = gone === goneMax
    await sql`
      update content_position
         set version = ${next.version},
             walked_type = case when ${repeats} then walked_type else ${next.walkedType}::smallint end,
             walked_at = case when ${repeats} then walked_at else ${next.walkedAt}::timestamp end,
             walked_id = case when ${repeats} then walked_id else ${next.walkedId}::bigint end
       where workspace_id = ${workspaceId}`.execute(db)
    const more = portion.more || repeats || audited === auditedMax
    const waitMs = more ? 0 : await readWait(db, workspaceId, ['content_unread'])
    // Last, because everyone who notes a change waits for this lock.
    await holdJob({ db }, job)
    return waitMs === null ? null : { waitMs }
  })
}

// Contents are stored even if findings of freight bills are refused, which wait for the next turn.
async function auditSafely(ctx: Pick<Context, 'db' | 'log'>, workspaceId: number): Promise<number> {
  try {
    return await guarded(ctx.db, () => auditDue(ctx, workspaceId, auditedMax))
  } catch (err) {
    if (!isDataError(err)) throw err
    ctx.log.error({ err, workspaceId }, 'what is found in bills of freight cannot be stored')
    return 0
  }
}

// One that the database refuses is told, and its neighbours are stored all the same.
async function putAll(
  db: Database,
  workspaceId: number,
  read: readonly ReadDocument[],
): Promise<(ReadDocument & { error: unknown })[]> {
  try {
    await guarded(db, async () => {
      await putContents(db, workspaceId, read)
      await putFreight(db, workspaceId, read)
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

interface Found {
  documentId: bigint
  document: KnownDocument | null
  /** The chave, of an NF-e. */
  note: string | null
  before: CountedBefore | null
  indexed: ReadDocument['indexed']
  question: ReadQuestion
}

const replaced = 240140

async function findDocuments(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<Found[]> {
  const { rows } = await sql<{
    id: bigint
    companyId: number | null
    cnpj: string
    chave: string
    complete: boolean
    type: number
    roles: number
    status: number
    eventCode: number
    month: string
    local: number
    offset: number | null
    content: Buffer | null
    before: { companyId: number; month: string; side: Side | null; products: number[]; version: number } | null
    value: Buffer | null
  }>`
    select q.id, d.company_id as "companyId", o.cnpj, d.chave, d.complete, d.type, d.roles, d.status, d.event_code as "eventCode",
           to_char(d.issued_at, 'YYYY-MM-01') as month, extract(epoch from d.issued_at)::float8 * 1000 as local, d.issued_offset as "offset", r.content, c.value,
           case when c.document_id is not null then
             json_build_object('companyId', c.company_id, 'month', c.month, 'side', c.side, 'products', c.products, 'version', c.version) end as before
      from unnest(${ids}::bigint[]) q (id)
      -- Each by its key: without statistics, as in a new workspace, a join would go through all receipts.
      left join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d on true
      left join company o on o.workspace_id = ${workspaceId} and o.id = d.company_id
      left join lateral (select ${receivedContent(workspaceId, 'r')} as content from receipt r
                          where r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu and d.complete offset 0) r on true
      left join lateral (select * from content c where c.workspace_id = ${workspaceId} and c.document_id = q.id offset 0) c on true`.execute(
    db,
  )
  return rows.map(({ id, companyId, type, roles, status, eventCode, month, content, before, value, ...row }) => {
    // A CT-e that another one replaces is not paid, only its replacement.
    const standing = standingStatuses.includes(status) && eventCode !== replaced
    const side = sideOf(type, roles)
    const document: KnownDocument | null =
      companyId !== null && content !== null
        ? {
            ...{ documentId: id, companyId, chave: row.chave, month },
            ...{ side: standing ? side : null, standing, received: side === 0 },
            bill: billOf(type, roles, row),
          }
        : null
    return {
      documentId: id,
      document,
      note: type === nfe.code ? row.chave : null,
      before: before && before.side !== null ? { ...before, side: before.side } : null,
      indexed: before && before.version >= firstIndexed ? { month: before.month, version: before.version } : null,
      question: {
        content: document && content ? new Uint8Array(content) : null,
        side: document?.side ?? null,
        before: before && value ? { value: new Uint8Array(value), side: before.side } : null,
      },
    }
  })
}

// Offset of Brasília, for layouts without one.
const usualOffset = -180

// Bill of a CT-e; another establishment's bill is judged where that establishment pays.
function billOf(
  type: number,
  roles: number,
  { cnpj, local, offset }: { cnpj: string; local: number; offset: number | null },
): KnownDocument['bill'] {
  const [pays, receives] = [hasRole(roles, cteRole.tomador), hasRole(roles, cteRole.destinatario)]
  if (type !== cte.code || !(pays || receives)) return null
  const utcOffset = offset ?? usualOffset
  return { at: local - utcOffset * 60_000, utcOffset, pays, receives, companyBase: cnpjBase(cnpj) }
}

const hasRole = (roles: number, role: number) => (roles & (1 << role)) !== 0

function sideOf(type: number, roles: number): Side | null {
  if (type === cte.code) return hasRole(roles, cteRole.tomador) ? 2 : null
  if (type !== nfe.code) return null
  const role = primaryRole(nfe.id, roles)
  if (role === nfeRole.emitente) return 1
  return role === nfeRole.destinatario ? 0 : null
}
