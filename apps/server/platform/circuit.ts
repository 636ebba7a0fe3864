import { sql } from 'kysely'
import type { Context } from './context.ts'

// Five calls in a row without an answer, whoever made them; then one at a time, every sixth of an hour.
const failuresMax = 5

/** Whether a call to the host of `url` may be made now; after a pause for everybody, exactly one caller is told yes. */
export async function mayCall({ db, config }: Pick<Context, 'db' | 'config'>, url: string): Promise<boolean> {
  const { host } = new URL(url)
  const probeMs = Math.round(config.sefaz.hourMs / 6)
  const { rows } = await sql<{ closed: boolean; mine: boolean }>`
    with mine as (
      update circuit set open_until = now() + ${probeMs} * interval '1 ms'
       where host = ${host} and open_until <= now() returning host)
    select not exists (select 1 from circuit where host = ${host} and open_until is not null) as closed,
           exists (select 1 from mine) as mine`.execute(db)
  return rows[0]!.closed || rows[0]!.mine
}

/** The hosts that nobody may call now. */
export async function pausedHosts({ db }: Pick<Context, 'db'>): Promise<string[]> {
  const rows = await db.selectFrom('circuit').select('host').where('open_until', '>', sql<Date>`now()`).execute()
  return rows.map((row) => row.host)
}

/** Notes that the host of `url` answered a call. */
export async function noteAnswer({ db }: Pick<Context, 'db'>, url: string): Promise<void> {
  await sql`update circuit set failures = 0, open_until = null, since = null, reason = null
             where host = ${new URL(url).host} and (failures > 0 or open_until is not null)`.execute(db)
}

/** Notes that the host of `url` did not answer, or said that it answers nobody: then `pauseMs` says for how long. */
export async function noteFailure(
  { db, config }: Pick<Context, 'db' | 'config'>,
  url: string,
  reason: string,
  pauseMs?: number,
): Promise<void> {
  const openMs = Math.round(pauseMs ?? config.sefaz.hourMs / 6)
  const { host } = new URL(url)
  await sql`
    insert into circuit as c (host, failures, since, reason, open_until)
    values (${host}, 1, now(), ${reason}, case when ${pauseMs !== undefined} then now() + ${openMs} * interval '1 ms' end)
    on conflict (host) do update
       set failures = c.failures + 1, since = coalesce(c.since, now()), reason = excluded.reason,
           open_until = case when ${pauseMs !== undefined} or c.failures + 1 >= ${failuresMax} then now() + ${openMs} * interval '1 ms'
                             else c.open_until end`.execute(db)
}
