import { sql } from 'kysely'
import type { Company } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { serviceCodes } from '../platform/service.ts'

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
      // A conversation that stopped (an expired certificate, say) goes on with the new certificate, when the authority allows it.
      const line = await db
        .updateTable('capture_line')
        .set({
          catch_up: sql<boolean>`catch_up or (${proved} and last_nsu > 0)`,
          next_at: sql<Date>`case when state = 'stopped' then greatest(now(), allowed_at) else next_at end`,
          state: sql<'waiting'>`case when state = 'stopped' then 'waiting' else state end`,
        })
        .where('service', '=', service)
        .where('cnpj', '=', company.cnpj)
        .returning('id')
        .executeTakeFirstOrThrow()
      await db
        .insertInto('capture_subscription')
        .values({
          line_id: line.id,
          workspace_id: workspaceId,
          company_id: company.id,
          proved_at: proved ? sql<Date>`now()` : null,
        })
        .execute()
    }
  })
}

/**
 * Asks for a company's next queries as early as the authority's rules allow: now, or when its pause ends. Returns that time for each
 * conversation. Never shortens a pause: a query during one starts a new hour of blocking.
 */
export async function requestSync(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  companyId: number,
): Promise<{ at: Date; allowed: boolean; blocked: boolean }[]> {
  const ids = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('capture_subscription')
      .select('line_id')
      .where('workspace_id', '=', workspaceId)
      .where('company_id', '=', companyId)
      .execute(),
  )
  if (ids.length === 0) throw new AppError('not-found', 'Empresa não encontrada.')
  return inCapture(ctx, ({ db }) =>
    db
      .updateTable('capture_line')
      .set({ next_at: sql<Date>`greatest(now(), allowed_at)` })
      .where(
        'id',
        'in',
        ids.map((row) => row.line_id),
      )
      .returning([
        sql<Date>`next_at`.as('at'),
        sql<boolean>`allowed_at <= now()`.as('allowed'),
        sql<boolean>`state = 'blocked'`.as('blocked'),
      ])
      .execute(),
  )
}
