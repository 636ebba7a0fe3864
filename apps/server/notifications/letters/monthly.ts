import { monthlyReportsMax, type ReportGroup, type ReportSubject } from '@vigia/contract/reports'
import { formatInteger } from '@vigia/contract/text'
import { sql } from 'kysely'
import { companyNameIn } from '../../companies/topics.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { Session } from '../../platform/http/session.ts'

// Monthly reports that a person receives by e-mail.

type Person = Pick<Session, 'workspaceId' | 'accountId'>

export interface Monthly {
  id: number
  subject: ReportSubject
  group: ReportGroup
  /** Null: all that the person sees. */
  companyId: number | null
  /** Public id of the company, for callers outside. */
  publicId: string | null
  companyName: string | null
}

/** Reports of a person, in the order in which they were chosen. `db` is inside the workspace. */
export async function readMonthly({ db }: WithDatabase, { workspaceId, accountId }: Person): Promise<Monthly[]> {
  const { rows } = await sql<Monthly>`
    select m.id, m.subject, m.grouping as "group", m.company_id as "companyId", c.public_id as "publicId", ${companyNameIn(workspaceId)} as "companyName"
      from monthly_report m left join company c on c.workspace_id = m.workspace_id and c.id = m.company_id
     where m.workspace_id = ${workspaceId} and m.account_id = ${accountId} order by m.id`.execute(db)
  return rows
}

/** Adds a report, unless it is there; refuses too many. `db` is a transaction inside the workspace. */
export async function addMonthly(
  { db }: WithDatabase,
  { workspaceId, accountId }: Person,
  { subject, group, companyId }: Pick<Monthly, 'subject' | 'group' | 'companyId'>,
): Promise<void> {
  // One after the other, so that there are never too many.
  await sql`select from account where workspace_id = ${workspaceId} and id = ${accountId} for no key update`.execute(db)
  await sql`
    insert into monthly_report (workspace_id, account_id, company_id, subject, grouping)
    values (${workspaceId}, ${accountId}, ${companyId}, ${subject}, ${group}) on conflict do nothing`.execute(db)
  if ((await readMonthly({ db }, { workspaceId, accountId })).length > monthlyReportsMax)
    throw new AppError(
      'conflict',
      `Cada pessoa recebe até ${formatInteger(monthlyReportsMax)} relatórios por mês. Nada foi alterado: deixe de receber um deles antes.`,
    )
}

/** Removes one, or all. Returns whether there was one. `db` is inside the workspace. */
export async function removeMonthly(
  { db }: WithDatabase,
  { workspaceId, accountId }: Person,
  id: number | 'all',
): Promise<boolean> {
  const { rows } = await sql`
    delete from monthly_report
     where workspace_id = ${workspaceId} and account_id = ${accountId} ${id === 'all' ? sql`` : sql`and id = ${id}`} returning 1`.execute(
    db,
  )
  return rows.length > 0
}
