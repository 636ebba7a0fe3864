import { conclusive, nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import { isShown } from '../companies/switches.ts'
import { dueUntil } from '../documents/due.ts'
import { isOpenStatus } from '../documents/workflow/remarks.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { type AnswerRule, decide, readAnswerRules, suggestedBy } from './answer-rules.ts'
import { recipient } from './rules.ts'
import type { Candidate } from './subjects.ts'

// Suggestions of rules as rows that lists filter and count. A person sends the event.

const lookedBackDays = 90

/** Writes the marks anew after an edit of the rules, in a transaction of its own; the hourly review repeats it after a failure. */
export async function followRules(ctx: Pick<Context, 'db' | 'log'>, workspaceId: number): Promise<void> {
  try {
    await reviewSuggestions(ctx, workspaceId)
  } catch (err) {
    ctx.log.error({ err, workspaceId }, 'what the rules suggest was not written; the hourly review will')
  }
}

/** Writes the marks anew once an hour: notes arrive and their deadlines pass. */
export async function reviewSuggestions(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace({ db: ctx.db }, workspaceId, (ctx) => writeSuggestions(ctx, workspaceId))
}

// Marks the notes for which the rules suggest an answer, of those that nobody answered and whose deadline lasts, and takes away every other mark.
async function writeSuggestions({ db }: WithDatabase, workspaceId: number): Promise<void> {
  const rules = await readAnswerRules({ db }, workspaceId)
  const suggesting = suggestionsOf(rules)
  if (suggesting.every((tpEvento) => tpEvento === null)) {
    await sql`delete from answer_suggestion where workspace_id = ${workspaceId}`.execute(db)
    return
  }
  await sql`
    with decided as materialized (
      select d.id, d.company_id, ${idOfRule(rules)} as rule_id, ${answerOfRule(suggesting)} as tp_evento
        from document d
        join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id and c.active and ${isShown(workspaceId, 'd', sql`${recipient}::int`)}
        join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
        cross join lateral (${decide(workspaceId, rules, sql`false`)}) r
       where d.workspace_id = ${workspaceId} and ${isOpen(workspaceId)} and d.id in (
         select n.id from document n
          where n.workspace_id = ${workspaceId} and n.type = ${nfe.code}::int and n.created_at > now() - ${lookedBackDays} * interval '1 day'
         union select g.document_id from answer_suggestion g where g.workspace_id = ${workspaceId})),
    gone as (
      delete from answer_suggestion g
       where g.workspace_id = ${workspaceId} and not exists (select from decided n where n.id = g.document_id and n.tp_evento is not null))
    insert into answer_suggestion as g (workspace_id, document_id, company_id, rule_id, tp_evento)
    select ${workspaceId}, n.id, n.company_id, n.rule_id, n.tp_evento from decided n where n.tp_evento is not null order by n.id
    on conflict (workspace_id, document_id) do update set rule_id = excluded.rule_id, tp_evento = excluded.tp_evento
      where (g.rule_id, g.tp_evento) <> (excluded.rule_id, excluded.tp_evento)`.execute(db)
}

const suggestionsOf = (rules: readonly AnswerRule[]) =>
  rules.map(({ active, answer }) => (active ? suggestedBy(answer) : null))

// Id of the deciding rule, from a row `r` of `decide`.
const idOfRule = (rules: readonly AnswerRule[]) => sql`(${rules.map(({ id }) => id)}::bigint[])[r.rule + 1]`
const answerOfRule = (answers: readonly (number | null)[]) => sql`(${answers}::int[])[r.rule + 1]`

// Neither answered nor cancelled, as the status of the note tells, and the deadline of its own day lasts. A Ciência is never due longer than the answer.
function isOpen(workspaceId: number): RawBuilder<unknown> {
  return sql`${isOpenStatus} and ${dueUntil(workspaceId, nfe.code)}`
}

/** Documents among these for which a rule suggests the answer, decided again because a mark may be an hour old. Sees all of the workspace. */
export async function findSuggestions(
  { db }: WithDatabase,
  workspaceId: number,
  tpEvento: number,
  candidates: readonly Pick<Candidate, 'documentId'>[],
): Promise<Map<bigint, { ruleId: bigint; rule: string }>> {
  if (!conclusive.includes(tpEvento)) return new Map()
  const rules = await readAnswerRules({ db }, workspaceId)
  const suggesting = suggestionsOf(rules)
  if (!suggesting.some((one) => one === tpEvento)) return new Map()
  const { rows } = await sql<{ id: bigint; rule: number }>`
    select d.id, r.rule
      from answer_suggestion g
      join document d on d.workspace_id = ${workspaceId} and d.id = g.document_id
      join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      cross join lateral (${decide(workspaceId, rules, sql`false`)}) r
     where g.workspace_id = ${workspaceId} and g.tp_evento = ${tpEvento}
       and g.document_id = any (${candidates.map(({ documentId }) => documentId)}::bigint[])
       and ${idOfRule(rules)} = g.rule_id and ${answerOfRule(suggesting)} = g.tp_evento`.execute(db)
  return new Map(rows.map(({ id, rule }) => [id, { ruleId: rules[rule]!.id, rule: rules[rule]!.name }]))
}
