import { alertBands } from '@vigia/contract/alerts'
import type { DocumentFilter } from '@vigia/contract/documents'
import { standingStatuses } from '@vigia/dfe/families/lookup'
import { unnamedRole } from '@vigia/dfe/roles'
import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { type Hiding, shownConditions } from '../../companies/switches.ts'
import type { Database } from '../../platform/context.ts'

/** The filter of the contract, with the company by its own id. */
export type Criteria = Omit<z.output<typeof DocumentFilter>, 'IdEmpresa'> & { companyId?: number | undefined }

export type Mark = NonNullable<Criteria['Marca']>

/** Presence of IBS and CBS in a document, in the order of `document.reform`. */
export const reformPresences = ['dispensado', 'sem', 'parcial', 'com'] as const

/** Issue dates; from inclusive, until exclusive. */
export interface Range {
  from: string
  until: string
}

export interface Order {
  by: 'issued' | 'amount' | 'arrived' | 'due' | 'issuer'
  ascending: boolean
}
export const usualOrder: Order = { by: 'issued', ascending: false }

export interface Filter extends Criteria {
  page: number
  order?: Order
}

export interface FilterQuery {
  db: Database
  workspaceId: number
  filter: Criteria
  /** Range from the filter and the search text. */
  range: Range
  /** Where more documents than a search reaches have its words: time of issue of the oldest one it reaches, with which the range begins. */
  since: string | null
  /** Conditions on `document d` that counters cannot evaluate. */
  found: RawBuilder<unknown>[]
  /** Whether these find documents of the range only. */
  isDated: boolean
  hiding: Hiding[]
}

// Documents are of these years; both ends are the beginning of one.
const earliest = '0001-01-01T00:00:00'
const latest = '9999-01-01T00:00:00'

export function rangeOf({ DataDe: from, DataAte: to }: Pick<Criteria, 'DataDe' | 'DataAte'>): Range {
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
    sql`${column('type')} = ${filter.TipoDFe}`,
    ...(filter.companyId === undefined ? [] : [sql`${column('company_id')} = ${filter.companyId}`]),
    ...(filter.Empresas === 'ativas'
      ? [sql`${column('company_id')} in (select id from company where workspace_id = ${workspaceId} and active)`]
      : []),
  ]
}

/** Further conditions that documents and counters share, on `alias`. */
export function kindConditions({ filter, hiding }: FilterQuery, alias: string): RawBuilder<unknown>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return [
    ...(filter.Status === undefined ? [] : [sql`${column('status')} = ${filter.Status}`]),
    ...(filter.TipoParticipacao === undefined ? [] : [roleCondition(column('roles'), filter.TipoParticipacao)]),
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
  return all([...placeConditions(query, 'd'), ...kindConditions(query, 'd'), ...query.found])
}

export function withinRange(
  query: FilterQuery,
  { from, until }: { from: unknown; until: unknown },
): RawBuilder<unknown> {
  if (query.isDated) return documentCondition(query)
  return sql`${documentCondition(query)} and d.issued_at >= ${from}::timestamp and d.issued_at < ${until}::timestamp`
}

export function all(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`
}

/** The documents with an open alert, as a condition on `document d`. */
export const alertCondition = (alert: NonNullable<Criteria['Alerta']>): RawBuilder<unknown> =>
  alert === 'qualquer' ? sql`d.alert_band is not null` : sql`d.alert_band = ${alertBands.indexOf(alert)}`

/** Documents that count in sums, as a condition on `document d`: not cancelled, denied, disowned or not carried out. */
export const standingOnly = sql.raw(`d.status in (${standingStatuses.join(', ')})`)

/** Condition on `document d` by what was read inside documents that stand. */
export const reformCondition = (reform: NonNullable<Criteria['Reforma']>): RawBuilder<unknown> =>
  sql`${standingOnly} and ${reform === 'achados' ? sql`d.misfits` : sql`d.reform = ${sql.lit(reformPresences.indexOf(reform))}`}`

/** Whether a tax id is that of an issuer, who is named by the root of a CNPJ (8 characters), a CNPJ or a CPF. Indexes know the beginnings. */
export function isIssuer(column: string, issuer: string): RawBuilder<unknown> {
  const taxId = sql.ref(column)
  return issuer.length === 8
    ? sql`(${taxId} >= ${issuer} and ${taxId} < ${`${issuer}[`} and length(${taxId}) = 14)`
    : sql`${taxId} = ${issuer}`
}
