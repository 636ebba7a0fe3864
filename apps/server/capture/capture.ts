import { cnpjBase } from '@vigia/dfe/cnpj'
import { type RawBuilder, sql } from 'kysely'
import { requireCapture } from '../accounts/accounts.ts'
import type { Company } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { type ServiceCode, serviceCodes } from '../platform/service.ts'
import { hasCandidates } from './holder.ts'
import { noCertificate } from './rules.ts'
import { awake, followWishes, lockLines } from './subscriptions.ts'

export { captureAnnouncements } from './announcements.ts'
export { followPlan, grantPlan, warnOfPlan, withdrawPlan } from './plan.ts'

/**
 * Starts the conversations of a new company, or joins those that other workspaces already hold for its CNPJ. Until its certificate is
 * proved (by its chain, now, or by the first answer of the authority to it) nothing is delivered.
 */
export async function subscribe(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  company: Company,
  { proved }: { proved: boolean },
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    for (const service of Object.values(serviceCodes)) {
      await db
        .insertInto('capture_line')
        .values({
          service,
          cnpj: company.cnpj,
          next_at: sql<Date>`now()`,
          message: 'A primeira consulta começa em instantes.',
        })
        .onConflict((conflict) => conflict.columns(['service', 'cnpj']).doNothing())
        .execute()
    }
    const own = sql`select id from capture_line where cnpj = ${company.cnpj}`
    await lockLines({ db }, sql`${own} union ${linesOfBase(workspaceId, company.cnpj)}`)
    // A new company is captured by the hour, whatever others want for its CNPJ.
    const lines = await db
      .updateTable('capture_line')
      .set({ automatic: true, ...awake })
      .where('cnpj', '=', company.cnpj)
      .returning('id')
      .execute()
    await db
      .insertInto('capture_subscription')
      .values(lines.map((line) => ({ line_id: line.id, workspace_id: workspaceId, company_id: company.id })))
      .execute()
    await resume({ db }, workspaceId, company.cnpj, { proved })
  })
}

/**
 * Lets the conversations of a workspace's companies go on with a new certificate for `cnpj` or another of the same base, as soon as the
 * authority allows it. `proved`: its chain shows that it is real.
 */
export async function resume(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  cnpj: string,
  { proved }: { proved: boolean },
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    const lineIds = await lockLines({ db }, linesOfBase(workspaceId, cnpj))
    await sql`
      update capture_subscription
         set refused = null, refused_at = null, proved_at = case when ${proved} then coalesce(proved_at, now()) else proved_at end
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[])`.execute(db)
    const waited = sql`state in ('stopped', 'failed')`
    await sql`
      update capture_line l
         set next_at = case when ${waited} then least(next_at, greatest(now(), allowed_at)) else next_at end,
             message = case when not ${waited} then message
                            when automatic or wanted then 'Há um certificado novo: a captura continua assim que a SEFAZ permitir.'
                            else 'Há um certificado novo: a captura continua quando a sincronização for pedida ou ligada.' end,
             -- Of a failure a pause may be left, in which nothing is asked.
             state = case when state = 'stopped' then 'waiting' else state end,
             catch_up = catch_up or exists (select 1 from capture_subscription s
                                             where s.line_id = l.id and s.workspace_id = ${workspaceId}
                                               and s.proved_at is not null and s.delivered_nsu < l.last_nsu)
       where id = any (${lineIds}::int[])
         -- With the certificate of somebody who is paused nothing is asked.
         and exists (select 1 from capture_subscription s
                      where s.line_id = l.id and s.workspace_id = ${workspaceId} and not s.paused)`.execute(db)
  })
}

/**
 * Stops the conversations of a workspace's companies with the base of `cnpj` about which nobody can ask any more, because a certificate was
 * taken away. One that is under way ends its turn with the key that it has. `ctx.db` is the transaction that did so.
 */
