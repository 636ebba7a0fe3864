import { randomBytes } from 'node:crypto'
import type {
  addWebhook as addRoute,
  changeWebhook as changeRoute,
  listWebhooks as listRoute,
} from '@vigia/contract/changes'
import type { RouteInput } from '@vigia/contract/route'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { findRecipient } from '../../accounts/email-proof.ts'
import { findCompanyIds, publicIdsIn } from '../../companies/chosen-companies.ts'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { countRows, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry } from '../../platform/http/throttle.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { uuidOf } from '../../platform/text.ts'
import { newestVersion } from '../changes/changes.ts'

type Webhook = DataOf<typeof listRoute>['webhooks'][number]

export const webhooksMax = 10
const oldSecretHours = 24
/** Limit for sends by hand, outside the order of the feed, in a workspace. */
export const byHand = { name: 'webhook', times: 60, withinMs: 3_600_000 }

/** The name that binds the sealed secrets of webhooks to their workspace. */
export function webhookPurpose(workspaceId: number): string {
  return `webhook ${workspaceId}`
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64url')}`

export async function listWebhooks(ctx: WithDatabase, workspaceId: number): Promise<Webhook[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Webhook>`
      select w.public_id as "idWebhook", w.url as endereco, w.kinds as tipos,
             ${publicIdsIn(workspaceId, 'w.company_ids')} as "idsEmpresas",
             w.created_at as "criadoEm", w.paused_at is null as ativo, w.paused_at as "pausadoEm", w.problem as problema,
             case when w.old_until > now() then w.old_until end as "segredoAnteriorAte",
             (select count(*)::int from webhook_delivery d
               where d.workspace_id = ${workspaceId} and d.webhook_id = w.id and d.state = 'waiting') as "entregasEsperando"
        from webhook w where w.workspace_id = ${workspaceId} order by w.id`.execute(db)
    return rows
  })
}

/** Adds an address for changes from now on. Returns its secret, which is shown only once. */
export async function addWebhook(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  { endereco, tipos, idsEmpresas }: RouteInput<typeof addRoute>['body'],
): Promise<{ publicId: string; secret: string }> {
  const { workspaceId } = session
  const url = addressOf(ctx, endereco)
  const secret = newSecret()
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    if ((await countRows(db, sql`from webhook where workspace_id = ${workspaceId}`)) >= webhooksMax)
      throw new AppError(
        'conflict',
        `Já há ${webhooksMax} webhooks. Este não foi criado; apague um que não usa mais e tente de novo.`,
      )
    const companyIds = await findCompanyIds({ db }, workspaceId, idsEmpresas)
    const { rows } = await sql<{ publicId: string }>`
      insert into webhook (workspace_id, url, kinds, company_ids, secret, version, saved_by)
      values (${workspaceId}, ${url}, ${tipos}::text[], ${companyIds}::int[], ${ctx.vault.encrypt(secret, webhookPurpose(workspaceId))},
              ${await newestVersion({ db }, workspaceId)}, ${session.accountId})
      returning public_id as "publicId"`.execute(db)
    await queueJob({ db }, { kind: 'webhook-feed', workspaceId })
    await recordAudit({ db }, session, 'conta', `Criou um webhook para ${new URL(url).host}.`)
    await tellOfAddress({ db, config: ctx.config }, session, url, 'criado')
    return { publicId: rows[0]!.publicId, secret }
  })
}

