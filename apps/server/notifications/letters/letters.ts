import type { AlertLetters, DeadlineLetters } from '@vigia/contract/letters'
import { writeBrasiliaTime } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { isWrittenTo } from '../../accounts/email-proof.ts'
import { moveMonth } from '../../insights/reports/sums.ts'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { readMonthly } from './monthly.ts'

// Letters about alerts, deadlines and reports: docs/decisions/0046-letters.md.

/** Letters that a person chose. */
export interface Choice {
  alerts: AlertLetters
  deadlines: DeadlineLetters
}

type Person = Pick<Session, 'workspaceId' | 'accountId'>

interface Kept {
  accountId: number
  email: string
  role: Session['role']
  /** Null: all. */
  companies: number[] | null
  alerts: AlertLetters | null
  deadlines: DeadlineLetters | null
  criticalAt: Date | null
  digestId: bigint
  digestAt: Date | null
  deadlinesAt: Date | null
  reportsAt: Date | null
  /** Until there the grave ones were written of, or are no news. */
  criticalId: bigint
  /** Time of the first critical alert that no letter has told of; null: there is none. */
  criticalSince: Date | null
  /** The last news of the workspace; 0: there is none. */
  newest: bigint
}

/** Roles that answer for the documents get critical alerts by default; `leitura` has to choose them. */
function choiceOf({ role, alerts, deadlines }: Pick<Kept, 'role' | 'alerts' | 'deadlines'>): Choice {
  const answers = role === 'administrador' || role === 'fiscal'
  return { alerts: alerts ?? (answers ? 'criticos' : 'nenhum'), deadlines: deadlines ?? 'nenhum' }
}

export const wantsCritical = ({ alerts }: Choice) => alerts === 'criticos' || alerts === 'criticos-e-resumo'
export const wantsDigest = ({ alerts }: Choice) => alerts === 'resumo' || alerts === 'criticos-e-resumo'

const hourMs = 3_600_000
// Alerts within this time are gathered in one letter.
const gatherMs = 2 * 60_000
// Minimum time between two such letters.
const pauseMs = 15 * 60_000
// Older alerts are in the list, and are no news any more.
const criticalMs = 24 * hourMs
// The next digest tells it better. Letters of alerts are useful as long as they are tried: no other tells of the same.
const deadlinesMs = 20 * hourMs
const reportsMs = 7 * 24 * hourMs

/** Next 07:00 in São Paulo (UTC-3 since 2019) after `now`; `weekly`: of a Monday. */
export function nextMorning(now: Date, { weekly = false } = {}): Date {
  const next = new Date(now)
  next.setUTCHours(10, 0, 0, 0)
  while (next <= now || (weekly && next.getUTCDay() !== 1)) next.setUTCDate(next.getUTCDate() + 1)
  return next
}

/** Seven o'clock in São Paulo on the first day of a month, the next after `now`. */
function nextFirst(now: Date): Date {
  const next = nextMorning(now)
  while (next.getUTCDate() !== 1) next.setUTCDate(next.getUTCDate() + 1)
  return next
}

// Between midnight and seven o'clock in São Paulo.
const isNight = (now: Date) => now.getUTCHours() >= 3 && now.getUTCHours() < 10

// People of a workspace who may be written to, with what they chose; `which` chooses among accounts `a`.
async function readPeople(
  { db, config }: WithConfig,
  workspaceId: number,
  now: Date,
  which: RawBuilder<unknown>,
): Promise<Kept[]> {
  const { rows } = await sql<Kept>`
    select a.id as "accountId", a.email, a.role,
           case when not a.all_companies then array(select m.company_id from account_company m
                                                     where m.workspace_id = ${workspaceId}::int and m.account_id = a.id order by 1) end as companies,
           c.alerts, c.deadlines, c.critical_at as "criticalAt", c.digest_at as "digestAt", c.deadlines_at as "deadlinesAt", c.reports_at as "reportsAt",
           coalesce(c.digest_id, 0) as "digestId", greatest(c.critical_id, old.id, 0) as "criticalId",
           coalesce((select max(n.id) from alert_news n where n.workspace_id = ${workspaceId}), 0) as newest,
           (select min(n.at) from alert_news n where n.workspace_id = ${workspaceId} and n.band = 3 and n.id > greatest(c.critical_id, old.id, 0)) as "criticalSince"
      from account a left join letter_choice c on c.workspace_id = a.workspace_id and c.account_id = a.id
           left join lateral (select n.id from alert_news n
                               where n.workspace_id = ${workspaceId} and n.at <= greatest(a.created_at, ${now}::timestamptz - ${criticalMs} * interval '1 ms')
                               order by n.id desc limit 1) old on true
     where a.workspace_id = ${workspaceId} and ${isWrittenTo({ config })} and not a.shared
       and (a.access_until is null or a.access_until > ${now}::timestamptz)
       -- Workspaces that are to be erased send no letters.
       and exists (select from workspace w where w.id = a.workspace_id and w.erase_at is null)
       and ${which}
     order by a.id`.execute(db)
  return rows
}

