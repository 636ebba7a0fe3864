import { familyById } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { executePrepared } from '../platform/database.ts'
import { type Service, type ServiceCode, serviceCodes, services } from '../platform/service.ts'

/** Whether documents are shown in which a company has a role. */
export type RoleSwitch = readonly [role: number, on: boolean | undefined]

// All bits of `document.roles`.
const everyRole = 0x7fff
const thirdParty = 3

// Terceiro takes along every role that has no switch of its own, "named nowhere" among them: the list shows all of them as Terceiro.
function rolesOfSwitch(service: Service, role: number): number {
  if (role !== thirdParty) return 1 << role
  const own = familyById(service).roles.filter(({ code }) => code !== thirdParty)
  return own.reduce((rest, { code }) => rest & ~(1 << code), everyRole)
}

// A mask of shown roles after some switches were set.
function switched(service: Service, mask: number, switches: readonly RoleSwitch[]): number {
  return switches.reduce((mask, [role, on]) => {
    const roles = rolesOfSwitch(service, role)
    return on === undefined ? mask : on ? mask | roles : mask & ~roles
  }, mask)
}

/** Sets switches; a family without hidden documents has no row. `ctx.db` holds the company's row. */
export async function setSwitches(
  { db }: WithDatabase,
  workspaceId: number,
  companyId: number,
  switches: Partial<Record<Service, readonly RoleSwitch[]>>,
): Promise<void> {
  const before = await readShown({ db }, workspaceId, companyId)
  for (const service of services) {
    const shown = switched(service, before[service], switches[service] ?? [])
    if (shown === before[service]) continue
    await (shown === everyRole
      ? sql`delete from company_family
             where workspace_id = ${workspaceId} and company_id = ${companyId} and family = ${serviceCodes[service]}`
      : sql`insert into company_family (workspace_id, company_id, family, shown)
            values (${workspaceId}, ${companyId}, ${serviceCodes[service]}, ${shown})
            on conflict (workspace_id, company_id, family) do update set shown = excluded.shown`
    ).execute(db)
  }
}

/** Some companies see, of a family of documents, only those in which they have one of `roles`. */
export interface Hiding {
  type: ServiceCode
  roles: number
  companyIds: number[]
}

/** Documents that switches hide: none when all are on. `ctx.db` is a transaction in the workspace. */
export async function readHiding({ db }: WithDatabase, workspaceId: number): Promise<Hiding[]> {
  const rows = await executePrepared(
    db,
    sql<{ companyId: number; type: ServiceCode; roles: number }>`
    select company_id as "companyId", family as type, shown as roles from company_family
     where workspace_id = ${workspaceId} order by company_id, family`,
  )
  const hiding = Map.groupBy(rows, ({ type, roles }) => `${type} ${roles}`)
  return [...hiding.values()].map((same) => ({
    type: same[0]!.type,
    roles: same[0]!.roles,
    companyIds: same.map(({ companyId }) => companyId),
  }))
}

/** The roles in which a company sees documents of a family, as a bit mask. */
export function shownRoles(hiding: readonly Hiding[], companyId: number, service: Service): number {
  const own = hiding.find(({ type, companyIds }) => type === serviceCodes[service] && companyIds.includes(companyId))
  return own?.roles ?? everyRole
}

/** Shown roles of one company by family. */
export async function readShown(
  ctx: WithDatabase,
  workspaceId: number,
  companyId: number,
): Promise<Record<Service, number>> {
  const hiding = await readHiding(ctx, workspaceId)
  const shown = services.map((service) => [service, shownRoles(hiding, companyId, service)])
  return Object.fromEntries(shown) as Record<Service, number>
}

/** Conditions on `alias` (rows of `document` or `count_month`) that leave out what is hidden; it is kept all the same. */
export function shownConditions(hiding: Hiding[], alias: string): RawBuilder<boolean>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return hiding.map(
    ({ type, roles, companyIds }) =>
      sql`not (${column('type')} = ${type} and ${column('company_id')} = any (${companyIds}::int[]) and ${column('roles')} & ${roles} = 0)`,
  )
}

/** Condition for a row that the switches of its company show; `roles`: for documents in which it has these. */
export function isShown(
  workspaceId: number,
  alias: string,
  roles: RawBuilder<unknown> = sql.ref(`${alias}.roles`),
): RawBuilder<boolean> {
  const [company, type] = [sql.ref(`${alias}.company_id`), sql.ref(`${alias}.type`)]
  return sql`not exists (select from company_family f
    where f.workspace_id = ${workspaceId} and f.company_id = ${company} and f.family = ${type} and f.shown & ${roles} = 0)`
}
