import { type RawBuilder, sql } from 'kysely'
import { auditBills } from '../../documents/contents/freight.ts'
import { countProducts } from '../../documents/contents/products.ts'
import { behindMax } from '../../documents/unread.ts'
import { acknowledgePending } from '../../events/ciencia.ts'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { batchOrEach, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { holdAlerts, judgeAll } from './judging.ts'
import { type JudgedAt, showVerdicts } from './list.ts'
import { noteRisen } from './news.ts'
import { nightJob } from './night.ts'
import { addPartners } from './partners.ts'
import { findDocuments, hasNext, isWaiting, type ReadDocument, readCompanies, readFacts } from './reading.ts'
import { writeVerdicts } from './verdicts.ts'

// The documents of a workspace that wait for their verdict: docs/decisions/0043-alerts-in-the-product.md.

const kind = 'alerts'
const judgedMax = 50
// Pause until documents are looked at again that somebody changed meanwhile.
const changedWaitMs = 5_000

/** Judges documents of workspaces, a bounded part of one after the other; then automatic answers of their companies may leave. */
export const alertJob: JobKind = {
  name: kind,
  // A workspace with one document to be judged does not wait for the turn of one with thousands.
  concurrency: 2,
  waits: [60_000],
  run: async (ctx, job) => {
    const { companies, again } = await takeTurn(ctx, job)
    for (const companyId of companies) await acknowledgePending(ctx, job.workspaceId!, companyId)
    return again
  },
}

interface Waiting {
  id: bigint
  companyId: number
  version: string
  changed: boolean
  /** Nothing about it is recent: it was old when it arrived, and nothing happened to it since. */
  late: boolean
}

interface Portion {
  waiting: Waiting[]
  /** Up to where all documents are judged anew before and after this portion; null: they are. */
  reviewed: bigint | null
  reviewedNext: bigint | null
  /** People are told of what is found: it was not here before the first night. */
  told: boolean
}

// Whoever begins to capture, or comes back after weeks, sees what is found in old documents, but is not called for each of them.
const isLate = (
  workspaceId: number,
) => sql`(d.issued_at at time zone 'America/Sao_Paulo' < d.created_at - interval '7 days' and not exists (
  select from document_event e
   where e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave and e.registered_at > d.created_at))`

// Newest first, and what arrives before what is judged again.
async function findWaiting(db: Database, workspaceId: number): Promise<Portion> {
  const waiting: Waiting[] = []
  const add = async (which: RawBuilder<unknown>, isReview = false) => {
    const most = judgedMax - waiting.length
    if (most === 0) return []
    const { rows } = await sql<Waiting>`
      select d.id, d.company_id as "companyId", d.xmin::text as version, d.judged_at is null as changed, ${isLate(workspaceId)} as late from document d
       where d.workspace_id = ${workspaceId} and ${which} limit ${most}`.execute(db)
    const known = new Set(waiting.map(({ id }) => id))
    waiting.push(...rows.filter(({ id }) => !known.has(id)).map((one) => (isReview ? { ...one, changed: false } : one)))
    return rows.length < most ? [] : rows
  }
  await add(sql`d.judged_at is null and ${isWaiting} order by d.id desc`)
  await add(sql`d.judged_at = '-infinity' and ${isWaiting} order by d.id desc`)
  const { rows } = await sql<{ id: bigint | null; night: boolean }>`
    select reviewed_id as id, night_at is not null as night from alert_setting where workspace_id = ${workspaceId}`.execute(
    db,
  )
  const { id: reviewed = null, night: told = false } = rows[0] ?? {}
  if (reviewed === null || waiting.length === judgedMax) return { waiting, reviewed, reviewedNext: reviewed, told }
  const last = (await add(sql`d.id > ${reviewed} order by d.id`, true)).at(-1)
  return { waiting, reviewed, reviewedNext: last?.id ?? null, told }
}

async function takeTurn(ctx: Context, job: Job): Promise<{ companies: readonly number[]; again: Again | null }> {
  const workspaceId = job.workspaceId!
  const asOf = Date.now()
  const { waiting, reviewed, reviewedNext, told, found } = await readWorkspace(
    ctx,
    workspaceId,
    async ({ db, config }) => {
      const next = await findWaiting(db, workspaceId)
      const companies = await readCompanies({ db, config }, workspaceId)
      const ids = next.waiting.map(({ id }) => id)
      return { ...next, found: await findDocuments({ db }, workspaceId, ids, companies) }
    },
  )
  const { read, unread } = await readFacts(found)
  if (unread.length > 0)
    ctx.log.warn({ workspaceId, chaves: unread.map(({ chave }) => chave) }, 'documents could not be read to be judged')
  const ids = waiting.map(({ id }) => id)
  // By itself, because it holds the locks of companies that others capture.
  await inWorkspace(ctx, workspaceId, ({ db, log }) => countProducts({ db, log }, workspaceId, ids))
  return inWorkspace({ db: ctx.db, log: ctx.log }, workspaceId, async ({ db, log }): ReturnType<typeof takeTurn> => {
    await holdAlerts({ db }, workspaceId)
    await auditBills({ db, log }, workspaceId, ids)
    const announced = new Set(told ? waiting.flatMap(({ id, changed, late }) => (changed && !late ? id : [])) : [])
    const judgedAt = new Date(asOf).toISOString()
    const judged = new Map<bigint, JudgedAt>(
      waiting.map(({ id, version }) => [id, { version, judged_at: judgedAt, judge_at: null }]),
    )
    for (const { documentId, untried } of unread) if (untried) judged.delete(documentId)
    await batchOrEach(
      db,
      read,
      async (some) => {
        for (const [id, at] of await judgeRead({ db }, workspaceId, asOf, some, announced))
          if (judged.has(id)) judged.get(id)!.judge_at = new Date(at).toISOString()
      },
      ({ documentId }: ReadDocument, err) => {
        log.error({ err, workspaceId, documentId }, 'a document cannot be judged')
        // Its earlier verdict stays meanwhile. The night tries it again.
        if (judged.has(documentId)) judged.get(documentId)!.judged_at = 'infinity'
      },
    )
    // A document of several companies of a base is judged as the one that came first; one that nobody judges has no alert.
    const isFound = new Set(found.map(({ documentId }) => documentId))
    const others = [
      ...found.flatMap(({ others }) => others),
      ...waiting.flatMap(({ id }) => (isFound.has(id) ? [] : id)),
    ]
    await sql`delete from alert where workspace_id = ${workspaceId} and document_id = any (${others}::bigint[])`.execute(
      db,
    )
    await showVerdicts({ db }, workspaceId, [...judged.keys(), ...others], { judged })
    // A rule that was switched meanwhile has its own beginning.
    await sql`
        update alert_setting set reviewed_id = ${reviewedNext}::bigint
         where workspace_id = ${workspaceId} and reviewed_id = ${reviewed}::bigint`.execute(db)
    const more = waiting.length === judgedMax || reviewedNext !== null
    const waitMs = more ? 0 : waiting.length > 0 ? await readWait({ db }, workspaceId) : null
    await holdJob({ db }, job)
    const companies = new Set(waiting.flatMap(({ companyId, changed }) => (changed ? companyId : [])))
    return { companies: [...companies], again: waitMs === null ? null : { waitMs } }
  })
}

/** Judges documents as they were read; of those `told` people are told what is found. Returns when time alone may change a verdict, in milliseconds. */
export async function judgeRead(
  { db }: WithDatabase,
  workspaceId: number,
  asOf: number,
  read: readonly ReadDocument[],
  told: ReadonlySet<bigint>,
): Promise<Map<bigint, number>> {
  await addPartners(
    db,
    workspaceId,
    read.map(({ facts }) => facts),
  )
  const verdicts = await judgeAll({ db }, workspaceId, asOf, read)
  const risen = await writeVerdicts(db, workspaceId, verdicts)
  await noteRisen(
    { db },
    workspaceId,
    risen.filter(({ document_id }) => told.has(document_id)),
  )
  return new Map(
    verdicts.flatMap(({ documentId, verdict: { againAt } }) => (againAt === null ? [] : [[documentId, againAt]])),
  )
}

// How long until the documents that wait are looked at again; null: none waits.
async function readWait({ db }: WithDatabase, workspaceId: number): Promise<number | null> {
  const { rows } = await sql<{ waits: boolean; night: boolean }>`
    select ${hasNext(workspaceId)} as waits,
           exists (select from alert_setting where workspace_id = ${workspaceId} and night_at is not null) as night`.execute(
    db,
  )
  const { waits, night } = rows[0]!
  // Habits are known after the first night, which begins when the first documents are judged.
  if (!waits && !night) await queueJob({ db }, { kind: nightJob.name, workspaceId })
  return waits ? changedWaitMs : null
}

/** Queues what is behind although no change queued it, and the night once a day. */
export async function reviewAlerts(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ waits: boolean; night: boolean }>`
      select exists (select from document d where d.workspace_id = ${workspaceId} and ${isWaiting} and d.judged_at is distinct from 'infinity') as waits,
             exists (select from document where workspace_id = ${workspaceId})
               and not exists (select from alert_setting where workspace_id = ${workspaceId}
                                  and night_at >= date_trunc('day', now() at time zone 'America/Sao_Paulo') at time zone 'America/Sao_Paulo') as night`.execute(
      db,
    )
    const { waits, night } = rows[0]!
    if (waits) await queueJob({ db }, { kind, workspaceId })
    if (night) await queueJob({ db }, { kind: nightJob.name, workspaceId })
  })
}

/** Part of a workspace that is not judged yet. */
export interface Backlog {
  /** All documents are judged anew, or for the first time. */
  building: boolean
  /** Documents that wait, counted up to `behindMax`. */
  waiting: number
  since: Date | null
}

/** How far behind the verdicts of a workspace are; `ctx.db` is inside it. */
export async function readBacklog({ db }: WithDatabase, workspaceId: number): Promise<Backlog> {
  const { rows } = await sql<{ waiting: number; reviewing: boolean; begun: boolean }>`
    select (select count(*)::int from (select from document d where d.workspace_id = ${workspaceId} and ${isWaiting} limit ${behindMax}) x) as waiting,
           exists (select from alert_setting where workspace_id = ${workspaceId} and reviewed_id is not null) as reviewing,
           exists (select from alert_setting where workspace_id = ${workspaceId} and night_at is not null) as begun`.execute(
    db,
  )
  const { waiting, reviewing, begun } = rows[0]!
  const { rows: jobs } = await sql<{ at: Date }>`
    select queued_at as at from job where workspace_id = ${workspaceId} and kind = ${kind}`.execute(db)
  return { building: reviewing || (waiting > 0 && !begun), waiting, since: waiting > 0 ? (jobs[0]?.at ?? null) : null }
}
