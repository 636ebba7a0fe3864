import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'

/** Facts of an NF-e in a row `f` of `alert_fact`, in the words of its index. */
export const nfeFacts = sql`f.facts -> ${sql.lit(nfe.id)}`

// Score, in hundredths, from which an open alert leaves the answer to a person.
const withholdingScore = 60

/** Whether an open alert keeps an automatic answer about `document d`: a grave one, or a confirmed one of it or of its issuer. */
export const isDoubted = (workspaceId: number): RawBuilder<boolean> => sql<boolean>`(
  exists (select from alert a where a.workspace_id = ${workspaceId} and a.chave = d.chave and a.state <> 'conhecida'
                                and (a.score >= ${sql.lit(withholdingScore)} or a.state = 'confirmada'))
  or exists (select from alert a where a.workspace_id = ${workspaceId} and a.issuer_base = substr(d.chave, 7, 8) and a.state = 'confirmada'))`

/** Whether the `document d` was judged, waited so long for it that nothing else should, or is of a workspace in which nobody judges yet. */
export const isJudgedOrLate = (workspaceId: number): RawBuilder<boolean> => sql<boolean>`(
  d.created_at < now() - interval '1 hour'
  or not exists (select from alert_position p where p.workspace_id = ${workspaceId})
  or exists (select from alert_fact f where f.workspace_id = ${workspaceId} and f.chave = d.chave
                and not exists (select from alert_due n where n.workspace_id = ${workspaceId} and n.document_id = f.document_id and n.again_at = '-infinity'))
     and not exists (select from alert_unjudged u where u.workspace_id = ${workspaceId} and u.document_id = d.id))`
