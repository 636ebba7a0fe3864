import { randomUUID } from 'node:crypto'
import type { listWebhookDeliveries } from '@vigia/contract/changes'
import { sql } from 'kysely'
import { warn } from '../../accounts/warn.ts'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry } from '../../platform/http/throttle.ts'
import { type Again, holdJob, type Job, type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { uuidOf } from '../../platform/text.ts'
import { type Change, readChanges } from '../changes/changes.ts'
import { type Attempt, type Message, send } from './sending.ts'
import { byHand, lockWebhook, queueDeliveries, webhookPurpose } from './webhooks.ts'

// More of them than this do not wait for one address: what comes after stays in the change feed until some have left.
const waitingMax = 500
const roomMs = 5_000
const hourMs = 3_600_000
// A change makes it sooner.
const idleMs = 24 * hourMs
const waitsMs = [10_000, 60_000, 300_000, 1_800_000, 2 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs]
const keptDays = 30
export const patienceDays = 3

/** Make deliveries of what changes, and send them. */
export const webhookJobs: readonly JobKind[] = [
  { name: 'webhook-feed', concurrency: 2, run: (ctx, { workspaceId }) => feedWebhooks(ctx, workspaceId!) },
  {
    name: 'webhook',
    concurrency: 16,
    placesOfEach: 4,
    isHeld: true,
    run: async (ctx, job, signal) => {
      const message = await readMessage(ctx, job)
      return message && settleDelivery(ctx, job, await send(ctx, message, signal))
    },
  },
]

/** Creates and queues deliveries of a workspace's changes. Null: it has no webhook for them. */
export async function feedWebhooks(
  ctx: Pick<Context, 'db' | 'ids' | 'config'>,
  workspaceId: number,
): Promise<Again | null> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ id: number }>`
      select id from webhook where workspace_id = ${workspaceId} and paused_at is null order by id`.execute(db),
  )
  if (rows.length === 0) return null
  let waitMs = idleMs
  for (const { id } of rows) waitMs = Math.min(waitMs, await feed(ctx, workspaceId, id))
  return { waitMs }
}

const goneText =
  'O que mudou enquanto ele esteve parado já não está guardado por inteiro. Reative-o e leia os documentos pelas listas.'

/**
 * Creates deliveries for the changes after the existing ones, each once even under concurrent runs.
 * Returns the wait until the next look: 0 if there is more.
 */
async function feed(ctx: Pick<Context, 'db' | 'ids' | 'config'>, workspaceId: number, id: number): Promise<number> {
  return inWorkspace(ctx, workspaceId, async ({ db, ids, config }) => {
    const { rows: found } = await sql<{ version: bigint; kinds: string[]; companyIds: number[] | null }>`
      select version, kinds, company_ids as "companyIds" from webhook
       where workspace_id = ${workspaceId} and id = ${id} and paused_at is null for update`.execute(db)
    const [webhook] = found
    if (!webhook) return Infinity
    const { rows: waiting } = await sql<{ count: number }>`
      select count(*)::int as count from webhook_delivery
       where workspace_id = ${workspaceId} and webhook_id = ${id} and state = 'waiting'`.execute(db)
    if (waiting[0]!.count >= waitingMax) return roomMs
    const page = await readChanges({ db, ids }, workspaceId, Number(webhook.version)).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'gone') return null
      throw error
    })
    if (page === null) {
      await pauseWebhook({ db, config }, workspaceId, id, goneText)
      return Infinity
    }
    const wanted = page.changes.filter(
      ({ companyId, told }) => webhook.kinds.includes(told.tipo) && (webhook.companyIds?.includes(companyId) ?? true),
    )
    if (wanted.length > 0)
      await db
        .insertInto('webhook_delivery')
        .values(wanted.map((change) => rowOf(workspaceId, id, change.told.tipo, { alteracao: change.told }, change)))
        .execute()
    await sql`update webhook set version = ${page.version} where workspace_id = ${workspaceId} and id = ${id}`.execute(
      db,
    )
    await queueDeliveries({ db }, workspaceId, id, sql`version > ${webhook.version}`)
    return page.more ? 0 : Infinity
  })
}

function rowOf(workspaceId: number, webhookId: number, kind: string, data: object, change?: Change) {
  const publicId = randomUUID()
  return {
    workspace_id: workspaceId,
    webhook_id: webhookId,
    public_id: publicId,
    kind,
    ...(change && { created_at: change.told.quando }),
    version: change ? BigInt(change.told.versao) : null,
    document_id: change?.documentId ?? null,
    body: JSON.stringify({ idEntrega: publicId, tipo: kind, ...data }),
  }
}

