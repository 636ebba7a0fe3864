import type { listHeldEvents } from '@vigia/contract/answer-rules'
import { askedMax } from '@vigia/contract/codes'
import { formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { readHiding, shownConditions } from '../companies/switches.ts'
import { liftVersions } from '../documents/changes.ts'
import { findHold, hold, release } from '../events/hold.ts'
import { readAnswerRules, sends } from '../events/rules.ts'
import { queueDeliveries } from '../notifications/webhooks/webhooks.ts'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator, countRows, inCapture, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { firstStart } from '../platform/installation.ts'
import type { ServiceCode } from '../platform/service.ts'

/** A company with events that wait for the release, or would be sent automatically after it. */
export interface HeldCompany {
  workspaceId: number
  companyId: number
  name: string
  cnpj: string
  /** Start of the automatic Ciência; null: it is off. */
  acknowledgesSince: Date | null
  /** Waiting Ciências that a switch wanted. */
  automatic: number
  /** Waiting events that a person wanted. */
  requested: number
}

/** Everything that a release lets leave, and rules that send a Ciência alone; null: nothing is held. */
export async function listHeld(ctx: WithDatabase): Promise<{
  since: Date
  why: string
  companies: HeldCompany[]
  rules: number
  mails: number
  deliveries: number
} | null> {
  const held = await findHold(ctx)
  if (!held) return null
  const { rows: waiting } = await inCapture(ctx, ({ db }) =>
    sql<Pick<HeldCompany, 'companyId' | 'automatic' | 'requested'>>`
      select company_id as "companyId", count(*) filter (where requested_by is null)::int as automatic,
             count(*) filter (where requested_by is not null)::int as requested
        from outgoing_event where state in ('waiting', 'sending') group by 1`.execute(db),
  )
  const waitingOf = new Map(waiting.map(({ companyId, ...counts }) => [companyId, counts]))
  const companies: HeldCompany[] = []
  let rules = 0
  for (const workspaceId of await listWorkspaces(ctx)) {
    const sending = await inWorkspace(ctx, workspaceId, (ctx) => readAnswerRules(ctx, workspaceId))
    rules += sending.filter(({ ativa, resposta }) => ativa && sends(resposta)).length
    const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
      sql<Pick<HeldCompany, 'name' | 'cnpj' | 'acknowledgesSince'> & { id: number }>`
        select id, name, cnpj, acknowledges_since as "acknowledgesSince" from company
         where workspace_id = ${workspaceId} order by name`.execute(db),
    )
    for (const { id, ...company } of rows) {
      const counts = waitingOf.get(id) ?? { automatic: 0, requested: 0 }
      if (company.acknowledgesSince === null && counts.automatic + counts.requested === 0) continue
      companies.push({ workspaceId, companyId: id, ...company, ...counts })
    }
  }
  const counts = await asOperator(ctx, async ({ db }) => ({
    mails: await countRows(db, sql`from mail where ${isHeldBack}`),
    deliveries: await countRows(db, sql`from webhook_delivery where ${isHeldBack}`),
  }))
  return { ...held, companies, rules, ...counts }
}

const isHeldBack = sql`state = 'waiting' and (created_at < (select held_since from installation)) is true`

// Administrators of a workspace see the reason and can resend a delivery.
async function dropNotices(ctx: WithDatabase): Promise<void> {
  const dropped = 'O envio foi liberado sem o que já esperava'
  await asOperator(ctx, async ({ db }) => {
    const { rows: mails } = await sql<{ key: string }>`
      update mail set state = 'dropped', problem = ${`${dropped}: este e-mail podia já ter saído, e não foi enviado.`}, payload = '{}', settled_at = now()
       where ${isHeldBack} returning message_id as key`.execute(db)
    const { rows: deliveries } = await sql<{ key: string; workspaceId: number; webhookId: number }>`
      update webhook_delivery set state = 'failed', problem = ${`${dropped}: esta entrega podia já ter sido feita, e não foi enviada.`}
       where ${isHeldBack} returning id::text as key, workspace_id as "workspaceId", webhook_id as "webhookId"`.execute(
      db,
    )
    const keys = [...mails, ...deliveries].map(({ key }) => key)
    await sql`delete from job where kind in ('mail', 'webhook') and key = any (${keys}::text[])`.execute(db)
    // Newer deliveries of the same documents waited for these.
    const webhooks = new Map(deliveries.map((one) => [`${one.workspaceId} ${one.webhookId}`, one]))
    for (const { workspaceId, webhookId } of webhooks.values()) await queueDeliveries({ db }, workspaceId, webhookId)
  })
}

// As the plans name them.
const operator = 'Quem administra o sistema'

async function listWorkspaces(ctx: WithDatabase): Promise<number[]> {
  return asOperator(ctx, async ({ db }) => {
    const rows = await db.selectFrom('workspace').select('id').orderBy('id').execute()
    return rows.map(({ id }) => id)
  })
}

