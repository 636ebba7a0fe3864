import { unnamedRole } from '@vigia/dfe/roles'
import { type RawBuilder, sql } from 'kysely'
import { type Hiding, shownConditions } from '../companies/companies.ts'
import type { Database } from '../platform/context.ts'

/** Which documents are asked for. */
export interface Criteria {
  type: 0 | 2
  text?: string
  companyId?: number
  status?: number
  role?: number
  /** Local date and time, both inclusive. */
  from?: string
  to?: string
}

/** One page of them. */
export interface Filter extends Criteria {
  page: number
}

/** Criteria in the one transaction that answers it. */
export interface FilterQuery {
  db: Database
  workspaceId: number
  filter: Criteria
  /** What was searched for, as a condition on `document d`; null: nothing. */
  text: RawBuilder<unknown> | null
  hiding: Hiding[]
}

// Documents are of these years; both ends are the beginning of one.
const earliest = '0001-01-01T00:00:00'
const latest = '9999-01-01T00:00:00'

/** The range of issue dates; from inclusive, until exclusive. */
export function rangeOf({ from, to }: Criteria): { from: string; until: string } {
  return {
    from: from === undefined ? earliest : from < latest ? from : latest,
    until: to !== undefined && to < latest ? addSecond(to) : latest,
  }
}

function addSecond(time: string): string {
  return new Date(Date.parse(`${time}Z`) + 1000).toISOString().slice(0, 19)
}

/** The first columns of the keys of documents and counters, as conditions on `alias`. */
export function placeConditions({ workspaceId, filter }: FilterQuery, alias: string): RawBuilder<unknown>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return [
    sql`${column('workspace_id')} = ${workspaceId}`,
    sql`${column('type')} = ${filter.type}`,
    ...(filter.companyId === undefined ? [] : [sql`${column('company_id')} = ${filter.companyId}`]),
  ]
}

/** What else documents and counters have in common, as conditions on `alias`. */
export function kindConditions({ filter, hiding }: FilterQuery, alias: string): RawBuilder<unknown>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return [
    ...(filter.status === undefined ? [] : [sql`${column('status')} = ${filter.status}`]),
    ...(filter.role === undefined ? [] : [roleCondition(column('roles'), filter.role)]),
    ...shownConditions(hiding, alias),
  ]
}

const thirdParty = 3

// A company that a document does not name is shown as Terceiro, so the filter Terceiro must find it.
function roleCondition(roles: RawBuilder<unknown>, role: number): RawBuilder<unknown> {
  const named = sql`(${roles} & ${1 << role}) <> 0`
  return role === thirdParty ? sql`(${named} or ${roles} = ${1 << unnamedRole})` : named
}

/** All of the filter but its range, as a condition on `document d`. */
export function documentCondition(query: FilterQuery): RawBuilder<unknown> {
  return all([...placeConditions(query, 'd'), ...kindConditions(query, 'd'), ...(query.text ? [query.text] : [])])
}

export function all(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`
}
