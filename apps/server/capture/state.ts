import { families } from '@vigia/dfe/families/all'
import { sql } from 'kysely'
import { noneAccepted } from '../companies/certificates.ts'
import { getCompany, listCompanies } from '../companies/companies.ts'
import { isShown } from '../companies/switches.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { lateMinutes, type ServiceCode, waitMinutesMax } from '../platform/service.ts'
import { countUnreadable } from './unreadable.ts'

// As many as fifteen digits can name. Of the positions that are lost, those of the time that the authority keeps anything.
const gapsOfLine = sql<{ missing: number; passed: number; lost: number }>`(
  select coalesce(sum(to_nsu - from_nsu + 1) filter (where not lost and not passed), 0)::float8 as missing,
         coalesce(sum(to_nsu - from_nsu + 1) filter (where not lost and passed), 0)::float8 as passed,
         coalesce(sum(to_nsu - from_nsu + 1) filter (where lost and not passed and found_at > now() - interval '90 days'), 0)::float8 as lost
    from capture_gap where line_id = l.id)`

/** The captures of companies as people may know them; `db` is inside the workspace. Tables of capture and workspaces are never joined. */
export async function readCaptureStates(db: Context['db'], workspaceId: number, companyId?: number) {
  const lines = await readLines(db, workspaceId, companyId)
  const unreadable = await countUnreadable({ db }, workspaceId, companyId ?? null)
  // While it is paused, as it was before: what others receive meanwhile is not shown.
  const own = await readOwnPositions(
    db,
    workspaceId,
    lines.filter(({ paused }) => paused),
  )
  return lines.map((line) => ({
    ...line,
    ...own.get(line),
    unread: unreadable.find((one) => one.companyId === line.company_id && one.service === line.service)?.unread ?? 0,
  }))
}

// A line that is up to date asks again within this time. One that a person woke may have stood still for longer.
const due = sql`case when l.state = 'waiting' and not l.wanted and l.next_at > now()
  then least(greatest(l.next_at, l.allowed_at), l.last_success_at + ${waitMinutesMax} * interval '1 minute')
  else greatest(l.next_at, l.allowed_at) end`

/** The companies whose captures are paused, with the whole workspace or because they are archived, and since when. */
export async function readPauses(db: Context['db'], workspaceId: number): Promise<{ id: number; since: Date }[]> {
  const { rows } = await sql<{ id: number; since: Date }>`
    select c.id, least(w.paused_at, c.archived_at) as since from workspace w join company c on c.workspace_id = w.id
     where w.id = ${workspaceId} and least(w.paused_at, c.archived_at) is not null`.execute(db)
  return rows
}

async function readLines(db: Context['db'], workspaceId: number, companyId?: number) {
  const pauses = await readPauses(db, workspaceId)
  const pausedAt = sql`(select p.since from unnest(${pauses.map(({ id }) => id)}::int[], ${pauses.map(({ since }) => since)}::timestamptz[]) p (id, since)
    where p.id = s.company_id)`
  const successBefore = sql`(select k.at from capture_call k
    where k.line_id = l.id and k.query = 'page' and k.answer in ('page', 'end') and k.at <= ${pausedAt}
    order by k.id desc limit 1)`
  const query = db
    .selectFrom('capture_subscription as s')
    .innerJoin('capture_line as l', 'l.id', 's.line_id')
    .innerJoinLateral(gapsOfLine.as('g'), (join) => join.onTrue())
    .select(['s.company_id', 's.refused', 's.last_failure', 's.paused', 'g.missing', 'g.passed', 'g.lost'])
    .select(['l.state', 'l.failures', 'l.next_at', 'l.wanted', 'l.last_nsu', 'l.max_nsu'])
    .select([
      sql<ServiceCode>`l.service`.as('service'),
      sql<Date | null>`case when s.paused then ${successBefore} else l.last_success_at end`.as('last_success_at'),
      // Many workspaces share a line; what is wrong with a certificate is shown to its owner only.
      sql<string>`case when l.message = ${noneAccepted}::text then coalesce(s.refused, l.message) else l.message end`.as(
        'message',
      ),
      sql<boolean>`coalesce(l.lease_until > now(), false)`.as('leased'),
      // When the query should have been made; null: it is not late.
      sql<Date | null>`case when l.next_at is not null and ${due} < now() - ${lateMinutes} * interval '1 minute' then ${due} end`.as(
        'late_since',
      ),
      sql<boolean>`s.proved_at is not null`.as('proved'),
    ])
    .where('s.workspace_id', '=', workspaceId)
    .orderBy('l.service')
  return (companyId === undefined ? query : query.where('s.company_id', '=', companyId)).execute()
}

// The highest NSU that each company received itself.
async function readOwnPositions<Line extends { company_id: number; service: ServiceCode }>(
  db: Context['db'],
  workspaceId: number,
  lines: readonly Line[],
) {
  const [companies, services] = [lines.map((line) => line.company_id), lines.map((line) => line.service)]
  const { rows } = await sql<{ nsu: bigint }>`
    select greatest((select max(r.nsu) from receipt r
                      where r.workspace_id = ${workspaceId} and r.company_id = k.company_id and r.service = k.service), 0) as nsu
      from unnest(${companies}::int[], ${services}::smallint[]) with ordinality k (company_id, service, place)
     order by k.place`.execute(db)
  return new Map(lines.map((line, index) => [line, { last_nsu: rows[index]!.nsu, max_nsu: rows[index]!.nsu }]))
}

export async function listCapturedCompanies(ctx: WithDatabase, workspaceId: number, text: string | undefined) {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const companies = await listCompanies({ db }, workspaceId, text)
    const documents = await countMonth({ db }, workspaceId)
    const lines = Map.groupBy(await readCaptureStates(db, workspaceId), (line) => line.company_id)
    return companies.map((company) => ({
      ...company,
      documents: documents.get(company.id) ?? 0,
      lines: lines.get(company.id) ?? [],
    }))
  })
}

export async function getCapturedCompany(ctx: WithDatabase, workspaceId: number, publicId: string) {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const company = await getCompany({ db }, workspaceId, publicId)
    return { ...company, lines: await readCaptureStates(db, workspaceId, company.id) }
  })
}

// Issued in this month of São Paulo, without what the companies hide.
async function countMonth({ db }: WithDatabase, workspaceId: number): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; n: number }>`
    select m.company_id as id, sum(m.n)::int as n
      from count_month m
     where m.workspace_id = ${workspaceId} and m.type = any (${families.map(({ code }) => code)}::int[])
       and m.month = date_trunc('month', now() at time zone 'America/Sao_Paulo')::date and ${isShown(workspaceId, 'm')}
     group by m.company_id`.execute(db)
  return new Map(rows.map(({ id, n }) => [id, n]))
}