/** Holds what leaves because the operator says so, anew where it is held: the database may be a copy that other tools brought back. */
export async function holdByHand(ctx: WithDatabase): Promise<void> {
  const held = await findHold(ctx)
  await hold(ctx, held && held.why !== firstStart ? held.why : `${operator} segurou o envio.`)
  await liftVersions(ctx)
}

/**
 * Lets everything leave again. `withoutAutomatic` turns the automatic Ciência of all companies, and the rules that send one, off first: what waits
 * because of them is withdrawn when its turn comes, and each workspace turns them on again where it wants them. `withoutNotices`: mails and
 * deliveries of before the hold never leave.
 */
export async function releaseHeld(
  ctx: WithDatabase,
  { withoutAutomatic, withoutNotices = false }: { withoutAutomatic: boolean; withoutNotices?: boolean },
): Promise<void> {
  if (withoutAutomatic) await switchAutomaticOff(ctx)
  if (withoutNotices) await dropNotices(ctx)
  await release(ctx)
}

async function switchAutomaticOff(ctx: WithDatabase): Promise<void> {
  for (const workspaceId of await listWorkspaces(ctx))
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      const actor = { workspaceId, accountName: operator }
      const { rows: companies } = await sql<{ name: string }>`
        update company set acknowledges_since = null, acknowledges_by = null
         where workspace_id = ${workspaceId} and acknowledges_since is not null returning name`.execute(db)
      for (const { name } of companies) {
        const what = `Desligou a Ciência automática de ${name}, antes de liberar o envio de manifestações.`
        await recordAudit({ db }, actor, 'empresa', what)
      }
      const { rows: rules } = await sql<{ name: string }>`
        update answer_rule set active = false
         where workspace_id = ${workspaceId} and active = true and answer in ('ciencia', 'ciencia-apos')
        returning name`.execute(db)
      if (rules.length === 0) return
      const names = formatList(rules.map(({ name }) => `“${name}”`))
      const what = `Desligou regras de resposta (${names}), antes de liberar o envio de manifestações.`
      await recordAudit({ db }, actor, 'manifestacao', what)
    })
}

/** An event that leaves when it is released, under the names of its answer. */
type HeldEvent = Omit<DataOf<typeof listHeldEvents>['items'][number], 'idDFe' | 'descricao'> & {
  documentId: bigint
  tipoDFe: ServiceCode
  tpEvento: number
}

/** The events of a workspace that a release lets leave, the longest waiting first. `ctx.db` is a transaction inside it. */
export async function listHeldOf(
  { db }: WithDatabase,
  { workspaceId, companies }: Pick<Session, 'workspaceId' | 'companies'>,
): Promise<{ total: number; events: HeldEvent[] }> {
  const conditions = [
    sql`o.workspace_id = ${workspaceId} and o.state in ('waiting', 'sending')`,
    ...(companies ? [sql`o.company_id = any (${companies}::int[])`] : []),
    ...shownConditions(await readHiding({ db }, workspaceId), 'd'),
  ]
  const { rows } = await sql<HeldEvent & { total: number }>`
    select o.document_id as "documentId", o.tp_evento as "tpEvento", count(*) over ()::int as total, o.type as "tipoDFe", o.chave, d.number::float8 as numero,
           s.name as emitente, c.name as empresa, o.why as motivo, o.requested_at as "pedidaEm"
      from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
     where ${sql.join(conditions, sql` and `)} order by o.requested_at, o.id limit ${askedMax}`.execute(db)
  return { total: rows[0]?.total ?? 0, events: rows.map(({ total: _, ...event }) => event) }
}

const ofSeveral =
  'Esta instalação tem mais de um workspace: quem administra o sistema confere o que espera em todos e libera o envio com npm run admin -- restauracao liberar.'
const notKeeper = 'Libera o envio quem é administrador do workspace e vê todas as empresas dele.'

/** Why somebody may not release the events of the installation; null: they may. */
export async function whyNotRelease(
  ctx: WithDatabase,
  { role, companies }: Pick<Session, 'role' | 'companies'>,
): Promise<string | null> {
  if (role !== 'administrador' || companies !== null) return notKeeper
  return (await isAlone(ctx)) ? null : ofSeveral
}

/** Whether the installation has one workspace, whose administrator looks after it. */
export async function isAlone(ctx: WithDatabase): Promise<boolean> {
  return (await listWorkspaces(ctx)).length === 1
}

/** Lets everything leave again where the installation has one workspace, in the name of its administrator. */
export async function releaseAlone(ctx: WithDatabase, session: Session): Promise<void> {
  if (!(await findHold(ctx))) return
  const refusal = await whyNotRelease(ctx, session)
  if (refusal !== null) throw new AppError('conflict', refusal)
  await inWorkspace(ctx, session.workspaceId, (ctx) =>
    recordAudit(ctx, session, 'manifestacao', 'Liberou o envio de manifestações, que estava retido.'),
  )
  await release(ctx)
}
