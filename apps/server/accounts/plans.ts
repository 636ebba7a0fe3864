import { type PlanKind, planKinds } from '@vigia/contract/codes'
import { formatBrasiliaDay, formatBrasiliaMoment } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { recordAudit } from './audit/audit.ts'
import { findAccount } from './sessions.ts'

/** `tipoPlano` of section 9. */
export type PlanType = keyof typeof planKinds

/** Current plan of a workspace. */
export interface WorkspacePlan extends PlanKind {
  type: PlanType
  /** `ended`: neither the trial nor a paid plan lasts. */
  situation: 'trial' | 'active' | 'ended'
  trialUntil: Date
  /** Start of the current paid plan, or of the last one; null: there was none. */
  paidFrom: Date | null
  /** End of the current paid plan, or of the last one; null: there was none, or its end is unknown. */
  paidUntil: Date | null
  /** When trial and paid plan end or ended; null: no end is known. */
  endsAt: Date | null
  /** Milliseconds to `endsAt`; negative after it. */
  leftMs: number | null
  /** Whichever of trial and plan ends, or has ended, last. */
  endsWith: 'trial' | 'plan'
  /** Since when capture is paused because neither lasts. */
  pausedAt: Date | null
}

const unlimited = {
  ...planKinds[3],
  type: 3,
  situation: 'active',
  paidFrom: null,
  paidUntil: null,
  endsAt: null,
  leftMs: null,
  endsWith: 'plan',
} as const

// The time after a lock was obtained: the transaction may have begun before the change that it waited for.
const now = sql<Date>`statement_timestamp()`
const paidLasts = sql<boolean>`(paid_from is not null and (paid_until is null or paid_until > ${now}))`
// An active plan without an end date has no end.
const end = sql<Date | null>`case when ${paidLasts} and paid_until is null then null else greatest(trial_until, paid_until) end`

/**
 * The plan of a workspace; where the installation has none, one without end or limits. `ctx.db` is a transaction inside it; `lock`: no other transaction
 * changes it before that ends.
 */
export async function readPlan(
  { db, config }: WithConfig,
  workspaceId: number,
  { lock = false } = {},
): Promise<WorkspacePlan> {
  // Locked in a separate statement, so that the next one reads the newest row. No-key lock: inserts with a foreign key go on.
  if (lock) await sql`select from workspace where id = ${workspaceId} for no key update`.execute(db)
  const { rows } = await sql<Omit<WorkspacePlan, keyof (typeof planKinds)[PlanType]>>`
    select plan as type, trial_until as "trialUntil", paid_from as "paidFrom", paid_until as "paidUntil",
           paused_at as "pausedAt", ${end} as "endsAt", (extract(epoch from ${end} - ${now}) * 1000)::float8 as "leftMs",
           case when ${paidLasts} then 'active' when trial_until > ${now} then 'trial' else 'ended' end as situation,
           case when paid_until > trial_until or ${paidLasts} and paid_until is null then 'plan' else 'trial' end as "endsWith"
      from workspace where id = ${workspaceId}`.execute(db)
  const { type, ...row } = rows[0]!
  if (!config.plans) return { ...row, ...unlimited }
  return { type, ...planKinds[type], ...row }
}

/** Gives the trial of a workspace a plan with room for more companies; returns when the trial ends, or null where nothing changed. `ctx.db` is a transaction inside it. */
export async function widenTrial(
  { db, config }: WithConfig,
  workspaceId: number,
  type: PlanType,
): Promise<Date | null> {
  const { situation, companiesMax, trialUntil } = await readPlan({ db, config }, workspaceId, { lock: true })
  const wanted = planKinds[type].companiesMax
  const isWider = companiesMax !== null && (wanted === null || wanted > companiesMax)
  if (situation !== 'trial' || !isWider) return null
  await db.updateTable('workspace').set({ plan: type }).where('id', '=', workspaceId).execute()
  return trialUntil
}

/** Refuses queries without a current trial or plan. `ctx.db` is a transaction inside the workspace. */
export async function requireCapture(ctx: WithConfig, workspaceId: number): Promise<void> {
  const plan = await readPlan(ctx, workspaceId)
  if (plan.situation === 'ended') throw new AppError('plan-limit', endedSentence(plan, ctx.config))
}

/** Sentence for a workspace whose plan has ended: why capture is paused, what is safe, and what to do. */
export function pausedSentence(plan: WorkspacePlan, config: ContactConfig): string {
  return `${reasonOf(plan)}, e por isso a captura está pausada: nada é consultado na SEFAZ. ${whatIsSafe} ${keptByAuthority('um plano ativado')} ${howToGetPlan(config)}`
}

function endedSentence(plan: WorkspacePlan, config: ContactConfig): string {
  if (plan.pausedAt !== null) return pausedSentence(plan, config)
  // The next review of the workspace does it.
  return `${reasonOf(plan)}, e a captura será pausada em até uma hora. Até lá ela ainda consulta a SEFAZ sozinha, mas não a pedido. ${whatIsSafe} ${keptByAuthority('um plano ativado')} ${howToGetPlan(config)}`
}

export const whatIsSafe =
  'Os documentos já guardados estão seguros e continuam disponíveis para consulta, impressão e exportação.'
