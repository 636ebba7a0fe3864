import { sql } from 'kysely'
import { conclusive, deadlines } from '../documents/documents.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { serviceCodes } from '../platform/service.ts'
import { type AnswerRule, decide, readAnswerRules, suggestedBy } from './answer-rules.ts'
import { recipient } from './rules.ts'
import type { Candidate } from './subjects.ts'

// What rules suggest of notes stands in rows, so that lists can filter and count it. Nothing leaves because of one: a person sends it, and the event says which
// rule suggested it.

/** So far back notes are looked at when a rule changes, and so far when only what arrived may be new to the rules. */
const lookedBackDays = { all: 90, lately: 14 }

/**
 * Writes down which notes the rules suggest an answer for: of those that nobody answered and whose deadline lasts. `lately`: only what arrived in the last days
 * is decided anew. `ctx.db` is inside the workspace.
 */
export async function writeSuggestions(
  { db }: WithDatabase,
  workspaceId: number,
  rules: readonly AnswerRule[],
  since: keyof typeof lookedBackDays,
): Promise<void> {
  const suggesting = rules.map((rule) => (rule.active ? suggestedBy(rule.answer) : null))
  // Those of rules that suggest something else by now, of answered notes, and of which the deadline passed.
  await sql`
    delete from answer_suggestion g
     where g.workspace_id = ${workspaceId}
       and (not exists (select from unnest(${rules.map(({ id }) => id)}::bigint[], ${suggesting}::int[]) r (id, tp_evento)
                         where r.id = g.rule_id and r.tp_evento = g.tp_evento)
            or not exists (select from document d where d.workspace_id = g.workspace_id and d.id = g.document_id and ${isOpen}))`.execute(
    db,
  )
  const days = lookedBackDays[since]
  const looked = sql`d.workspace_id = ${workspaceId} and d.type = ${serviceCodes.nfe}::int and d.created_at > now() - ${days} * interval '1 day'`
  if (suggesting.every((tpEvento) => tpEvento === null)) return
  await sql`
    with decided as materialized (
      select d.id, d.company_id, (${rules.map(({ id }) => id)}::bigint[])[r.rule + 1] as rule_id, (${suggesting}::int[])[r.rule + 1] as tp_evento
        from document d
        join company c on c.workspace_id = d.workspace_id and c.id = d.company_id and c.active and c.shown_nfe & ${recipient}::int <> 0
        join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
        cross join lateral (${decide(rules, sql`false`)}) r
       where ${looked} and ${isOpen}),
    gone as (
      delete from answer_suggestion g using decided n
       where g.workspace_id = ${workspaceId} and g.document_id = n.id and n.tp_evento is null)
    insert into answer_suggestion as g (workspace_id, document_id, company_id, rule_id, tp_evento)
    select ${workspaceId}, n.id, n.company_id, n.rule_id, n.tp_evento from decided n where n.tp_evento is not null
    on conflict (workspace_id, document_id) do update set rule_id = excluded.rule_id, tp_evento = excluded.tp_evento
      where (g.rule_id, g.tp_evento) <> (excluded.rule_id, excluded.tp_evento)`.execute(db)
}

const [longest] = deadlines
  .filter(({ tpEvento }) => tpEvento === conclusive)
  .map(({ hours }) => hours)
  .sort((a, b) => b - a)
// Neither answered nor cancelled, as the status of the note tells.
const isOpen = sql`d.status in (1, 2, 8) and d.roles & ${sql.lit(recipient)} <> 0 and d.authorized_at > now() - ${sql.lit(`${longest} hours`)}::interval`

/** Looks at what arrived lately, once an hour. */
export async function reviewSuggestions(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    const rules = await readAnswerRules({ db }, workspaceId)
    if (rules.some(({ answer }) => suggestedBy(answer) !== null))
      await writeSuggestions({ db }, workspaceId, rules, 'lately')
  })
}

/** Of which of these documents a rule suggests the answer. `ctx.db` is inside the workspace. */
export async function findSuggestions(
  { db }: WithDatabase,
  workspaceId: number,
  tpEvento: number,
  candidates: readonly Pick<Candidate, 'documentId'>[],
): Promise<Map<bigint, { ruleId: bigint; rule: string }>> {
  if (!conclusive.includes(tpEvento)) return new Map()
  const { rows } = await sql<{ id: bigint; ruleId: bigint; rule: string }>`
    select g.document_id as id, g.rule_id as "ruleId", r.name as rule
      from answer_suggestion g join answer_rule r on r.workspace_id = g.workspace_id and r.id = g.rule_id and r.active
     where g.workspace_id = ${workspaceId} and g.tp_evento = ${tpEvento}
       and g.document_id = any (${candidates.map(({ documentId }) => documentId)}::bigint[])`.execute(db)
  return new Map(rows.map(({ id, ...rest }) => [id, rest]))
}
