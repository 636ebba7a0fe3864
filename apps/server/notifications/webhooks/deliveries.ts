import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { warn } from '../../accounts/warn.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry } from '../../platform/http/throttle.ts'
import { isHeldBack } from '../../platform/installation.ts'
import { claimInTurn, claimRows, fromNow } from '../../platform/jobs/claim.ts'
import { uuidOf } from '../../platform/text.ts'
import { readChanges } from '../changes/changes.ts'
import type { Change } from '../changes/wire.ts'
import { wireOf } from '../changes/wire.ts'
import type { Attempt, Message } from './sending.ts'
import { byHand, holdDeliveries, lockWebhook, webhookPurpose } from './webhooks.ts'

// More of them than this do not wait for one address: what comes after stays in the change feed until some have left.
const waitingMax = 500
const feedPauseMs = 200
// Of all workspaces in one process, and of one workspace.
export const deliveriesAtOnce = 16
const placesOfEach = 4
// An attempt takes ten seconds at most, and one that does not end is given up while the lease lasts.
const leaseMs = 60_000
export const attemptMsMax = 30_000
const hourMs = 3_600_000
const waitsMs = [10_000, 60_000, 300_000, 1_800_000, 2 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs]
const restMsMax = 300_000
const keptDays = 30
export const patienceDays = 3

export interface FedWebhook {
  workspaceId: number
  id: number
}

const mayBeFed = sql`w.paused_at is null and w.fed_at < now() - ${feedPauseMs} * interval '1 ms'
      and exists (select from change_position p where p.workspace_id = w.workspace_id and p.version > w.version)`

/** Without these `claimFeeding` finds nothing. */
export const dueFeedings = sql`select from webhook w where ${mayBeFed}`

/** An address for which something may have changed, and which has room for it; null: none. */
export async function claimFeeding(ctx: WithDatabase): Promise<FedWebhook | null> {
  const lane = {
    due: sql`${mayBeFed}
      and (select count(*) from (select from webhook_delivery d
                                  where d.workspace_id = w.workspace_id and d.webhook_id = w.id and d.state = 'waiting' limit ${waitingMax}) x) < ${waitingMax}`,
    order: sql`w.fed_at`,
    set: sql`fed_at = now()`,
  }
  return asOperator(ctx, async ({ db }) => {
    const claimed = await claimRows<FedWebhook, typeof lane>(db, {
      table: sql`webhook w`,
      key: ['workspace_id', 'id'],
      lanes: [lane],
      leaseMs: null,
      returning: sql`workspace_id as "workspaceId", id`,
    })
    return claimed?.rows[0] ?? null
  })
}

const goneText =
  'O que mudou enquanto ele esteve parado já não está guardado por inteiro. Reative-o e leia os documentos pelas listas.'

/** Makes deliveries of what changed since those that are there, each once, whoever does the same meanwhile. */
export async function feed(
  ctx: Pick<Context, 'db' | 'ids' | 'config'>,
  { workspaceId, id }: FedWebhook,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db, ids, config }) => {
    const webhook = await db
      .selectFrom('webhook')
      .select(['version', 'kinds', 'company_ids as companyIds'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('paused_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (!webhook) return
    const page = await readChanges({ db }, workspaceId, Number(webhook.version)).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'gone') return null
      throw error
    })
    if (page === null) return pauseWebhook({ db, config }, workspaceId, id, goneText, { behind: true })
    const wanted = page.changes
      .map((change) => ({ change, wire: wireOf({ ids }, workspaceId, change) }))
      .filter(
        ({ change, wire }) =>
          webhook.kinds.includes(wire.tipo) && (webhook.companyIds?.includes(change.companyId) ?? true),
      )
    if (wanted.length > 0)
      await db
        .insertInto('webhook_delivery')
        .values(wanted.map(({ change, wire }) => rowOf(workspaceId, id, wire.tipo, { alteracao: wire }, change)))
        .execute()
    await sql`update webhook set version = ${page.version} where workspace_id = ${workspaceId} and id = ${id}`.execute(
      db,
    )
  })
}