/** Changes an address; `ativo` false pauses it, true has all that waits leave at once. */
export async function changeWebhook(
  ctx: WithConfig,
  session: Session,
  { idWebhook, endereco, tipos, idsEmpresas, ativo }: RouteInput<typeof changeRoute>['body'],
): Promise<void> {
  const { workspaceId } = session
  const url = addressOf(ctx, endereco)
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id, url: before, pausedAt } = await lockWebhook({ db }, workspaceId, idWebhook)
    const companyIds = await findCompanyIds({ db }, workspaceId, idsEmpresas)
    await sql`
      update webhook
         set url = ${url}, kinds = ${tipos}::text[], company_ids = ${companyIds}::int[],
             saved_by = ${session.accountId}, paused_at = ${ativo ? sql`null` : sql`least(paused_at, now())`},
             problem = case when ${ativo} then null else problem end
       where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
    if (ativo && pausedAt !== null) {
      // It takes away every wait.
      await countTry({ db }, byHand, String(workspaceId))
      await resume({ db }, workspaceId, id)
    }
    const what = ativo === (pausedAt === null) ? 'Mudou' : ativo ? 'Reativou' : 'Pausou'
    await recordAudit({ db }, session, 'conta', `${what} o webhook para ${new URL(url).host}.`)
    if (url !== before) await tellOfAddress({ db, config: ctx.config }, session, url, 'mudado')
  })
}

// A session that somebody found open may have asked for it. `ctx.db` is inside the workspace.
async function tellOfAddress(
  { db, config }: WithConfig,
  { workspaceId, accountId, address }: Session,
  url: string,
  how: 'criado' | 'mudado',
): Promise<void> {
  const recipient = await findRecipient({ db, config }, { workspaceId, accountId })
  if (!recipient) return
  const payload = { at: new Date().toISOString(), address, host: new URL(url).host, how }
  await queueMail({ db }, { workspaceId, kind: 'webhook-novo', recipient, payload })
}

/**
 * Queues untried deliveries, for each document only the oldest one waiting; `which` filters them. `ctx.db` is inside the workspace and holds the
 * webhook.
 */
export async function queueDeliveries(
  { db }: WithDatabase,
  workspaceId: number,
  id: number,
  which: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  const { rows } = await sql<{ key: string; since: Date }>`
    select id::text as key, created_at as since from (
      select distinct on (document_id) id, document_id, version, failures, created_at from webhook_delivery
       where workspace_id = ${workspaceId} and webhook_id = ${id} and state = 'waiting' and version is not null
       order by document_id, id) d
     where failures = 0 and ${which} order by id`.execute(db)
  for (const delivery of rows) await queueJob({ db }, { kind: 'webhook', workspaceId, ...delivery })
}

// Resumes after the changes that are not kept any more.
async function resume({ db }: WithDatabase, workspaceId: number, id: number): Promise<void> {
  await sql`
    update webhook w
       set version = greatest(w.version, (select p.forgotten from change_position p where p.workspace_id = ${workspaceId}))
     where w.workspace_id = ${workspaceId} and w.id = ${id}`.execute(db)
  await sql`
    update webhook_delivery set failures = 0, failing_since = null
     where workspace_id = ${workspaceId} and webhook_id = ${id} and state = 'waiting'`.execute(db)
  await queueDeliveries({ db }, workspaceId, id)
  await queueJob({ db }, { kind: 'webhook-feed', workspaceId })
}

export async function removeWebhook(ctx: WithDatabase, session: Session, publicId: string): Promise<void> {
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id, url } = await lockWebhook({ db }, workspaceId, publicId)
    await sql`delete from webhook where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
    await recordAudit({ db }, session, 'conta', `Apagou o webhook para ${new URL(url).host}.`)
  })
}

/** Gives an address another secret; the one before signs beside it for a day. */
export async function replaceSecret(
  ctx: Pick<Context, 'db' | 'vault'>,
  session: Session,
  publicId: string,
): Promise<string> {
  const { workspaceId } = session
  const secret = newSecret()
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id, url } = await lockWebhook({ db }, workspaceId, publicId)
    await sql`
      update webhook set old_secret = secret, old_until = now() + ${oldSecretHours} * interval '1 hour',
             secret = ${ctx.vault.encrypt(secret, webhookPurpose(workspaceId))}
       where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
    await recordAudit({ db }, session, 'conta', `Trocou o segredo do webhook para ${new URL(url).host}.`)
  })
  return secret
}

/** The webhook with that public id, locked until the transaction ends. `ctx.db` is inside the workspace. */
export async function lockWebhook(
  { db }: WithDatabase,
  workspaceId: number,
  publicId: string,
): Promise<{ id: number; url: string; pausedAt: Date | null }> {
  const { rows } = await sql<{ id: number; url: string; pausedAt: Date | null }>`
    select id, url, paused_at as "pausedAt" from webhook
     where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid for update`.execute(db)
  if (!rows[0]) throw new AppError('not-found', 'Webhook não encontrado.')
  return rows[0]
}

// The address as it is called. Where it leads is looked at again when a connection is made.
function addressOf({ config }: Pick<Context, 'config'>, text: string): string {
  const url = URL.parse(text)
  const isAllowed =
    url && (url.protocol === 'https:' || (url.protocol === 'http:' && config.webhookHosts.includes(url.host)))
  if (!isAllowed || url.username || url.password)
    throw new AppError(
      'invalid-input',
      'O endereço do webhook deve começar por https:// e não levar usuário nem senha.',
    )
  url.hash = ''
  return url.href
}
