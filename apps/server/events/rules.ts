import type { testAnswerRule } from '@vigia/contract/answer-rules'
import { type AnswerRuleAnswer, answerRuleMax } from '@vigia/contract/codes'
import type { AnswerRuleForm } from '@vigia/contract/forms'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { finalStatuses } from '@vigia/dfe/families/lookup'
import { confirmacao, desconhecimento, nfe, nfeRole } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { nameOfAuthor } from '../accounts/authors.ts'
import { taxBase } from '../documents/store.ts'
import type { WithDatabase } from '../platform/context.ts'

// To which notes a Ciência leaves without a person: docs/decisions/0045-answer-rules.md. What a rule says of a note depends on the note and on
// what is here of its issuer, never on when it is asked; so it is asked again before an event leaves.

/** Bit of the destinatário, who answers an NF-e, in a mask of roles. */
export const recipient = 1 << nfeRole.destinatario

/** To which notes a rule applies, as it is kept: under the names of the contract, companies and bands of alerts by their numbers. */
export interface AnswerConditions
  extends Omit<z.output<typeof AnswerRuleForm>['condicoes'], 'idsEmpresa' | 'comAlerta'> {
  empresas?: number[] | undefined
  /** An open alert of this band or a graver one. */
  comAlerta?: number | undefined
}

export interface AnswerRuleDraft {
  nome: string
  ativa: boolean
  condicoes: AnswerConditions
  resposta: AnswerRuleAnswer
  /** Only for `ciencia-apos`. */
  dias: number | null
}

export interface AnswerRule extends AnswerRuleDraft {
  id: bigint
  /** Null: somebody who has no account any more. */
  guardadaPor: string | null
  guardadaEm: Date
}

export async function readAnswerRules({ db }: WithDatabase, workspaceId: number): Promise<AnswerRule[]> {
  const { rows } = await sql<AnswerRule>`
    select id, name as nome, active as ativa, answer as resposta, after_days as dias, conditions as condicoes, saved_at as "guardadaEm",
           ${nameOfAuthor(workspaceId, 'answer_rule.saved_by')} as "guardadaPor"
      from answer_rule where workspace_id = ${workspaceId} order by position, id`.execute(db)
  return rows
}

/** One row for `document d` and `supplier s`: the deciding `rule` (-1: none) and whether the Ciência `leaves`; else `switched` says. */
export function decide(
  workspaceId: number,
  rules: readonly AnswerRuleDraft[],
  switched: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const active = rules.flatMap((rule, at) => (rule.ativa ? [{ rule, at }] : []))
  if (active.length === 0) return sql`select -1 as rule, ${switched} as leaves`
  const which = active.map(({ rule, at }) => sql`when ${fits(workspaceId, rule)} then ${at}::int`)
  const leaves = active.map(({ rule, at }) => sql`when ${at}::int then ${leavesBy(rule)}`)
  return sql`
    select w.rule, case w.rule ${sql.join(leaves, sql` `)} else ${switched} end as leaves
      from (select case ${sql.join(which, sql` `)} else -1 end as rule) w`
}

export function sends(answer: AnswerRuleAnswer): boolean {
  return answer === 'ciencia' || answer === 'ciencia-apos'
}

/** Whether an alert against `document d` or its `supplier s` leaves the answer to a person. */
export const isSuspect = sql<boolean>`(d.suspect or s.suspect)`

/** Whether the `document d` was judged, or waited so long for it that nothing else should. */
export const isJudgedOrLate = sql<boolean>`(coalesce(d.judged_at < 'infinity', false) or d.created_at < now() - interval '1 hour')`

export function suggestedBy(answer: AnswerRuleAnswer): number | null {
  return answer === 'sugerir-confirmacao' ? confirmacao : answer === 'preparar-desconhecimento' ? desconhecimento : null
}

function leavesBy({ resposta, dias }: AnswerRuleDraft): RawBuilder<unknown> {
  if (!sends(resposta)) return sql`false`
  return resposta === 'ciencia' ? sql`true` : sql`(d.authorized_at + ${dias}::int * interval '1 day' <= now())`
}

