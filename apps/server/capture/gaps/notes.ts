import type { Family } from '@vigia/dfe/families/family'
import { familyOf } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { enterWorkspace } from '../../platform/database.ts'
import { listSubscribers } from '../delivery.ts'
import type { CaptureLine } from '../lease.ts'

const unreleased: readonly number[] = [status.summary, status.cancelled, status.denied]
// It comes by itself within minutes, or within hours when the authority is late. One that was not there yet is asked for a few times more.
const asksMax = 5

/** How long a released note may take to come by itself; null in a family whose documents always come whole. */
export const noteWaitMs = ({ summary }: Family, { sefaz }: Context['config']) =>
  summary && summary.waitHours * sefaz.hourMs

/** A released document that did not come by itself, to be asked for by chave; null where the line is not automatic. In a transaction of the capture. */
export async function findNote(
  ctx: WithConfig,
  line: Pick<CaptureLine, 'id' | 'service'>,
): Promise<{ chave: string; waitMs: number } | null> {
  const family = familyOf(line.service)
  const { summary, code } = family
  if (!summary) return null
  const { isAsked, isBehind, lastSuccessAt } = await readProgress(ctx, line)
  if (!isAsked) return null
  const asked = await listAsked(ctx, line)
  let first: { chave: string; waitMs: number } | null = null
  for (const { workspaceId, companyId, proved, paused } of await listSubscribers(ctx, line)) {
    if (!proved || paused) continue
    await enterWorkspace(ctx, workspaceId)
    const { rows } = await sql<{ chave: string; waitMs: number }>`
      select d.chave, greatest(extract(epoch from greatest(e.at, k.at) - now()) * 1000 + ${noteWaitMs(family, ctx.config)},
                                 case when ${isBehind}::boolean or e.at > ${lastSuccessAt}::timestamptz then ${ctx.config.sefaz.hourMs}::float8 end)::float8 as "waitMs"
        from document d
        cross join lateral (
          select max(registered_at) as at from document_event e
           where e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave
             and e.tp_evento = any (${[...summary.releasedBy]}::int[]) and e.rank > 0) e
        left join unnest(${asked.map(({ chave }) => chave)}::text[], ${asked.map(({ at }) => at)}::timestamptz[],
                         ${asked.map(({ isOver }) => isOver)}::boolean[]) k (chave, at, is_over) on k.chave = d.chave
       where d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.type = ${code}::int
         and not d.complete and d.roles & ${1 << summary.role}::int <> 0 and d.status <> all (${unreleased}::int[])
         -- The authority keeps a note for three months.
         and d.issued_at > now() at time zone 'UTC' - interval '120 days' and d.authorized_at > now() - interval '89 days'
         and e.at is not null and k.is_over is not true
       order by 2 limit 1`.execute(ctx.db)
    if (rows[0] && (!first || rows[0].waitMs < first.waitMs)) first = rows[0]
  }
  return first && { chave: first.chave, waitMs: Math.max(0, first.waitMs) }
}

async function readProgress({ db }: WithDatabase, line: Pick<CaptureLine, 'id'>) {
  const { rows } = await sql<{ isAsked: boolean; isBehind: boolean; lastSuccessAt: Date | null }>`
    select automatic or wanted as "isAsked", last_success_at is null or last_nsu < max_nsu as "isBehind",
           last_success_at as "lastSuccessAt" from capture_line where id = ${line.id}`.execute(db)
  return rows[0]!
}

// Queried notes: the last time, and whether it was the last allowed. Future times are of a wrong clock.
async function listAsked({ db, config }: WithConfig, line: Pick<CaptureLine, 'id'>) {
  const { rows } = await sql<{ chave: string; at: string | null; isOver: boolean }>`
    select chave, (max(at) filter (where at < now() + ${config.sefaz.hourMs} * interval '1 ms'))::text as at,
           count(*) filter (where answer in ('page', 'absent')) >= ${asksMax} or bool_or(answer = 'gone') as "isOver"
      from capture_call
     where line_id = ${line.id} and chave is not null and at > now() - interval '120 days' group by chave`.execute(db)
  return rows
}
