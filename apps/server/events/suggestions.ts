import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import { isShown } from '../companies/switches.ts'
import { setDerived } from '../documents/derived.ts'
import { dueUntil } from '../documents/due.ts'
import type { Suggestion } from '../documents/list/rows.ts'
import { isOpenStatus } from '../documents/workflow/remarks.ts'
import type { WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { type AnswerRule, decide, readAnswerRules, recipient, suggestedBy } from './rules.ts'

// Suggestions of rules, in a column that lists filter and count. A person sends the event.

const lookedBackDays = 90

/** Writes the marks anew once an hour: notes arrive and their deadlines pass. */
export async function reviewSuggestions(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace({ db: ctx.db }, workspaceId, (ctx) => writeSuggestions(ctx, workspaceId))
}

const writtenAtOnce = 1_000

/**
 * Marks the notes for which the rules suggest an answer, of those that nobody answered and whose deadline lasts, and takes away every other mark.
 * `ctx.db` is a transaction inside the workspace.
 */
export async function writeSuggestions({ db }: WithDatabase, workspaceId: number): Promise<void> {
  const rules = await readAnswerRules({ db }, workspaceId)
  const suggestions = rules.map(suggestionOf).map((one) => one && JSON.stringify(one))
  const { rows: changed } = await sql<{ id: bigint; suggestion: Suggestion | null }>`
    with decided as materialized (
      select d.id, (${suggestions}::jsonb[])[r.rule + 1] as suggestion
        from document d
        join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id and c.active and ${isShown(workspaceId, 'd', sql`${recipient}::int`)}
        join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
        cross join lateral (${decide(workspaceId, rules, sql`false`)}) r
       where d.workspace_id = ${workspaceId} and ${isOpen(workspaceId)} and d.id in (
         select n.id from document n
          where n.workspace_id = ${workspaceId} and n.type = ${nfe.code}::int and n.created_at > now() - ${lookedBackDays} * interval '1 day'
         union select m.id from document m where m.workspace_id = ${workspaceId} and m.suggestion is not null))
    select coalesce(n.id, m.id) as id, n.suggestion
      from decided n
      full join (select m.id, m.suggestion from document m where m.workspace_id = ${workspaceId} and m.suggestion is not null) m on m.id = n.id
     where n.suggestion is distinct from m.suggestion order by 1`.execute(db)
  for (let at = 0; at < changed.length; at += writtenAtOnce)
    await setDerived({ db }, workspaceId, ['suggestion'], changed.slice(at, at + writtenAtOnce))
}

function suggestionOf({ id, nome, ativa, resposta }: AnswerRule): Suggestion | null {
  const tpEvento = ativa ? suggestedBy(resposta) : null
  return tpEvento === null ? null : { tpEvento, ruleId: String(id), rule: nome }
}

// Neither answered nor cancelled, as the status of the note tells, and the deadline of its own day lasts. A Ciência is never due longer than the answer.
function isOpen(workspaceId: number): RawBuilder<unknown> {
  return sql`${isOpenStatus} and ${dueUntil(workspaceId, nfe.code)}`
}
