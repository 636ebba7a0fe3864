import { type RawBuilder, sql } from 'kysely'

// A document with an open alert of this score, in hundredths, is answered by nobody but a person.
const withholdingScore = 60

/** Whether an open alert stands against an automatic answer about the `document d`, whichever of the companies it is of; `states`: only those. */
export function isDoubted(states: readonly string[] = ['nova', 'em-analise', 'confirmada']): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from alert a where a.workspace_id = d.workspace_id and a.chave = d.chave and a.score >= ${sql.lit(withholdingScore)}
                          and a.state = any (${states}::text[]))`
}

/** Whether the `document d` was judged, waited so long for it that nothing else should, or is of a workspace in which nobody judges yet. */
export const isJudgedOrLate: RawBuilder<boolean> = sql<boolean>`(
  d.created_at < now() - interval '1 hour'
  or not exists (select from alert_position p where p.workspace_id = d.workspace_id)
  or exists (select from alert_fact f where f.workspace_id = d.workspace_id and f.chave = d.chave and f.again_at is distinct from '-infinity'))`
