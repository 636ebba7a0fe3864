import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { ciencia, conclusive, nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import * as captures from '../capture/capture.ts'
import type { CapturesOfCertificates } from '../companies/registration.ts'
import { isShown, readShown } from '../companies/switches.ts'
import { dueUntil } from '../documents/due.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture, inWorkspace, readWorkspace } from '../platform/database.ts'
import { announce } from '../platform/outbox.ts'
import type { Withheld } from './announcements.ts'
import { certificateCodes } from './protocols/outcome.ts'
import { lockRequests } from './request.ts'
import {
  type AnswerRule,
  decide,
  isJudgedOrLate,
  isSuspect,
  readAnswerRules,
  reasonOf,
  recipient,
  sends,
} from './rules.ts'
import { refreshDocuments } from './settle.ts'

// Answers of the destinatário, and cancellations.
const decisive = [ciencia, ...conclusive, 110111, 110112]
// Final refusals (NT 2020.001): deadline, not the destinatário, repetition, cancelled note, answered note.
const definitive = [575, 594, 596, 650, 655]
// Time for the sending, and for clocks that differ.
const reserveHours = 1

/** Queues the Ciência of the summaries of a company that a rule or its switch wants, once a day after a passing refusal. Returns how many. */
export async function acknowledgePending(
  ctx: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  companyId: number,
): Promise<number> {
  const queued = await inCapture({ db: ctx.db }, async ({ db }) => {
    await enterWorkspace({ db }, workspaceId)
    const { rows: companies } = await sql<{ cnpj: string; since: Date | null; name: string | null }>`
      select c.cnpj, c.acknowledges_since as since, ${nameOfAuthor(workspaceId, 'c.acknowledges_by')} as name
        from company c
       where c.workspace_id = ${workspaceId} and c.id = ${companyId} and c.active`.execute(db)
    const [company] = companies
    if (!company || !((await readShown({ db }, workspaceId, companyId)).nfe & recipient)) return 0
    const { cnpj, since, name } = company
    const rules = await readAnswerRules({ db }, workspaceId)
    if (!since && !rules.some(({ ativa, resposta }) => ativa && sends(resposta))) return 0
    await lockRequests({ db }, workspaceId)
    const by = name === null ? '' : ` por ${name}`
    const why = since && `Ciência automática, ligada em ${formatBrasiliaMoment(since)}${by}.`
    return queueCiencias({ db }, { workspaceId, companyId, cnpj, why, rules })
  })
  if (queued > 0) ctx.log.info({ workspaceId, companyId, queued }, 'automatic ciência')
  return queued
}

interface CienciaQueue {
  workspaceId: number
  companyId: number
  cnpj: string
  /** Text on who wants the Ciência where no rule decides; null: no one does. */
  why: string | null
  rules: readonly AnswerRule[]
}

async function queueCiencias({ db }: WithDatabase, queue: CienciaQueue): Promise<number> {
  const { workspaceId, companyId, cnpj, why, rules } = queue
  // A note is authorised thirty days after its emission at the latest.
  const { rows: queued } = await sql<{ documentId: bigint }>`
    with released as materialized (
    select d.workspace_id, d.company_id, d.id, d.type, ${cnpj}::text as cnpj, d.chave, ${ciencia}::int as tp_evento, 1 as sequence,
           'Na fila de envio à SEFAZ.' as message, coalesce((${rules.map(reasonOf)}::text[])[r.rule + 1], ${why}::text) as why,
           (${rules.map(({ id }) => id)}::bigint[])[r.rule + 1] as rule_id
      from document d
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      cross join lateral (${decide(workspaceId, rules, sql`${why !== null}::boolean`)}) r
     where r.leaves and d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.type = ${nfe.code}::int
       and d.status = ${status.summary}::int and d.base_status = ${status.summary}::int and not d.complete and d.roles & ${recipient}::int <> 0
       and d.issued_at > now() at time zone 'UTC' - interval '60 days'
       -- Neither trial nor plan lasts: nothing is answered by itself.
       and exists (select 1 from workspace w where w.id = ${workspaceId} and w.paused_at is null)
       and d.answer_due = ${ciencia}::int and d.answer_due_at > now() + ${reserveHours} * interval '1 hour'
       and not exists (select 1 from document_event e
                        where e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave
                          and e.tp_evento = any (${decisive}::int[]) and e.rank > 0)
       and not exists (select 1 from outgoing_event o
                        where o.workspace_id = ${workspaceId} and o.company_id = d.company_id and o.chave = d.chave
                          -- Answers that wait for a second person do not count, and the approver wants to read the note.
                          and (o.state not in ('rejected', 'asked') and o.tp_evento = any (${conclusive}::int[])
                               or o.tp_evento = ${ciencia}::int
                                  and (o.state <> 'rejected' or o.c_stat = any (${definitive}::int[]) or o.answered_at > now() - interval '1 day')))
       -- A document in doubt waits for a person, and one that was not looked at yet waits for that.
       and ${isJudgedOrLate} and not ${isSuspect}
     -- Earliest deadlines leave first.
     order by d.answer_due_at, d.id)
    insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, message, why, rule_id)
    select * from released on conflict do nothing returning document_id as "documentId"`.execute(db)
  await refreshDocuments({ db }, workspaceId, queued)
  return queued.length
}

// The term is ten days; a person is told on the seventh.
const toldHours = 3 * 24
const toldMax = 50

/** Tells people of each note, once, whose automatic Ciência an alert holds back and which has three days left to be answered. */
export async function tellWithheld(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    const answerRules = await readAnswerRules({ db }, workspaceId)
    const { rows: found } = await sql<Withheld & { id: bigint; companyId: number }>`
      select d.id, d.company_id as "companyId", d.chave, d.number::float8 as number, s.name as issuer
        from document d
        join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id and c.active and ${isShown(workspaceId, 'd', sql`${recipient}::int`)}
        join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
        cross join lateral (${decide(workspaceId, answerRules, sql`(c.acknowledges_since is not null)`)}) r
       where ${dueUntil(workspaceId, nfe.code, new Date(Date.now() + toldHours * 3_600_000))} and d.answer_due = ${ciencia}
         and d.status = ${status.summary}::int and d.roles & ${recipient}::int <> 0
         and r.leaves and ${isSuspect}
         and exists (select from workspace w where w.id = ${workspaceId} and w.paused_at is null)
         and not exists (select from notice n where n.workspace_id = ${workspaceId} and n.key = 'ciencia-retida:' || d.id)
       order by d.authorized_at, d.id limit ${toldMax}`.execute(db)
    for (const { id, companyId, ...payload } of found) {
      const { rows: first } = await sql`
        insert into notice (workspace_id, key) values (${workspaceId}, ${`ciencia-retida:${id}`}) on conflict do nothing
         returning key`.execute(db)
      if (first.length > 0) await announce({ db }, workspaceId, { what: 'ciencia-retida', companyId, payload })
    }
  })
}