/** Message of a job; null: it does not leave by this job. Without secrets when none opens. */
export async function readMessage(
  ctx: Pick<Context, 'db' | 'vault'>,
  { workspaceId, key }: Pick<Job, 'workspaceId' | 'key'>,
): Promise<Message | null> {
  const row = await readWorkspace(ctx, workspaceId!, async ({ db }) => {
    const { rows } = await sql<{
      url: string
      publicId: string
      body: string
      secret: Buffer
      oldSecret: Buffer | null
    }>`
      select w.url, d.public_id as "publicId", d.body, w.secret, case when w.old_until > now() then w.old_secret end as "oldSecret"
        from webhook_delivery d join webhook w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
       where d.workspace_id = ${workspaceId} and d.id = ${BigInt(key)} and d.state = 'waiting' and (d.version is null or w.paused_at is null)`.execute(
      db,
    )
    return rows[0]
  })
  if (!row) return null
  const { secret, oldSecret, ...message } = row
  const open = (sealed: Buffer | null) => {
    try {
      return sealed ? [ctx.vault.decrypt(sealed, webhookPurpose(workspaceId!))] : []
    } catch {
      // The master key was lost and replaced.
      return []
    }
  }
  const current = open(secret)
  return { ...message, secrets: current.length > 0 ? [...current, ...open(oldSecret)] : [] }
}

// Locks the webhook of a delivery before the delivery and its job, in the order in which everybody locks them.
async function lockWebhookOf({ db }: WithDatabase, workspaceId: number, id: bigint) {
  const { rows } = await sql<{ deliveredAt: string | null }>`
    select delivered_at::text as "deliveredAt" from webhook
     where workspace_id = ${workspaceId}
       and id = (select webhook_id from webhook_delivery where workspace_id = ${workspaceId} and id = ${id})
       for no key update`.execute(db)
  return rows[0] ?? { deliveredAt: null }
}

/**
 * Stores an outcome; retries a failure later each time. Pauses an address that is gone or took
 * nothing for three days, and tells people; if it took others, only this delivery fails.
 */
export async function settleDelivery(
  ctx: WithConfig,
  job: Pick<Job, 'id' | 'workspaceId' | 'key' | 'lease'>,
  { delivered, status, answer, problem, durationMs }: Attempt,
): Promise<Again | null> {
  const workspaceId = job.workspaceId!
  const id = BigInt(job.key)
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const { deliveredAt } = await lockWebhookOf(ctx, workspaceId, id)
    await holdJob(ctx, job)
    const isExhausted = sql`coalesce(failing_since < c.patient_since, false)`
    const othersWereTaken = sql`${deliveredAt}::timestamptz > failing_since`
    const { rows } = await sql<{
      webhookId: number
      documentId: bigint | null
      isWaiting: boolean
      exhausted: boolean
      failures: number
    }>`
      update webhook_delivery d
         set attempts = attempts + 1, tried_at = now(), status = ${status}, answer = ${answer}, problem = ${problem}, duration_ms = ${durationMs},
             failures = case when ${delivered} then 0 else failures + 1 end,
             failing_since = ${delivered ? sql`null` : sql`least(failing_since, now())`},
             state = case when ${delivered} then 'delivered' when version is null then 'failed'
                          when ${status !== 410} and ${isExhausted} and ${othersWereTaken} then 'failed' else 'waiting' end
        -- Beside the row: a distributed database takes no clock in a condition of what it writes.
        from (select now() - ${patienceDays} * interval '1 day' as patient_since) c
       where workspace_id = ${workspaceId} and id = ${id}
      returning webhook_id as "webhookId", document_id as "documentId", state = 'waiting' as "isWaiting", ${isExhausted} as exhausted, failures`.execute(
      ctx.db,
    )
    const [row] = rows
    // A test has none.
    if (!row?.documentId) return null
    const { webhookId, documentId, isWaiting } = row
    if (delivered)
      await sql`update webhook set delivered_at = now()
                 where workspace_id = ${workspaceId} and id = ${webhookId}`.execute(ctx.db)
    else if ((isWaiting && row.exhausted) || status === 410) {
      await pauseWebhook(ctx, workspaceId, webhookId, problem ?? '')
      return null
    }
    await queueDeliveries(ctx, workspaceId, webhookId, sql`document_id = ${documentId}`)
    return isWaiting ? { waitMs: waitsMs[row.failures - 1] ?? waitsMs.at(-1)!, error: problem ?? '' } : null
  })
}

