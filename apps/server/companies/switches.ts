import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { executePrepared } from '../platform/database.ts'
import { type Service, type ServiceCode, serviceCodes } from '../platform/service.ts'

/** Whether documents are shown in which a company has a role. */
export type RoleSwitch = readonly [role: number, on: boolean | undefined]

const everyRole = 511
const thirdParty = 3
const ownSwitch: Record<Service, number[]> = { nfe: [0, 1, 2], cte: [0, 1, 4, 5, 6, 7] }

// Terceiro takes along every role that has no switch of its own, "named nowhere" among them: the list shows all of them as Terceiro.
function rolesOfSwitch(service: Service, role: number): number {
  return role === thirdParty ? ownSwitch[service].reduce((rest, one) => rest & ~(1 << one), everyRole) : 1 << role
}

/** A mask of shown roles after some switches were set. */
export function switched(service: Service, mask: number, switches: RoleSwitch[]): number {
  return switches.reduce((mask, [role, on]) => {
    const roles = rolesOfSwitch(service, role)
    return on === undefined ? mask : on ? mask | roles : mask & ~roles
  }, mask)
}

/** Some companies see, of a family of documents, only those in which they have one of `roles`. */
export interface Hiding {
  type: ServiceCode
  roles: number
  companyIds: number[]
}

/** What the switches of a workspace's companies hide: nothing when all are on. `ctx.db` is a transaction inside the workspace. */
export async function readHiding({ db }: WithDatabase, workspaceId: number): Promise<Hiding[]> {
  const companies = await executePrepared(
    db,
    sql<{ id: number; nfe: number; cte: number }>`
    select id, shown_nfe as nfe, shown_cte as cte from company
     where workspace_id = ${workspaceId} and (shown_nfe <> ${everyRole} or shown_cte <> ${everyRole}) order by id`,
  )
  const all = companies.flatMap(({ id, nfe, cte }) => [
    { id, type: serviceCodes.nfe, roles: nfe },
    { id, type: serviceCodes.cte, roles: cte },
  ])
  const hiding = Map.groupBy(
    all.filter(({ roles }) => roles !== everyRole),
    ({ type, roles }) => `${type} ${roles}`,
  )
  return [...hiding.values()].map((same) => ({
    type: same[0]!.type,
    roles: same[0]!.roles,
    companyIds: same.map(({ id }) => id),
  }))
}

/** Whether `readHiding` would find anything, to stand inside another query. */
export function hidesAnything(workspaceId: number): RawBuilder<boolean> {
  return sql`(select bool_or(shown_nfe <> ${everyRole} or shown_cte <> ${everyRole}) from company where workspace_id = ${workspaceId})`
}

/** Conditions on `alias` (rows of `document` or `count_month`) that leave out what is hidden; it is kept all the same. */
export function shownConditions(hiding: Hiding[], alias: string): RawBuilder<boolean>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return hiding.map(
    ({ type, roles, companyIds }) =>
      sql`not (${column('type')} = ${type} and ${column('company_id')} = any (${companyIds}::int[]) and ${column('roles')} & ${roles} = 0)`,
  )
}

/** The same of a row that stands beside its company, both by their aliases. */
export function shownTo(company: string, alias: string): RawBuilder<boolean> {
  const [row, shown] = [sql.ref(`${alias}.roles`), (name: string) => sql.ref(`${company}.${name}`)]
  return sql`${row} & case ${sql.ref(`${alias}.type`)} when ${serviceCodes.nfe} then ${shown('shown_nfe')} else ${shown('shown_cte')} end <> 0`
}
