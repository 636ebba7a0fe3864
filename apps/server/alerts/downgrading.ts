import { rules } from '@vigia/alerts/rules'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Session } from '../http/http.ts'
import { announce, type Writer } from '../notifications/notifications.ts'
import type { WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { ruleName } from './list.ts'

// A rule whose alerts people hardly ever confirm is told in the digest only: docs/decisions/0047-trying-rules.md.

// After so many decisions, with fewer confirmed ones than this share.
const decidedMin = 50
const confirmedShare = 0.05

/**
 * Whether the `alert a` belongs only into the digest: each of its reasons that counts by itself is of a rule that is downgraded. Mails, toasts and
 * whatever else reaches for people ask this, and leave such an alert out; lists, counts, scores and what holds an answer back do not. The number is said
 * again: on a cluster a row of another table is no reason to look on one server only.
 */
export const isOnlyInDigest = (workspaceId: number): RawBuilder<boolean> => sql<boolean>`not exists (
  select from unnest(a.rules) r (id)
   where r.id <> all (${rules.flatMap(({ id, adds }) => (adds ? id : [])).concat('S49')}::text[])
     and not exists (select from alert_downgrade w where w.workspace_id = ${workspaceId} and w.rule = r.id and w.lifted_at is null))`

/** What people decided of the alerts of a rule. */
export interface Decided {
  confirmed: number
  /** Said to be known. */
  known: number
}

/** What people decided, by rule; `ctx.db` is inside the workspace. */
export async function readDecided({ db }: WithDatabase, workspaceId: number): Promise<Map<string, Decided>> {
  // An alert that is known again stands for what was said of it, whatever it says now.
  const { rows } = await sql<Decided & { rule: string }>`
    select rule, count(*) filter (where confirmed)::int as confirmed, count(*) filter (where not confirmed)::int as known from (
      select unnest(a.stated_rules) as rule, true as confirmed from alert a where a.workspace_id = ${workspaceId} and a.state = 'confirmada'
      union all
      select rule, false from (
        select distinct k.rule, k.document_id from alert_known k where k.workspace_id = ${workspaceId}) k) x
     group by 1`.execute(db)
  return new Map(rows.map(({ rule, ...decided }) => [rule, decided]))
}

/** Since when rules are downgraded, by rule; `ctx.db` is inside the workspace. */
export async function readDowngraded({ db }: WithDatabase, workspaceId: number): Promise<Map<string, Date>> {
  const { rows } = await sql<{ rule: string; at: Date }>`
    select rule, at from alert_downgrade where workspace_id = ${workspaceId} and lifted_at is null`.execute(db)
  return new Map(rows.map(({ rule, at }) => [rule, at]))
}

/** Downgrades the rules that people hardly ever find right, and tells of it. `ctx.db` is a transaction inside the workspace that sees all of it. */
export async function downgradeRules({ db }: WithDatabase, workspaceId: number): Promise<void> {
  const decided = await readDecided({ db }, workspaceId)
  const { rows } = await sql<{ rule: string; decided: number; confirmed: number; lifted: boolean }>`
    select rule, decided, confirmed, lifted_at is not null as lifted from alert_downgrade where workspace_id = ${workspaceId}`.execute(
    db,
  )
  const before = new Map(rows.map((row) => [row.rule, row]))
  for (const [rule, { confirmed, known }] of decided) {
    const old = before.get(rule)
    if (old && !old.lifted) continue
    // Of a rule that somebody lifted only what was decided since then speaks.
    const [all, right] = [confirmed + known - (old?.decided ?? 0), confirmed - (old?.confirmed ?? 0)]
    if (all < decidedMin || right >= confirmedShare * all) continue
    await sql`
      insert into alert_downgrade (workspace_id, rule, decided, confirmed) values (${workspaceId}, ${rule}, ${confirmed + known}, ${confirmed})
      on conflict (workspace_id, rule) do update set
        at = excluded.at, decided = excluded.decided, confirmed = excluded.confirmed, lifted_at = null, lifted_by = null`.execute(
      db,
    )
    await announce({ db }, workspaceId, { what: 'regra-rebaixada', payload: { rule, decided: all, confirmed: right } })
  }
}

/** Has a rule told like others again. `ctx.db` is a transaction inside the workspace. */
export async function liftRule({ db }: WithDatabase, session: Session, rule: string): Promise<void> {
  if (!rules.some(({ id }) => id === rule)) throw new AppError('not-found', 'Esta regra não existe. Nada foi alterado.')
  const { workspaceId, accountId } = session
  const { confirmed = 0, known = 0 } = (await readDecided({ db }, workspaceId)).get(rule) ?? {}
  const { numAffectedRows } = await sql`
    update alert_downgrade set lifted_at = now(), lifted_by = ${accountId}, decided = ${confirmed + known}, confirmed = ${confirmed}
     where workspace_id = ${workspaceId} and rule = ${rule} and lifted_at is null`.execute(db)
  if (!numAffectedRows)
    throw new AppError('conflict', `A regra ${ruleName(rule)} não está só no resumo. Nada foi alterado.`)
  await recordAudit({ db }, session, 'alerta', `Voltou a avisar da regra ${rule} (${ruleName(rule)}).`)
}

interface Downgraded {
  rule: string
  decided: number
  confirmed: number
}

/** Tells of rules that are downgraded. */
export const downgraded: Writer = {
  topic: 'aviso',
  write(items) {
    const all = items.map(({ payload }) => payload as Downgraded)
    const said = all.map(
      ({ rule, decided, confirmed }) => `“${ruleName(rule)}”: ${confirmed} de ${decided} alertas confirmados`,
    )
    return {
      kind: 'alert',
      header: all.length === 1 ? 'Regra de alerta só no resumo' : 'Regras de alerta só no resumo',
      body: `Quase nada foi confirmado de ${said.join('; ')}. Os alertas continuam na lista, e não avisam mais na hora. Quem administra pode voltar a avisar, ou desligar, nas regras.`,
      link: '/alertas/regras',
    }
  },
}