interface Due {
  critical: boolean
  digest: boolean
  deadlines: boolean
  reports: boolean
  /** When something is due next; null: when there is news. */
  nextAt: Date | null
}

function dueOf(person: Kept, now: Date): Due {
  const choice = choiceOf(person)
  const { criticalSince, criticalAt, digestAt, deadlinesAt, reportsAt } = person
  const criticalDue =
    wantsCritical(choice) && criticalSince
      ? new Date(Math.max(criticalSince.getTime() + gatherMs, (criticalAt?.getTime() ?? 0) + pauseMs))
      : null
  // Letters that are due at night wait for the morning.
  const awake = (time: Date | null) => (time && time <= now && isNight(now) ? nextMorning(now) : time)
  const times = [
    criticalDue,
    wantsDigest(choice) ? awake(digestAt) : null,
    choice.deadlines === 'nenhum' ? null : awake(deadlinesAt),
    awake(reportsAt),
  ]
  const [critical = false, digest = false, deadlines = false, reports = false] = times.map(
    (time) => time !== null && time <= now,
  )
  const after = times.filter((time) => time !== null && time > now).map((time) => time!.getTime())
  return { critical, digest, deadlines, reports, nextAt: after.length > 0 ? new Date(Math.min(...after)) : null }
}

/** Subject of a letter, as its row stores it. */
export const LetterPayload = z.object({
  accountId: z.int(),
  /** Range of `alert_news`. */
  after: z.string().transform(BigInt).optional(),
  upTo: z.string().transform(BigInt).optional(),
  /** Id of `monthly_report`, and the month (`aaaa-MM`) of the report. */
  report: z.object({ id: z.int(), month: z.string() }).optional(),
})

/** Queues the letters of a workspace that are due. */
export const lettersJob: JobKind = {
  name: 'letters',
  concurrency: 1,
  run: async (ctx, { workspaceId }) => {
    const now = new Date()
    const next = await queueLetters(ctx, workspaceId!, now)
    return { waitMs: next.getTime() - now.getTime() }
  },
}

/**
 * Queues the letters that are due at `now` in a workspace. Returns when to look again: the next morning at the latest, because nothing tells when a
 * person may be mailed again. A letter and its mark are written in one transaction, so concurrent runs queue it once.
 */
export async function queueLetters(ctx: WithConfig, workspaceId: number, now: Date): Promise<Date> {
  const people = await readWorkspace(ctx, workspaceId, (ctx) => readPeople(ctx, workspaceId, now, sql`true`))
  let next = nextMorning(now)
  for (const person of people) {
    let { nextAt, critical, digest, deadlines, reports } = dueOf(person, now)
    if (critical || digest || deadlines || reports) nextAt = await queueFor(ctx, { workspaceId, ...person }, now)
    if (nextAt && nextAt < next) next = nextAt
  }
  return next
}

async function queueFor(ctx: WithConfig, { workspaceId, accountId }: Person, now: Date): Promise<Date | null> {
  return inWorkspace({ db: ctx.db, config: ctx.config }, workspaceId, async (ctx) => {
    const person = await lockPerson(ctx, { workspaceId, accountId }, now)
    if (!person) return null
    const due = dueOf(person, now)
    const { newest, criticalId, digestId, email } = person
    const queue = (kind: string, range: Omit<z.input<typeof LetterPayload>, 'accountId'>, usefulMs?: number) =>
      queueMail(ctx, { workspaceId, kind, recipient: email, payload: { accountId, ...range }, usefulMs })
    const changes: Partial<
      Record<'critical_id' | 'digest_id', bigint> &
        Record<'critical_at' | 'digest_at' | 'deadlines_at' | 'reports_at', Date>
    > = {}
    if (due.critical) {
      await queue('alertas-criticos', { after: String(criticalId), upTo: String(newest) })
      Object.assign(changes, { critical_id: newest, critical_at: now })
    }
    if (due.digest) {
      if (newest > digestId) await queue('resumo-alertas', { after: String(digestId), upTo: String(newest) })
      Object.assign(changes, { digest_id: newest, digest_at: nextMorning(now) })
    }
    if (due.deadlines) {
      const weekly = choiceOf(person).deadlines === 'semanal'
      await queue('resumo-prazos', {}, deadlinesMs)
      Object.assign(changes, { deadlines_at: nextMorning(now, { weekly }) })
    }
    if (due.reports) {
      const month = moveMonth(writeBrasiliaTime(now).slice(0, 7), -1)
      for (const { id } of await readMonthly(ctx, { workspaceId, accountId }))
        await queue('relatorio-mensal', { report: { id, month } }, reportsMs)
      Object.assign(changes, { reports_at: nextFirst(now) })
    }
    if (Object.keys(changes).length > 0)
      await ctx.db
        .updateTable('letter_choice')
        .set(changes)
        .where('workspace_id', '=', workspaceId)
        .where('account_id', '=', accountId)
        .execute()
    const [after] = await readPeople(ctx, workspaceId, now, sql`a.id = ${accountId}`)
    return after ? dueOf(after, now).nextAt : null
  })
}

