import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { conclusive, deadlines, dueUntil } from '../documents/documents.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { tryLock } from '../platform/locks.ts'
import { serviceCodes } from '../platform/service.ts'
import { type AnswerRule, decide, readAnswerRules, suggestedBy } from './answer-rules.ts'
import { recipient } from './rules.ts'
import type { Candidate } from './subjects.ts'

// What rules suggest of notes stands in rows, so that lists can filter and count it. Nothing leaves because of one: a person sends it, and the event says which
// rule suggested it.

/** So far back notes are looked at when the rules are others than those of the marks, and so far when only what arrived may be new to them. */
const lookedBackDays = { all: 90, lately: 14 }

// The notice that says of which rules the marks are.
const markedBy = 'regras-das-sugestoes:'

/**
 * Writes the marks anew after an edit of the rules, in a transaction of its own that no signature waits for. Where that does not work, the hourly review does it: the
 * rules hold already.
 */
export async function followRules(ctx: Pick<Context, 'db' | 'log'>, workspaceId: number): Promise<void> {
  try {
    await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) =>
      writeSuggestions({ db }, workspaceId, await readAnswerRules({ db }, workspaceId), lookedBackDays.all),
    )
  } catch (err) {
    ctx.log.error({ err, workspaceId }, 'what the rules suggest was not written; the hourly review will')
  }
}

/**
 * Looks once an hour at what arrived lately and at all that has a mark; where the marks are of other rules, at all. The lock is taken at the end and for a moment
 * only, so that an edit never waits for it: when somebody holds it, or changed the rules meanwhile, nothing is written, and the next review does it.
 */
export async function reviewSuggestions(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  try {
    await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
      const rules = await readAnswerRules({ db }, workspaceId)
      const digest = digestOf(rules)
      const { rows: known } = await sql`
        select from notice where workspace_id = ${workspaceId} and key = ${markedBy + digest}`.execute(db)
      await writeSuggestions({ db }, workspaceId, rules, known.length > 0 ? lookedBackDays.lately : lookedBackDays.all)
      if (!(await tryLock({ db }, 'answerRules', workspaceId))) throw new Overtaken()
      if (digestOf(await readAnswerRules({ db }, workspaceId)) !== digest) throw new Overtaken()
    })
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
  }
}

// Takes back what the transaction wrote.
class Overtaken extends Error {}

// All that decides, in the order in which it does.
function digestOf(rules: readonly AnswerRule[]): string {
  const deciding = rules
    .filter(({ active }) => active)
    .map(({ id, answer, afterDays, conditions }) => [String(id), answer, afterDays, conditions])
  return createHash('sha256').update(JSON.stringify(deciding)).digest('hex')
}

// Marks the notes for which the rules suggest an answer, of those that nobody answered and whose deadline lasts, and takes away every other mark.
async function writeSuggestions(
  { db }: WithDatabase,
  workspaceId: number,
  rules: readonly AnswerRule[],
  days: number,
): Promise<void> {
  await sql`delete from notice where workspace_id = ${workspaceId} and key like ${`${markedBy}%`}`.execute(db)
  const suggesting = suggestionsOf(rules)
  if (suggesting.every((tpEvento) => tpEvento === null)) {
    await sql`delete from answer_suggestion where workspace_id = ${workspaceId}`.execute(db)
    return
  }
  await sql`
    with decided as materialized (
      select d.id, d.company_id, ${ofRule(
        rules.map(({ id }) => id),
        'bigint',
      )} as rule_id, ${ofRule(suggesting, 'int')} as tp_evento
        from document d
        join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id and c.active and c.shown_nfe & ${recipient}::int <> 0
        join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
        cross join lateral (${decide(workspaceId, rules, sql`false`)}) r
       where d.workspace_id = ${workspaceId} and ${isOpen(workspaceId)} and d.id in (
         select n.id from document n
          where n.workspace_id = ${workspaceId} and n.type = ${serviceCodes.nfe}::int and n.created_at > now() - ${days} * interval '1 day'
         union select g.document_id from answer_suggestion g where g.workspace_id = ${workspaceId})),
    gone as (
      delete from answer_suggestion g
       where g.workspace_id = ${workspaceId} and not exists (select from decided n where n.id = g.document_id and n.tp_evento is not null))
    insert into answer_suggestion as g (workspace_id, document_id, company_id, rule_id, tp_evento)
    select ${workspaceId}, n.id, n.company_id, n.rule_id, n.tp_evento from decided n where n.tp_evento is not null order by n.id
    on conflict (workspace_id, document_id) do update set rule_id = excluded.rule_id, tp_evento = excluded.tp_evento
      where (g.rule_id, g.tp_evento) <> (excluded.rule_id, excluded.tp_evento)`.execute(db)
  await sql`
    insert into notice (workspace_id, key) values (${workspaceId}, ${markedBy + digestOf(rules)}) on conflict do nothing`.execute(
    db,
  )
}

const suggestionsOf = (rules: readonly AnswerRule[]) =>
  rules.map(({ active, answer }) => (active ? suggestedBy(answer) : null))

// Of the rule that decides, a row `r` of `decide`.
const ofRule = (values: readonly unknown[], type: 'bigint' | 'int'): RawBuilder<unknown> =>
  sql`(${values}::${sql.raw(type)}[])[r.rule + 1]`

// Neither answered nor cancelled, as the status of the note tells, and the deadline of its own day lasts. A Ciência is never due longer than the answer.
function isOpen(workspaceId: number): RawBuilder<unknown> {
  const now = new Date()
  const beyondAll = new Date(now.getTime() + (Math.max(...deadlines.map(({ hours }) => hours)) + 24) * 3_600_000)
  return sql`d.status in (1, 2, 8) and ${dueUntil(workspaceId, serviceCodes.nfe, now, beyondAll)}`
}

/**
 * Of which of these documents a rule suggests the answer: of those that are marked, decided once more, because a mark may be an hour old. `ctx.db` is inside the
 * workspace, and sees all of it.
 */
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
       and ${ofRule(
         rules.map(({ id }) => id),
         'bigint',
       )} = g.rule_id and ${ofRule(suggesting, 'int')} = g.tp_evento`.execute(db)
  return new Map(rows.map(({ id, rule }) => [id, { ruleId: rules[rule]!.id, rule: rules[rule]!.name }]))
}