export async function stopWithoutCertificate(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  cnpj: string,
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    const lineIds = await lockLines({ db }, linesOfBase(workspaceId, cnpj))
    // It was about the one that is gone.
    await sql`
      update capture_subscription set refused = null, refused_at = null
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[])`.execute(db)
    const { rows: lines } = await sql<{ id: number; cnpj: string }>`
      select id, cnpj from capture_line
       where id = any (${lineIds}::int[]) and not paused and (lease_until is null or lease_until < now()) order by id`.execute(
      db,
    )
    const { state, message } = noCertificate
    for (const line of lines) {
      if (await hasCandidates({ db }, line)) continue
      // What the authority does not allow before is not allowed with a new certificate either.
      await db
        .updateTable('capture_line')
        .set({ state, message, next_at: null, wanted: false, failures: 0 })
        .where('id', '=', line.id)
        .execute()
    }
    await enterWorkspace({ db }, workspaceId)
  })
}

/** Tells a company's conversations whether somebody still wants them by the hour. `ctx.db` is the transaction that changed the company. */
export async function followSwitch(ctx: Pick<Context, 'db'>, workspaceId: number, companyId: number): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    const lineIds = await lockLines(
      { db },
      sql`select s.line_id from capture_subscription s where s.workspace_id = ${workspaceId} and s.company_id = ${companyId}`,
    )
    for (const lineId of lineIds) await followWishes({ db }, lineId)
    await enterWorkspace({ db }, workspaceId)
  })
}

function linesOfBase(workspaceId: number, cnpj: string): RawBuilder<unknown> {
  return sql`select s.line_id from capture_subscription s join company c on c.workspace_id = s.workspace_id and c.id = s.company_id
              where s.workspace_id = ${workspaceId} and left(c.cnpj, 8) = ${cnpjBase(cnpj)}`
}

/** What was asked for of a conversation. */
export interface SyncRequest {
  service: ServiceCode
  /** Null: when others ask is not for who is not proved. */
  at: Date | null
  allowed: boolean
  blocked: boolean
}

/**
 * Asks for a company's next queries as early as the authority's rules allow: now, or when its pause ends. Returns that time for each
 * conversation; null where others are captured for the CNPJ and nothing has proved this company's certificate: what they wait for is not
 * told. Never shortens a pause: a query during one starts a new hour of blocking. Refuses when neither trial nor plan lasts.
 */
export async function requestSync(
  ctx: Pick<Context, 'db' | 'config'>,
  workspaceId: number,
  companyId: number,
): Promise<SyncRequest[]> {
  const ids = await inWorkspace(ctx, workspaceId, async (ctx) => {
    await requireCapture(ctx, workspaceId)
    return ctx.db
      .selectFrom('capture_subscription')
      .select('line_id')
      .where('workspace_id', '=', workspaceId)
      .where('company_id', '=', companyId)
      .execute()
  })
  if (ids.length === 0) throw new AppError('not-found', 'Empresa não encontrada.')
  return inCapture(ctx, async ({ db }) => {
    const lineIds = await lockLines({ db }, sql.join(ids.map((row) => row.line_id)))
    // Alone with a CNPJ, a company is told everything.
    const told = sql`not exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null)
      or exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.proved_at is not null
                    and s.workspace_id = ${workspaceId} and s.company_id = ${companyId})`
    return db
      .updateTable('capture_line')
      .set({
        // One that is late already stays so: nobody may hide by asking that nothing is done.
        next_at: sql<Date>`greatest(case when automatic or wanted then least(next_at, now()) else now() end, allowed_at)`,
        wanted: true,
      })
      .where('id', 'in', lineIds)
      .returning([
        sql<ServiceCode>`service`.as('service'),
        sql<Date | null>`case when ${told} then greatest(next_at, now()) end`.as('at'),
        sql<boolean>`allowed_at <= now() and (${told})`.as('allowed'),
        sql<boolean>`state = 'blocked' and (${told})`.as('blocked'),
      ])
      .execute()
  })
}