// The person, with the own row locked. `ctx.db` is a transaction inside the workspace.
async function lockPerson(ctx: WithConfig, { workspaceId, accountId }: Person, now: Date): Promise<Kept | undefined> {
  await sql`
    insert into letter_choice (workspace_id, account_id) select workspace_id, id from account where workspace_id = ${workspaceId} and id = ${accountId}
    on conflict do nothing`.execute(ctx.db)
  await sql`
    select from letter_choice where workspace_id = ${workspaceId} and account_id = ${accountId} for update`.execute(
    ctx.db,
  )
  return (await readPeople(ctx, workspaceId, now, sql`a.id = ${accountId}`))[0]
}

/** Has a person written of their reports from the next first day of a month on, or, without one, no longer. `ctx.db` is a transaction inside the workspace. */
export async function scheduleReports(
  { db }: WithDatabase,
  { workspaceId, accountId }: Person,
  now: Date,
): Promise<void> {
  const { rows } = await sql`
    select from monthly_report where workspace_id = ${workspaceId} and account_id = ${accountId} limit 1`.execute(db)
  const at = rows.length > 0 ? nextFirst(now) : null
  await sql`
    insert into letter_choice (workspace_id, account_id, reports_at) values (${workspaceId}, ${accountId}, ${at})
    on conflict (workspace_id, account_id) do update
       set reports_at = case when excluded.reports_at is not null then coalesce(letter_choice.reports_at, excluded.reports_at) end`.execute(
    db,
  )
  await queueJob({ db }, { kind: 'letters', workspaceId })
}

/** Letters that the person of a session receives. `ctx.db` is inside the workspace. */
export async function readChoice(
  { db }: WithDatabase,
  { workspaceId, accountId, role }: Person & Pick<Session, 'role'>,
): Promise<Choice> {
  const row = await db
    .selectFrom('letter_choice')
    .select(['alerts', 'deadlines'])
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return choiceOf({ role, alerts: row?.alerts ?? null, deadlines: row?.deadlines ?? null })
}

/**
 * Stores the given part of a choice; the rest keeps the default. Digests begin with later news.
 * Returns the previous choice; null: no such account. `ctx.db` is a transaction in the workspace.
 */
export async function keepChoice(
  { db }: WithDatabase,
  { workspaceId, accountId }: Person,
  change: Partial<Choice>,
  now: Date,
): Promise<Choice | null> {
  await sql`
    insert into letter_choice (workspace_id, account_id) select workspace_id, id from account where workspace_id = ${workspaceId} and id = ${accountId}
    on conflict do nothing`.execute(db)
  const { rows } = await sql<
    Omit<Kept, 'email' | 'companies' | 'criticalSince' | 'accountId' | 'criticalAt' | 'reportsAt'>
  >`
    select a.role, c.alerts, c.deadlines, c.digest_at as "digestAt", c.deadlines_at as "deadlinesAt", c.digest_id as "digestId", c.critical_id as "criticalId",
           coalesce((select max(n.id) from alert_news n where n.workspace_id = ${workspaceId}), 0) as newest
      from letter_choice c join account a on a.workspace_id = c.workspace_id and a.id = c.account_id
     where c.workspace_id = ${workspaceId} and c.account_id = ${accountId} for update of c`.execute(db)
  const [row] = rows
  if (!row) return null
  const before = choiceOf(row)
  const { alerts, deadlines } = change
  const after = { alerts: alerts ?? before.alerts, deadlines: deadlines ?? before.deadlines }
  const { newest, criticalId, digestId, digestAt, deadlinesAt } = row
  await db
    .updateTable('letter_choice')
    .set({
      alerts: alerts ?? row.alerts,
      deadlines: deadlines ?? row.deadlines,
      critical_id: wantsCritical(before) ? criticalId : newest,
      digest_id: wantsDigest(before) ? digestId : newest,
      digest_at: wantsDigest(after) ? ((wantsDigest(before) ? digestAt : null) ?? nextMorning(now)) : null,
      deadlines_at:
        after.deadlines === 'nenhum'
          ? null
          : ((after.deadlines === before.deadlines ? deadlinesAt : null) ??
            nextMorning(now, { weekly: after.deadlines === 'semanal' })),
    })
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .execute()
  await queueJob({ db }, { kind: 'letters', workspaceId })
  return before
}

/** Reader of a letter, as of the moment when it leaves. */
export interface Reader {
  choice: Choice
  /** Null: all. */
  companies: number[] | null
}

/** The person to whom a letter was queued, if they may be written to still, at the same address. `ctx.db` is inside the workspace. */
export async function findReader(
  ctx: WithConfig,
  { workspaceId, accountId }: Person,
  recipient: string,
): Promise<Reader | null> {
  const [person] = await readPeople(ctx, workspaceId, new Date(), sql`a.id = ${accountId} and a.email = ${recipient}`)
  return person ? { choice: choiceOf(person), companies: person.companies } : null
}
