import { type LineGroup, type ReportSubject, reportLine } from '@vigia/contract/reports'
import { type RawBuilder, sql } from 'kysely'
import { bareTerm } from '../../platform/text.ts'
import { sumKinds } from '../contents/sums.ts'
import { isIssuer } from './filter.ts'

// The documents behind a number of a report: those that apps/server/documents/contents counted in it, as it wrote them down when it did.

/** As what documents count: `document_facts.side`. */
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

/** The index term of what a document counts in; null: it needs none, because the issuer is known, and CFOP and NCM are terms of items. */
export function countedTerm(side: number, kind: number, key: string): string | null {
  if (kind === sumKinds.issuer && side !== sides.emitidas) return null
  if ((kind === sumKinds.cfop || kind === sumKinds.ncm) && key !== '') return null
  return kind === sumKinds.classification && key === '' ? null : `soma:${side}:${kind}:${key}`
}

/** Question to documents: contain the term or product, and meet conditions on `document d`. */
export interface CountedQuestion {
  term: string | null
  product: number | null
  conditions: RawBuilder<unknown>[]
}

/** The documents that count in a report, or in one of its lines such as `uf:PR`. */
export function countedQuestion(
  workspaceId: number,
  subject: ReportSubject,
  lineText: string | undefined,
): CountedQuestion {
  const line = lineText === undefined ? null : reportLine(lineText)
  const side = sides[subject]
  const counts = sql`exists (select from document_facts r where r.workspace_id = d.workspace_id and r.document_id = d.id and r.side = ${sql.lit(side)} and r.counted)`
  if (!line) return { term: null, product: null, conditions: [counts] }
  const { group, key } = line
  if (group === 'produto') return { term: null, product: Number(key), conditions: [counts] }
  const own = countedTerm(side, kindsOfGroups[group], key)
  if (own !== null) return { term: own, product: null, conditions: [counts] }
  if (group !== 'participante') return { term: `${group}:${bareTerm(key)}`, product: null, conditions: [counts] }
  const issued = sql`d.supplier_id in (select s.id from supplier s where s.workspace_id = ${workspaceId} and ${isIssuer('s.tax_id', key)})`
  return { term: null, product: null, conditions: [issued, counts] }
}
