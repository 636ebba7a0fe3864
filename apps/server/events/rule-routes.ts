import { alertBands } from '@vigia/contract/alerts'
import {
  listAnswerRules,
  orderAnswerRules,
  removeAnswerRule,
  saveAnswerRule,
  testAnswerRule,
} from '@vigia/contract/answer-rules'
import { answerRuleMax } from '@vigia/contract/codes'
import type { AnswerRuleForm } from '@vigia/contract/forms'
import { sql } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../accounts/audit/audit.ts'
import { findCompanyIds } from '../companies/chosen-companies.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { holdLock } from '../platform/locks.ts'
import {
  type AnswerConditions,
  type AnswerRule,
  type AnswerRuleDraft,
  readAnswerRules,
  type TestedDecision,
  testAnswerRules,
} from './rules.ts'
import { writeSuggestions } from './suggestions.ts'

type Body = z.output<typeof AnswerRuleForm>

export const answerRuleRoutes = [
  handle(listAnswerRules, async (ctx, { session }) => ({
    data: await readWorkspace(ctx, session.workspaceId, (ctx) => toList(ctx, session)),
  })),

  handle(saveAnswerRule, async (ctx, { body, session }) => {
    const data = await edit(ctx, session, async (ctx, rules) => {
      const draft = await draftOf(ctx, session, body)
      const at = body.idRegra === undefined ? -1 : placeOf(ctx, session, rules, body.idRegra)
      const values = {
        name: draft.nome,
        active: draft.ativa,
        answer: draft.resposta,
        after_days: draft.dias,
        conditions: JSON.stringify(draft.condicoes),
        saved_by: session.accountId,
        saved_at: new Date(),
      }
      if (at < 0) {
        if (rules.length >= answerRuleMax.rules)
          throw new AppError(
            'conflict',
            `Já há ${answerRuleMax.rules} regras. Esta não foi guardada; apague uma que não usa mais e tente de novo.`,
          )
        const last = { workspace_id: session.workspaceId, position: rules.length }
        await ctx.db
          .insertInto('answer_rule')
          .values({ ...values, ...last })
          .execute()
      } else
        await ctx.db
          .updateTable('answer_rule')
          .set(values)
          .where('workspace_id', '=', session.workspaceId)
          .where('id', '=', rules[at]!.id)
          .execute()
      const what = `${at < 0 ? 'Criou' : 'Mudou'} a regra de resposta “${draft.nome}”: ${effectOf(draft)}`
      await recordAudit(ctx, session, 'manifestacao', what)
    })
    return { data, message: `Regra "${body.nome}" guardada.` }
  }),

  handle(orderAnswerRules, async (ctx, { body, session }) => {
    const data = await edit(ctx, session, async (ctx, rules) => {
      const ids = body.idsRegra.map((id) => ctx.ids.decode(session.workspaceId, id))
      const known = new Set(rules.map(({ id }) => id))
      if (
        ids.length !== rules.length ||
        new Set(ids).size !== ids.length ||
        ids.some((id) => id === null || !known.has(id))
      )
        throw new AppError('conflict', 'As regras mudaram nesse meio-tempo. Nada foi alterado; abra a página de novo.')
      for (const [position, id] of ids.entries())
        await sql`
          update answer_rule set position = ${position}
           where workspace_id = ${session.workspaceId} and id = ${id}`.execute(ctx.db)
      await recordAudit(ctx, session, 'manifestacao', 'Mudou a ordem das regras de resposta.')
    })
    return { data, message: 'Ordem guardada.' }
  }),

  handle(removeAnswerRule, async (ctx, { body, session }) => {
    const data = await edit(ctx, session, async (ctx, rules) => {
      const rule = rules[placeOf(ctx, session, rules, body.idRegra)]!
      await sql`delete from answer_rule where workspace_id = ${session.workspaceId} and id = ${rule.id}`.execute(ctx.db)
      await recordAudit(ctx, session, 'manifestacao', `Apagou a regra de resposta “${rule.nome}”.`)
    })
    return { data, message: 'Regra apagada.' }
  }),

  handle(testAnswerRule, 'slow', async (ctx, { body, session: { workspaceId }, session }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) => {
      const now = await readAnswerRules(ctx, workspaceId)
      const draft = await draftOf(ctx, session, body)
      const at = body.idRegra === undefined ? now.length : placeOf(ctx, session, now, body.idRegra)
      const then = [...now.slice(0, at), draft, ...now.slice(at + 1)]
      const { exemplos, ...counts } = await testAnswerRules(ctx, workspaceId, { now, then, draftAt: at })
      const decision = (rules: readonly AnswerRuleDraft[], { rule, leaves }: TestedDecision) =>
        rule < 0
          ? { regra: null, resposta: leaves ? ('ciencia' as const) : ('nada' as const) }
          : { regra: rules[rule]!.nome, resposta: rules[rule]!.resposta }
      return {
        ...counts,
        exemplos: exemplos.map(({ id, antes, depois, ...note }) => ({
          idDFe: ctx.ids.encode(workspaceId, BigInt(id)),
          ...note,
          antes: decision(now, antes),
          depois: decision(then, depois),
        })),
      }
    }),
  })),
]