async function pauseWebhook(ctx: WithConfig, workspaceId: number, webhookId: number, problem: string): Promise<void> {
  const { rows } = await sql<{ publicId: string; pausedAt: Date }>`
    update webhook set paused_at = now(), problem = ${problem}
     where workspace_id = ${workspaceId} and id = ${webhookId} and paused_at is null
    returning public_id as "publicId", paused_at as "pausedAt"`.execute(ctx.db)
  const [paused] = rows
  if (!paused) return
  const key = `webhook/${paused.publicId}/${paused.pausedAt.toISOString()}`
  await warn(ctx, workspaceId, { key, kind: 'webhook-pausado', payload: { webhook: paused.publicId } })
}

type Deliveries = DataOf<typeof listWebhookDeliveries>

const pageSize = 50

/** Deliveries to an address, newest first; `before`: those older than this one. */
export async function listDeliveries(
  ctx: WithDatabase,
  workspaceId: number,
  webhook: string,
  before?: string,
): Promise<Deliveries> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: found } = await sql<{ id: number; paused: boolean }>`
      select id, paused_at is not null as paused from webhook where workspace_id = ${workspaceId} and public_id = ${uuidOf(webhook)}::uuid`.execute(
      db,
    )
    if (!found[0]) throw new AppError('not-found', 'Webhook não encontrado.')
    const from = before === undefined ? null : await findDelivery({ db }, workspaceId, before)
    const { rows } = await sql<Deliveries['entregas'][number] & { id: bigint }>`
      select id, public_id as "idEntrega", kind as tipo,
             case state when 'waiting' then 'esperando' when 'delivered' then 'entregue' else 'falhou' end as situacao, body as corpo,
             created_at as "criadaEm", case when state = 'waiting' and not ${found[0].paused} then created_at end as "proximaTentativa",
             attempts as tentativas, tried_at as "tentadaEm", duration_ms as "duracaoMs", status, answer as "respostaRecebida", problem as problema
        from webhook_delivery
       where workspace_id = ${workspaceId} and webhook_id = ${found[0].id} ${from ? sql`and id < ${from.id}` : sql``}
       order by id desc limit ${pageSize + 1}`.execute(db)
    const keys = rows.filter(({ proximaTentativa }) => proximaTentativa).map(({ id }) => String(id))
    // By itself: the jobs are not on the server of the workspace.
    const { rows: jobs } = await sql<{ key: string; at: Date }>`
      select key, run_at as at from job
       where kind = 'webhook' and workspace_id = ${workspaceId} and key = any (${keys}::text[]) and run_at < 'infinity'`.execute(
      db,
    )
    const times = new Map(jobs.map(({ key, at }) => [key, at]))
    const entregas = rows.map(({ id, ...row }) => ({
      ...row,
      proximaTentativa: row.proximaTentativa && (times.get(String(id)) ?? row.proximaTentativa),
    }))
    return { entregas: entregas.slice(0, pageSize), temMais: rows.length > pageSize }
  })
}

async function findDelivery({ db }: WithDatabase, workspaceId: number, publicId: string): Promise<{ id: bigint }> {
  const { rows } = await sql<{ id: bigint }>`
    select id from webhook_delivery where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid`.execute(
    db,
  )
  if (!rows[0]) throw new AppError('not-found', 'Entrega não encontrada.')
  return rows[0]
}

/** Delivers something again, as the same message, whatever became of it before. */
export async function deliverAgain(ctx: WithDatabase, { workspaceId }: Session, publicId: string): Promise<void> {
  const { id } = await readWorkspace(ctx, workspaceId, (ctx) => findDelivery(ctx, workspaceId, publicId))
  await countTry(ctx, byHand, String(workspaceId))
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockWebhookOf({ db }, workspaceId, id)
    const { rows } = await sql<{ since: Date }>`
      update webhook_delivery set state = 'waiting', failures = 0, failing_since = null
       where workspace_id = ${workspaceId} and id = ${id} returning created_at as since`.execute(db)
    for (const { since } of rows) await queueJob({ db }, { kind: 'webhook', workspaceId, key: String(id), since })
  })
}

/** Sends an empty test message, also to a paused address. Returns its id. */
export async function deliverTest(ctx: WithDatabase, { workspaceId }: Session, webhook: string): Promise<string> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id } = await lockWebhook({ db }, workspaceId, webhook)
    await countTry({ db }, byHand, String(workspaceId))
    const row = rowOf(workspaceId, id, 'teste', { alteracao: null })
    const { id: delivery } = await db
      .insertInto('webhook_delivery')
      .values(row)
      .returning('id')
      .executeTakeFirstOrThrow()
    await queueJob({ db }, { kind: 'webhook', workspaceId, key: String(delivery) })
    return row.public_id
  })
}

/** Forgets deliveries that were settled long ago. */
export async function forgetDeliveries(ctx: WithDatabase): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    sql`delete from webhook_delivery where state <> 'waiting' and created_at < now() - ${keptDays} * interval '1 day'`.execute(
      db,
    ),
  )
}