function rowOf(workspaceId: number, webhookId: number, kind: string, data: object, change?: Change) {
  const publicId = randomUUID()
  return {
    workspace_id: workspaceId,
    webhook_id: webhookId,
    public_id: publicId,
    kind,
    ...(change && { created_at: change.at }),
    version: change ? BigInt(change.version) : null,
    document_id: change?.documentId ?? null,
    body: JSON.stringify({ idEntrega: publicId, tipo: kind, ...data }),
  }
}

/** A delivery that this process holds. */
export interface HeldDelivery {
  workspaceId: number
  id: bigint
  /** Identifies the lease of this holder. */
  lease: string
}

/** Without these `claimDelivery` finds nothing. */
export const dueDeliveries = sql`select from webhook_delivery where state = 'waiting' and next_at <= now()`

/** The next delivery: of one document one after the other, of one workspace a few at once, and none to an address that rests. */
export async function claimDelivery(ctx: WithDatabase): Promise<HeldDelivery | null> {
  const lane = {
    due: sql`d.state = 'waiting' and d.next_at <= now() and not ${isHeldBack}
      and exists (select from webhook w where w.workspace_id = d.workspace_id and w.id = d.webhook_id
                                          and (d.version is null or (w.paused_at is null and w.rest_until <= now())))
      and not exists (select from webhook_delivery e
                       where e.workspace_id = d.workspace_id and e.webhook_id = d.webhook_id and e.document_id = d.document_id
                         and e.id < d.id and e.state = 'waiting')`,
    order: sql`d.next_at, d.id`,
    set: sql`attempts = attempts + 1`,
  }
  return asOperator(ctx, async ({ db }) => {
    // Mostly nothing is due, and to plan the statements of the lanes costs more than to look.
    const { rows } = await sql`${dueDeliveries} limit 1`.execute(db)
    if (rows.length === 0) return null
    // Slow receivers of a few workspaces would otherwise take every place that becomes free.
    const { rows: busy } = await sql<{ id: number }>`
      select workspace_id as id from webhook_delivery where lease_until > now() group by 1 having count(*) >= ${placesOfEach}`.execute(
      db,
    )
    const isNotBusy = sql`d.workspace_id <> all (${busy.map(({ id }) => id)}::int[])`
    const claimed = await claimInTurn<HeldDelivery, typeof lane>(db, {
      kind: 'delivery',
      table: sql`webhook_delivery d`,
      key: ['workspace_id', 'id'],
      lanes: [{ ...lane, due: sql`${lane.due} and ${isNotBusy}` }],
      leaseMs,
      returning: sql`workspace_id as "workspaceId", id, (lease_until at time zone 'UTC') as lease`,
    })
    return claimed?.rows[0] ?? null
  })
}

/** What leaves for a delivery that is held; null: somebody else has it by now. Without a secret when none can be opened. */
export async function readMessage(
  ctx: Pick<Context, 'db' | 'vault'>,
  { workspaceId, id, lease }: HeldDelivery,
): Promise<Message | null> {
  const row = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{
      url: string
      publicId: string
      body: string
      secret: Buffer
      oldSecret: Buffer | null
    }>`
      select w.url, d.public_id as "publicId", d.body, w.secret, case when w.old_until > now() then w.old_secret end as "oldSecret"
        from webhook_delivery d join webhook w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
       where d.workspace_id = ${workspaceId} and d.id = ${id} and d.lease_until = ${lease}::timestamptz`.execute(db)
    return rows[0]
  })
  if (!row) return null
  const { secret, oldSecret, ...message } = row
  const open = (sealed: Buffer | null) => {
    try {
      return sealed ? [ctx.vault.decrypt(sealed, webhookPurpose(workspaceId))] : []
    } catch {
      // The master key was lost and replaced.
      return []
    }
  }
  const current = open(secret)
  return { ...message, secrets: current.length > 0 ? [...current, ...open(oldSecret)] : [] }
}