// Waiting events are decided again before they leave.
async function edit(
  ctx: Context,
  session: Session,
  work: (ctx: Context, rules: readonly AnswerRule[]) => Promise<void>,
) {
  return inWorkspace(ctx, session.workspaceId, async (ctx) => {
    // Two that change the rules at once take turns, and what is being signed is committed first.
    await holdLock(ctx, 'answerRules', session.workspaceId)
    await work(ctx, await readAnswerRules(ctx, session.workspaceId))
    await writeSuggestions(ctx, session.workspaceId)
    return toList(ctx, session)
  })
}

function placeOf(
  { ids }: Pick<Context, 'ids'>,
  { workspaceId }: Session,
  rules: readonly AnswerRule[],
  id: string,
): number {
  const wanted = ids.decode(workspaceId, id)
  const at = rules.findIndex((rule) => rule.id === wanted)
  if (at < 0) throw new AppError('not-found', 'Esta regra não existe mais. Nada foi alterado.')
  return at
}

async function draftOf(ctx: WithDatabase, { workspaceId }: Session, body: Body): Promise<AnswerRuleDraft> {
  const { nome, ativa, resposta, dias = null, condicoes } = body
  const { idsEmpresa, comAlerta, emitentes, finalidades, ...others } = condicoes
  const empresas = (await findCompanyIds(ctx, workspaceId, idsEmpresa ?? null)) ?? undefined
  const kept: AnswerConditions = {
    ...others,
    empresas,
    emitentes: emitentes && [...new Set(emitentes)],
    finalidades: finalidades && [...new Set(finalidades)],
    comAlerta: comAlerta && alertBands.indexOf(comAlerta),
  }
  return { nome, ativa, resposta, dias, condicoes: kept }
}

function effectOf({ ativa, resposta, dias }: AnswerRuleDraft): string {
  if (!ativa) return 'desligada.'
  if (resposta === 'perguntar') return 'sempre perguntar.'
  if (resposta === 'sugerir-confirmacao') return 'a Confirmação é sugerida a uma pessoa, e nada é enviado sem ela.'
  if (resposta === 'preparar-desconhecimento')
    return 'o Desconhecimento é preparado para uma pessoa, e nada é enviado sem ela.'
  return resposta === 'ciencia'
    ? 'a Ciência da Operação é registrada quando a nota chega.'
    : `a Ciência da Operação é registrada ${dias} ${dias === 1 ? 'dia' : 'dias'} depois da autorização.`
}

async function toList(ctx: Pick<Context, 'db' | 'ids'>, { workspaceId }: Session) {
  const rules = await readAnswerRules(ctx, workspaceId)
  const { rows: companies } = await sql<{ id: number; public_id: string; name: string; acknowledges: boolean }>`
    select id, public_id, name, acknowledges_since is not null as acknowledges
      from company where workspace_id = ${workspaceId} order by name`.execute(ctx.db)
  const publicIds = new Map(companies.map(({ id, public_id }) => [id, public_id]))
  return {
    regras: rules.map(({ id, condicoes: { empresas, comAlerta, ...others }, ...rule }) => ({
      idRegra: ctx.ids.encode(workspaceId, id),
      ...rule,
      condicoes: {
        ...others,
        // Skips companies that do not exist any more.
        idsEmpresa: empresas?.flatMap((company) => publicIds.get(company) ?? []),
        comAlerta: comAlerta === undefined ? undefined : alertBands[comAlerta],
      },
    })),
    comCienciaParaTodas: companies.flatMap(({ public_id, name, acknowledges }) =>
      acknowledges ? { idEmpresa: public_id, empresa: name } : [],
    ),
  }
}