/** Retention at the authority while capture is paused, and the remedy that resumes it. */
export function keptByAuthority(remedy: 'um plano ativado' | 'um certificado novo'): string {
  return `A SEFAZ guarda cada documento por cerca de 90 dias e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos: com ${remedy} antes disso, a captura continua de onde parou.`
}

type ContactConfig = Pick<Context['config'], 'contactEmail'>

export function howToGetPlan(config: ContactConfig): string {
  return `Para ativar um plano, ${contactOf(config)}.`
}

/** How people get a plan from us. */
export function contactOf({ contactEmail }: ContactConfig): string {
  const here = 'peça-o em "Minha conta"'
  return contactEmail === undefined ? here : `${here} ou escreva para ${contactEmail}`
}

/** Sentence beginning that names the ended trial or plan. */
export function reasonOf({ endsWith, endsAt, name }: WorkspacePlan): string {
  const at = endsAt === null ? '' : ` em ${formatBrasiliaDay(endsAt)}`
  return endsWith === 'trial' ? `O período de teste terminou${at}` : `O plano ${name} terminou${at}`
}

export function standing(plan: WorkspacePlan, config: ContactConfig): string {
  const { name, situation, paidUntil, trialUntil } = plan
  if (situation === 'active') {
    return paidUntil === null
      ? `O plano ${name} está ativo.`
      : `O plano ${name} está ativo até ${formatBrasiliaMoment(paidUntil)}.`
  }
  if (situation === 'trial')
    return `Teste grátis do plano ${name} até ${formatBrasiliaMoment(trialUntil)}. Depois, sem um plano ativo, a captura pausa e o que já foi guardado continua disponível. ${howToGetPlan(config)}`
  return endedSentence(plan, config)
}

/** Writes down whether capture is paused because neither trial nor plan lasts. `ctx.db` is a transaction inside the workspace. */
export async function notePaused({ db }: WithDatabase, workspaceId: number, paused: boolean): Promise<void> {
  await sql`
    update workspace set paused_at = ${paused ? sql<Date>`least(paused_at, ${now})` : null}
     where id = ${workspaceId}`.execute(db)
}

const operator = 'Quem administra o sistema'

/**
 * Gives a workspace a paid plan from now on, until the end of a day of São Paulo (null: without a known end). Returns whether that changed
 * anything.
 */
export async function activatePlan(
  ctx: WithConfig,
  workspaceId: number,
  { type, until }: { type: PlanType; until: string | null },
): Promise<boolean> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const before = await readPlan({ ...ctx, db }, workspaceId, { lock: true })
    const paidUntil: RawBuilder<Date | null> =
      until === null
        ? sql`null::timestamptz`
        : sql`(${until}::date + time '23:59:59.999') at time zone 'America/Sao_Paulo'`
    const paidFrom = before.situation === 'active' ? sql`paid_from` : now
    const { numAffectedRows } = await sql`
      update workspace set plan = ${type}, paid_from = ${paidFrom}, paid_until = ${paidUntil}
       where id = ${workspaceId}
         and (not ${paidLasts} or plan <> ${type} or paid_until is distinct from ${paidUntil})`.execute(db)
    if (numAffectedRows === 0n) return false
    const after = await readPlan({ ...ctx, db }, workspaceId)
    await recordAudit(
      { db },
      { workspaceId, accountName: operator },
      'plano',
      `Ativou o plano ${after.name}${untilText(after.paidUntil)}. Antes: ${standsAs(before)}.`,
    )
    return true
  })
}

/** Ends the paid plan of a workspace now; a trial goes on to its end. Returns false when no paid plan lasts. */
export async function endPlan(ctx: WithConfig, workspaceId: number): Promise<boolean> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const before = await readPlan({ ...ctx, db }, workspaceId, { lock: true })
    if (before.situation !== 'active') return false
    await db.updateTable('workspace').set({ paid_until: now }).where('id', '=', workspaceId).execute()
    const after = await readPlan({ ...ctx, db }, workspaceId)
    const goesOn =
      after.situation === 'trial' ? `: o período de teste continua até ${formatBrasiliaDay(after.trialUntil)}` : ''
    await recordAudit(
      { db },
      { workspaceId, accountName: operator },
      'plano',
      `Encerrou o plano ${before.name}${goesOn}. Antes: ${standsAs(before)}.`,
    )
    return true
  })
}

const untilText = (until: Date | null) =>
  until === null ? ', sem data de término' : ` até ${formatBrasiliaDay(until)}`

function standsAs(plan: WorkspacePlan): string {
  if (plan.situation === 'active') return `plano ${plan.name} ativo${untilText(plan.paidUntil)}`
  if (plan.situation === 'trial')
    return `período de teste do plano ${plan.name} até ${formatBrasiliaDay(plan.trialUntil)}`
  const reason = reasonOf(plan)
  return reason[0]!.toLowerCase() + reason.slice(1)
}

/** The workspace of an account, by its e-mail; null: there is no such account. */
export async function findWorkspaceOf({ db }: WithDatabase, email: string): Promise<number | null> {
  return (await findAccount({ db }, email.trim()))?.workspaceId ?? null
}