/** Lets go of a delivery that was not tried, until `waitMs` have passed. */
export async function releaseDelivery(
  ctx: WithDatabase,
  { workspaceId, id, lease }: HeldDelivery,
  waitMs = 0,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { isPaused } = await lockWebhookOf({ db }, workspaceId, id)
    await sql`update webhook_delivery set lease_until = null, attempts = attempts - 1, next_at = ${nextAt(isPaused, sql`c.at`)}
                from (select ${fromNow(waitMs)} as at) c
               where workspace_id = ${workspaceId} and id = ${id} and lease_until = ${lease}::timestamptz`.execute(db)
  })
}

interface LockedWebhook {
  isPaused: boolean
  failures: number
  deliveredAt: string | null
}

// Locks the webhook of a delivery, before the delivery, in the order in which everybody locks them.
async function lockWebhookOf({ db }: WithDatabase, workspaceId: number, id: bigint): Promise<LockedWebhook> {
  const { rows } = await sql<LockedWebhook>`
    select paused_at is not null as "isPaused", failures, delivered_at::text as "deliveredAt" from webhook
     where workspace_id = ${workspaceId}
       and id = (select webhook_id from webhook_delivery where workspace_id = ${workspaceId} and id = ${id})
       for no key update`.execute(db)
  return rows[0] ?? { isPaused: false, failures: 0, deliveredAt: null }
}

// What waits for an address that is paused is not due, but for a test.
const nextAt = (isPaused: boolean, time: RawBuilder<Date>) =>
  sql`case when ${isPaused} and version is not null then 'infinity' else ${time} end`

/**
 * Writes down what an attempt came to. One that failed is tried again, later each time. After three days in which the address took nothing, or when
 * it says that it is gone, it is paused and the people of the workspace are told; when it took others meanwhile, this one alone has failed.
 */
export async function settleDelivery(
  ctx: Pick<Context, 'db' | 'config'>,
  { workspaceId, id, lease }: HeldDelivery,
  { delivered, status, answer, problem, durationMs }: Attempt,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    const { isPaused, failures, deliveredAt } = await lockWebhookOf(ctx, workspaceId, id)
    const isExhausted = sql`coalesce(failing_since < c.patient_since, false)`
    const othersWereTaken = sql`${deliveredAt}::timestamptz > failing_since`
    const wait = sql<Date>`(c.waits)[least(failures + 1, ${waitsMs.length})]`
    const { rows } = await sql<{ webhookId: number; isTest: boolean; exhausted: boolean }>`
      update webhook_delivery d
         set lease_until = null, tried_at = now(), status = ${status}, answer = ${answer}, problem = ${problem}, duration_ms = ${durationMs},
             failures = case when ${delivered} then 0 else failures + 1 end,
             failing_since = ${delivered ? sql`null` : sql`least(failing_since, now())`},
             state = case when ${delivered} then 'delivered' when version is null then 'failed'
                          when ${status !== 410} and ${isExhausted} and ${othersWereTaken} then 'failed' else 'waiting' end,
             next_at = ${nextAt(isPaused, wait)}
        -- Beside the row: a distributed database takes no clock in a condition of what it writes.
        from (select now() - ${patienceDays} * interval '1 day' as patient_since,
                     array(select now() + ms * interval '1 ms' from unnest(${waitsMs}::bigint[]) with ordinality w (ms, n) order by n) as waits) c
       where workspace_id = ${workspaceId} and id = ${id} and lease_until = ${lease}::timestamptz
      returning webhook_id as "webhookId", version is null as "isTest", state = 'waiting' and ${isExhausted} as exhausted`.execute(
      ctx.db,
    )
    const [row] = rows
    if (!row || row.isTest) return
    const { webhookId } = row
    if (delivered)
      await sql`update webhook set delivered_at = now(), failures = 0, rest_until = '-infinity'
                 where workspace_id = ${workspaceId} and id = ${webhookId}`.execute(ctx.db)
    else if (row.exhausted || status === 410) await pauseWebhook(ctx, workspaceId, webhookId, problem ?? '')
    else
      await sql`
        update webhook set failures = least(failures + 1, 30),
               rest_until = now() + ${Math.min(restMsMax, 1000 * 2 ** failures)} * interval '1 ms'
         where workspace_id = ${workspaceId} and id = ${webhookId}`.execute(ctx.db)
  })
}

