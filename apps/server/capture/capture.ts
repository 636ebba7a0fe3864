import { cnpjBase } from '@vigia/dfe/cnpj'
import { families } from '@vigia/dfe/families/all'
import { familyById } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import { requireCapture } from '../accounts/plans.ts'
import { type Company, requireActive } from '../companies/companies.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import type { Service, ServiceCode } from '../platform/service.ts'
import { listRests } from './certificate.ts'
import { noCertificate } from './decide.ts'
import { noteWaitMs } from './gaps/notes.ts'
import { awake, isTold, lockLines, setAutomatic } from './subscriptions.ts'

export async function isProved(ctx: WithDatabase, workspaceId: number): Promise<boolean> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      select from capture_subscription
       where workspace_id = ${workspaceId} and proved_at is not null limit 1`.execute(db),
  )
  return rows.length > 0
}

/** Starts or joins the capture lines of a new company. Nothing is delivered before its certificate is proved. */
export async function subscribe(
  ctx: WithDatabase,
  workspaceId: number,
  company: Company,
  { proved }: { proved: boolean },
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    for (const { code } of families) {
      await sql`
        insert into capture_line (service, cnpj, next_at, message)
        values (${code}, ${company.cnpj}, now(), 'A primeira consulta começa em instantes.')
            on conflict (service, cnpj) do nothing`.execute(db)
    }
    const own = sql`select id from capture_line where cnpj = ${company.cnpj}`
    await lockLines({ db }, sql`${own} union ${await linesOfBase({ db }, workspaceId, company.cnpj)}`)
    // A new company is captured automatically, whatever other workspaces chose for its CNPJ.
    await sql`
      with line as (
        update capture_line
           set automatic = true, paused = ${awake.paused}, next_at = ${awake.next_at}, gap_at = ${awake.gap_at}
         where cnpj = ${company.cnpj} returning id)
      insert into capture_subscription (line_id, workspace_id, company_id)
      select id, ${workspaceId}, ${company.id} from line`.execute(db)
    await resume({ db }, workspaceId, company.cnpj, { proved })
  })
}

/** Continues captures with a new certificate for `cnpj` or its base, when the authority allows. `proved`: its chain is real. */
export async function resume(
  ctx: WithDatabase,
  workspaceId: number,
  cnpj: string,
  { proved }: { proved: boolean },
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    const lineIds = await lockLines({ db }, await linesOfBase({ db }, workspaceId, cnpj))
    await sql`
      update capture_subscription
         set refused = null, proved_at = case when ${proved} then coalesce(proved_at, now()) else proved_at end
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[])
         and (refused is not null or ${proved} and proved_at is null)`.execute(db)
    const waited = sql`state in ('stopped', 'failed')`
    const isBehind = sql`exists (select 1 from capture_subscription s
                                  where s.line_id = l.id and s.workspace_id = ${workspaceId}
                                    and s.proved_at is not null and s.delivered_nsu < l.last_nsu)`
    // Certificates of paused workspaces are not used for queries.
    const { rows: receiving } = await sql<{ id: number }>`
      select line_id as id from capture_subscription
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[]) and not paused`.execute(db)
    // Updates only rows that change: turns of thousands of companies of one base wait for these locks.
    await sql`
      update capture_line l
         set next_at = case when ${waited} then least(next_at, greatest(now(), allowed_at)) else next_at end,
             message = case when not ${waited} then message
                            when automatic or wanted then 'Há um certificado novo: a captura continua assim que a SEFAZ permitir.'
                            else 'Há um certificado novo: a captura continua quando a sincronização for pedida ou ligada.' end,
             -- Keeps the state of a failure, whose pause may still last.
             state = case when state = 'stopped' then 'waiting' else state end,
             catch_up = catch_up or ${isBehind}
       where id = any (${receiving.map(({ id }) => id)}::int[])
         and (${waited} or not catch_up and ${isBehind})`.execute(db)
  })
}

/** Stops the lines of the base of `cnpj` (null: of all) that have no certificate left; in the transaction that removed one. */
export async function stopWithoutCertificate(
  ctx: WithDatabase,
  workspaceId: number,
  cnpj: string | null,
): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    const own =
      cnpj === null
        ? sql`select line_id from capture_subscription where workspace_id = ${workspaceId}`
        : await linesOfBase({ db }, workspaceId, cnpj)
    const lineIds = await lockLines({ db }, own)
    // The recorded refusal was of the certificate that was removed.
    await sql`
      update capture_subscription set refused = null
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[])`.execute(db)
    const { rows: lines } = await sql<{ id: number; cnpj: string }>`
      select id, cnpj from capture_line
       where id = any (${lineIds}::int[]) and not paused and (lease_until is null or lease_until < now())
       order by id`.execute(db)
    for (const line of lines) {
      if ((await listRests({ db }, line)).length > 0) continue
      // The authority's pause is one of the CNPJ: a new certificate does not end it.
      await sql`
        update capture_line set state = 'stopped', message = ${noCertificate}, next_at = null, wanted = false, failures = 0
         where id = ${line.id}`.execute(db)
    }
    await enterWorkspace({ db }, workspaceId)
  })
}

/** Updates whether a company's lines are captured automatically. `ctx.db` is the transaction that changed the company. */
export async function followSwitch(ctx: WithDatabase, workspaceId: number, companyId: number): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    const lineIds = await lockLines(
      { db },
      sql`select s.line_id from capture_subscription s where s.workspace_id = ${workspaceId} and s.company_id = ${companyId}`,
    )
    for (const lineId of lineIds) await setAutomatic({ db }, lineId)
    await enterWorkspace({ db }, workspaceId)
  })
}

// In two statements, because the tables of the capture are not joined with those of a workspace. `db` is inside the workspace.
async function linesOfBase({ db }: WithDatabase, workspaceId: number, cnpj: string): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ id: number }>`
    select id from company where workspace_id = ${workspaceId} and left(cnpj, 8) = ${cnpjBase(cnpj)}`.execute(db)
  return sql`select s.line_id from capture_subscription s
              where s.workspace_id = ${workspaceId} and s.company_id = any (${rows.map(({ id }) => id)}::int[])`
}

export interface SyncRequest {
  service: ServiceCode
  /** Null: it follows from what other workspaces capture for the CNPJ, and this one is not proved. */
  at: Date | null
  allowed: boolean
  blocked: boolean
}

/** Brings the next queries of a company as far forward as the authority's rules allow, and never shortens a pause. */
export async function requestSync(ctx: WithConfig, workspaceId: number, companyId: number): Promise<SyncRequest[]> {
  const ids = await inWorkspace(ctx, workspaceId, async (ctx) => {
    await requireCapture(ctx, workspaceId)
    await requireActive(ctx, workspaceId, companyId)
    const { rows } = await sql<{ line_id: number }>`
      select line_id from capture_subscription
       where workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(ctx.db)
    return rows
  })
  if (ids.length === 0) throw new AppError('not-found', 'Empresa não encontrada.')
  return inCapture(ctx, async ({ db }) => {
    const lineIds = await lockLines({ db }, sql.join(ids.map((row) => row.line_id)))
    const told = sql`exists (select from capture_subscription s
      where s.line_id = capture_line.id and s.workspace_id = ${workspaceId} and s.company_id = ${companyId} and ${isTold})`
    // An overdue query keeps its time: a request must not hide that no worker runs.
    const { rows: requests } = await sql<SyncRequest>`
      update capture_line
         set next_at = greatest(case when automatic or wanted then least(next_at, now()) else now() end, allowed_at), wanted = true
       where id = any (${lineIds}::int[])
      returning service, case when ${told} then greatest(next_at, now()) end as at,
                allowed_at <= now() and ${told} as allowed, state = 'blocked' and ${told} as blocked`.execute(db)
    // In the order in which people read them: rows come back as they lie on the disk.
    return requests.toSorted((a, b) => a.service - b.service)
  })
}

/** Brings the next query for a CNPJ forward as far as the rules allow, because a registered event releases a document there. */
export async function askSoon(ctx: WithConfig, service: Service, cnpj: string): Promise<void> {
  const family = familyById(service)
  const waitMs = noteWaitMs(family, ctx.config)
  await inCapture(ctx, ({ db }) =>
    sql`
      update capture_line
         set next_at = case when next_at is not null then least(next_at, greatest(now(), allowed_at)) end,
             gap_at = ${waitMs === null ? sql`gap_at` : sql`least(gap_at, ${fromNow(waitMs)})`}
       where service = ${family.code} and cnpj = ${cnpj}`.execute(db),
  )
}
