import type { LineGroup, ReportSubject } from '@vigia/contract/workspace'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../platform/context.ts'
import type { Counted, Range } from './filter.ts'
import { bareTerm, insideCondition, readMonths } from './search/terms.ts'

// The documents behind a number of a report: those that apps/server/contents counted in it, as it wrote them down when it did.

/** Of `content_sum.kind`. */
export const sumKinds = { issuer: 0, cfop: 1, ncm: 2, uf: 3, lane: 4, classification: 5 } as const

/** As what documents count: `content.side`. */
export const sides: Record<ReportSubject, 0 | 1 | 2> = { compras: 0, emitidas: 1, fretes: 2 }

/** Groups of lines that have a kind of sums. */
export const kindsOfGroups: Record<Exclude<LineGroup, 'produto'>, number> = {
  participante: sumKinds.issuer,
  cfop: sumKinds.cfop,
  ncm: sumKinds.ncm,
  uf: sumKinds.uf,
  trecho: sumKinds.lane,
  classificacao: sumKinds.classification,
}

/**
 * The term of what a document counts in, by which it is found; null: it has one without it, or nobody asks for it. CFOP and NCM of items are terms of their
 * own, so that only what stands beside the items needs one.
 */
export function countedTerm(side: number, kind: number, key: string): string | null {
  if ((kind === sumKinds.cfop || kind === sumKinds.ncm) && key !== '') return null
  return kind === sumKinds.classification && key === '' ? null : `soma:${side}:${kind}:${key}`
}

/** As conditions on `document d`. */
export async function countedConditions(
  db: Database,
  workspaceId: number,
  counted: Counted | undefined,
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  if (!counted) return []
  const { subject, line } = counted
  const side = sides[subject]
  const counts = sql`exists (select from content r where r.workspace_id = d.workspace_id and r.document_id = d.id and r.side = ${sql.lit(side)})`
  if (!line) return [counts]
  const months = await readMonths(db, workspaceId, range)
  const { group, key } = line
  if (group === 'produto') return [counts, insideCondition([Number(key)], months)]
  const own = countedTerm(side, kindsOfGroups[group], key)
  const text = own ?? `${group}:${bareTerm(key)}`
  // The root of a CNPJ stands for all of its establishments.
  const which =
    group === 'participante' && key.length === 8
      ? sql`t.text >= ${text} and t.text < ${`${text}[`} and length(t.text) = ${text.length + 6}`
      : sql`t.text = ${text}`
  const { rows } = await sql<{ id: number }>`
    select t.id from content_term t where t.workspace_id = ${workspaceId} and ${which}`.execute(db)
  const inside = insideCondition(
    rows.map(({ id }) => id),
    months,
  )
  return own === null ? [counts, inside] : [inside]
}