async function pauseWebhook(
  ctx: Pick<Context, 'db' | 'config'>,
  workspaceId: number,
  webhookId: number,
  problem: string,
  /** What the letter has to say besides. */
  why: { behind?: boolean } = {},
): Promise<void> {
  const { rows } = await sql<{ publicId: string; pausedAt: Date }>`
    update webhook set paused_at = now(), problem = ${problem}
     where workspace_id = ${workspaceId} and id = ${webhookId} and paused_at is null
    returning public_id as "publicId", paused_at as "pausedAt"`.execute(ctx.db)
  const [paused] = rows
  if (!paused) return
  await holdDeliveries(ctx, workspaceId, webhookId)
  const key = `webhook/${paused.publicId}/${paused.pausedAt.toISOString()}`
  await warn(ctx, workspaceId, { key, kind: 'webhook-pausado', payload: { webhook: paused.publicId, ...why } })
}

/** A delivery as its workspace sees it. */
export interface Delivery {
  publicId: string
  kind: string
  state: 'waiting' | 'delivered' | 'failed'
  body: string
  createdAt: Date
  /** When it is tried next; null: not by itself. */
  nextAt: Date | null
  attempts: number
  triedAt: Date | null
  durationMs: number | null
  status: number | null
  answer: string | null
  problem: string | null
}

const pageSize = 50

/** Deliveries to an address, newest first; `before`: those older than this one. */
export async function listDeliveries(
  ctx: WithDatabase,
  workspaceId: number,
  webhook: string,
  before?: string,
): Promise<{ deliveries: Delivery[]; more: boolean }> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: found } = await sql<{ id: number; paused: boolean }>`
      select id, paused_at is not null as paused from webhook where workspace_id = ${workspaceId} and public_id = ${uuidOf(webhook)}::uuid`.execute(
      db,
    )
    if (!found[0]) throw new AppError('not-found', 'Webhook não encontrado.')
    const from = before === undefined ? null : await findDelivery({ db }, workspaceId, before)
    const { rows } = await sql<Delivery>`
      select public_id as "publicId", kind, state, body, created_at as "createdAt",
             case when state = 'waiting' and not ${found[0].paused} then next_at end as "nextAt",
             attempts, tried_at as "triedAt", duration_ms as "durationMs", status, answer, problem
        from webhook_delivery
       where workspace_id = ${workspaceId} and webhook_id = ${found[0].id} ${from ? sql`and id < ${from.id}` : sql``}
       order by id desc limit ${pageSize + 1}`.execute(db)
    return { deliveries: rows.slice(0, pageSize), more: rows.length > pageSize }
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
    const { isPaused } = await lockWebhookOf({ db }, workspaceId, id)
    await sql`update webhook_delivery set state = 'waiting', next_at = ${nextAt(isPaused, sql`c.at`)}, failures = 0, failing_since = null
                from (select now() as at) c where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
  })
}

export const testKind = 'teste'

/** Sends a message that says nothing; also to an address that is paused. Returns its id. */
export async function deliverTest(ctx: WithDatabase, { workspaceId }: Session, webhook: string): Promise<string> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id } = await lockWebhook({ db }, workspaceId, webhook)
    await countTry({ db }, byHand, String(workspaceId))
    const row = rowOf(workspaceId, id, testKind, { alteracao: null })
    await db.insertInto('webhook_delivery').values(row).execute()
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