function fits(workspaceId: number, { condicoes, resposta }: AnswerRuleDraft): RawBuilder<unknown> {
  const ofCopies = (condition: RawBuilder<unknown>) => sql`exists (
    select from document x left join document_facts f on f.workspace_id = ${workspaceId} and f.document_id = x.id
     where x.workspace_id = ${workspaceId} and x.chave = d.chave and ${condition})`
  const { empresas, emitentes, emitenteNovo, comAlerta, valorDe, valorAte, operacao, finalidades, cfops } = condicoes
  // A rule that leaves the note to a person holds it back while nobody can know whether it fits.
  const isRead = (value: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
    resposta === 'perguntar'
      ? sql`(${ofCopies(condition)} or not ${ofCopies(sql`${value} is not null`)})`
      : ofCopies(condition)
  const conditions = [
    ...(empresas ? [sql`d.company_id = any (${empresas}::int[])`] : []),
    ...(emitentes ? [sql`${taxBase('s')} = any (${emitentes}::text[])`] : []),
    ...(comAlerta === undefined ? [] : [isRead(sql`x.judged_at`, sql`x.alert_band >= ${comAlerta}::int`)]),
    ...(valorDe === undefined ? [] : [sql`d.amount >= ${valorDe}::numeric`]),
    ...(valorAte === undefined ? [] : [sql`d.amount <= ${valorAte}::numeric`]),
    ...(operacao === undefined ? [] : [isRead(operationOf, sql`${operationOf} = ${operacao}::text`)]),
    ...(finalidades ? [isRead(sql`f.purpose`, sql`f.purpose = any (${finalidades}::int[])`)] : []),
    ...(cfops ? [isRead(cfopsOf, sql`${cfopsOf} ?| ${cfops}::text[]`)] : []),
    ...(emitenteNovo === undefined ? [] : [emitenteNovo ? sql`not ${isKnown(workspaceId)}` : isKnown(workspaceId)]),
  ]
  return conditions.length > 0 ? sql`(${sql.join(conditions, sql` and `)})` : sql`true`
}

// Facts read from the XML; summaries lack the second, and their purpose.
const operationOf = sql`f.facts ->> 'tpNF'`
const cfopsOf = sql`(f.facts -> 'cfops')`

// Cancelled and denied notes do not make an issuer known, nor does the same note in another
// company. The supplier index keeps all establishments of a base together.
const isKnown = (workspaceId: number) => sql`exists (
  select from supplier o join document e on e.workspace_id = ${workspaceId} and e.supplier_id = o.id
   where o.workspace_id = ${workspaceId} and o.tax_id >= ${taxBase('s')} and o.tax_id < ${taxBase('s')} || 'a' and ${taxBase('o')} = ${taxBase('s')}
     and e.type = d.type and e.status <> all (${finalStatuses}::int[]) and e.chave <> d.chave and (e.issued_at, e.chave) < (d.issued_at, d.chave))`

export function reasonOf({ nome, guardadaPor, guardadaEm }: AnswerRule): string {
  const by = guardadaPor === null ? '' : ` por ${guardadaPor}`
  return `Ciência pela regra “${nome}”, guardada em ${formatBrasiliaMoment(guardadaEm)}${by}.`
}

/** Decision about a note: index of its rule (-1: switch of its company), and whether a Ciência leaves. */
export interface TestedDecision {
  rule: number
  leaves: boolean
}

type Answered = z.output<typeof testAnswerRule.data>
/** Answer of the call, before ids are encoded and rules named. */
interface Tested extends Omit<Answered, 'exemplos'> {
  exemplos: (Omit<Answered['exemplos'][number], 'idDFe' | 'antes' | 'depois'> & {
    id: string
    antes: TestedDecision
    depois: TestedDecision
  })[]
}

/** Decisions of other rules about recent notes, as on their last day. `ctx.db` is in the workspace. */
export async function testAnswerRules(
  { db }: WithDatabase,
  workspaceId: number,
  { now, then, draftAt }: { now: readonly AnswerRuleDraft[]; then: readonly AnswerRuleDraft[]; draftAt: number },
): Promise<Tested> {
  const switched = sql`(c.acknowledges_since is not null)`
  const notes = sql`
    select d.id, d.chave, d.number::float8 as number, s.name as issuer, c.name as company, c.public_id, d.amount, d.issued_at,
           b.rule as rule_before, b.leaves as leaves_before, a.rule as rule_after, a.leaves as leaves_after
      from document d
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id
      cross join lateral (${decide(workspaceId, waited(now), switched)}) b
      cross join lateral (${decide(workspaceId, waited(then), switched)}) a
     where d.workspace_id = ${workspaceId} and d.type = ${nfe.code}::int and d.roles & ${recipient}::int <> 0
       and d.created_at > now() - ${answerRuleMax.testedDays} * interval '1 day'`
  // To ask a person and to say nothing are the same to the note.
  const effect = (when: string) =>
    sql`case when ${sql.ref(`leaves_${when}`)} then coalesce(${sql.ref(`answer_${when}`)}, ${ofSwitch})
             when ${sql.ref(`answer_${when}`)} = any (${suggesting}::text[]) then ${sql.ref(`answer_${when}`)} else '' end`
  const differs = sql`${effect('before')} <> ${effect('after')}`
  const named = (rules: readonly AnswerRuleDraft[], column: string) =>
    rules.length === 0 ? sql`null::text` : sql`(${rules.map(nameOf)}::text[])[${sql.ref(column)} + 1]`
  const { rows } = await sql<Tested>`
    with n as materialized (
      select n.*, ${named(now, 'rule_before')} as answer_before, ${named(then, 'rule_after')} as answer_after from (${notes}) n)
    select count(*)::int as "totalDeItens", count(*) filter (where rule_after = ${draftAt}::int)::int as decididas,
           count(*) filter (where ${differs})::int as mudariam,
           (select coalesce(json_agg(x), '[]') from (
              select id::text, chave, number as numero, issuer as emitente, public_id as "idEmpresa", company as empresa, amount::float8 as valor,
                     issued_at as emissao, json_build_object('rule', rule_before, 'leaves', leaves_before) as antes,
                     json_build_object('rule', rule_after, 'leaves', leaves_after) as depois
                from n where ${differs} order by issued_at desc, id desc limit ${answerRuleMax.shown}) x) as exemplos
      from n`.execute(db)
  return rows[0]!
}

const nameOf = ({ resposta, dias }: Pick<AnswerRuleDraft, 'resposta' | 'dias'>) => `${resposta} ${dias ?? ''}`
const ofSwitch = nameOf({ resposta: 'ciencia', dias: null })
const suggesting = (['sugerir-confirmacao', 'preparar-desconhecimento'] as const).map((resposta) =>
  nameOf({ resposta, dias: null }),
)

// As if every wait were over.
function waited(rules: readonly AnswerRuleDraft[]): AnswerRuleDraft[] {
  return rules.map((rule) => (rule.resposta === 'ciencia-apos' ? { ...rule, resposta: 'ciencia', dias: null } : rule))
}