/** Followers of a new certificate: the captures of its base, and the events of the base that wait for one. */
export const certificateFollowers: CapturesOfCertificates = {
  subscribe: captures.subscribe,
  async resume(ctx, workspaceId, cnpj, options) {
    await captures.resume(ctx, workspaceId, cnpj, options)
    await inWorkspace(ctx, workspaceId, ({ db }) =>
      // Skip locked: a row that another transaction is writing will be tried soon anyway.
      sql`update outgoing_event set next_at = now()
           where workspace_id = ${workspaceId} and id in (
             select id from outgoing_event
              where workspace_id = ${workspaceId} and left(cnpj, 8) = ${cnpjBase(cnpj)} and state in ('waiting', 'sending') and lease_by is null
                and next_at > now() and (c_stat is null or c_stat = any (${certificateCodes}::int[]))
                for update skip locked)`.execute(db),
    )
  },
}

/** How many notes of each company still wait for their complete document because an automatic Ciência was refused in the last 30 days. */
export async function countRefusedCiencias(ctx: WithDatabase, workspaceId: number): Promise<Map<number, number>> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ companyId: number; n: number }>`
      select o.company_id as "companyId", count(distinct o.document_id)::int as n
        from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
       where o.workspace_id = ${workspaceId} and o.state = 'rejected' and o.requested_by is null
         and o.answered_at > now() - interval '30 days' and d.status = ${status.summary}::int
       group by o.company_id`.execute(db),
  )
  return new Map(rows.map(({ companyId, n }) => [companyId, n]))
}
