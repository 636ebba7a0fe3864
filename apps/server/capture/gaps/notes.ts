import { sql } from 'kysely'
import { ciencia, conclusive } from '../../documents/documents.ts'
import type { Context } from '../../platform/context.ts'
import { enterWorkspace } from '../../platform/database.ts'
import { serviceCodes } from '../../platform/service.ts'
import { listSubscribers } from '../delivery.ts'
import type { CaptureLine } from '../lease.ts'
import { finalRefusals } from '../rules.ts'

type NoteContext = Pick<Context, 'db' | 'config'>

// Desconhecimento does not release the note (NT 2014.002).
const releasing = [ciencia, ...conclusive.filter((tpEvento) => tpEvento !== 210220)]
const recipient = 1 << 1
const [cancelled, denied] = [3, 9]
// It comes by itself within minutes, or within hours when the authority is late. One that was not there yet is asked for a few times more.
const waitHours = 24
const asksMax = 5

/** How long a released note may take to come by itself. */
export const noteWaitMs = ({ sefaz }: Context['config']) => waitHours * sefaz.hourMs

/**
 * The note to ask for by chave, and in how many milliseconds: the company has answered it, which releases it, and yet only its summary is here. Null
 * when there is none. A CT-e cannot be asked for in this way. `ctx.db` is a transaction of the capture.
 */
export async function findNote(
  ctx: NoteContext,
  line: Pick<CaptureLine, 'id' | 'service'>,
): Promise<{ chave: string; waitMs: number } | null> {
  if (line.service !== serviceCodes.nfe) return null
  let first: { chave: string; waitMs: number } | null = null
  for (const { workspaceId, companyId, proved, paused } of await listSubscribers(ctx, line)) {
    if (!proved || paused) continue
    await enterWorkspace(ctx, workspaceId)
    const { rows } = await sql<{ chave: string; waitMs: number }>`
      select d.chave, (extract(epoch from greatest(e.at, k.at) - now()) * 1000 + ${noteWaitMs(ctx.config)})::float8 as "waitMs"
        from document d
        cross join lateral (
          select max(registered_at) as at from document_event e
           where e.workspace_id = d.workspace_id and e.company_id = d.company_id and e.chave = d.chave
             and e.tp_evento = any (${releasing}::int[]) and e.rank > 0) e
        cross join lateral (
          select max(at) as at, count(*) as n, coalesce(bool_or(c_stat = any (${finalRefusals}::int[])), false) as is_over
            from capture_call k where k.line_id = ${line.id} and k.chave = d.chave) k
       where d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.type = ${serviceCodes.nfe}::int
         and not d.complete and d.roles & ${recipient}::int <> 0 and d.status <> all (${[cancelled, denied]}::int[])
         -- The authority keeps a note for three months.
         and d.issued_at > now() at time zone 'UTC' - interval '120 days' and d.authorized_at > now() - interval '89 days'
         and e.at is not null and k.n < ${asksMax} and not k.is_over
       order by 2 limit 1`.execute(ctx.db)
    if (rows[0] && (!first || rows[0].waitMs < first.waitMs)) first = rows[0]
  }
  return first && { chave: first.chave, waitMs: Math.max(0, first.waitMs) }
}
