import type { RouteDefinition } from '@vigia/contract/route'
import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { type Limit, mayTry } from '../../platform/http/throttle.ts'

// Calls that change something, of a key: what comes after these is counted like reading.
const eachByItself: Limit = { name: 'chamadas de uma chave na auditoria', times: 100, withinMs: 3_600_000 }

/**
 * Writes down that a key called `route`: what changes something as an entry of the audit, the first hundred times within an hour; everything else as
 * a count, which becomes an entry when its hour is over.
 */
export async function noteCall(
  { db }: WithDatabase,
  key: Session,
  { method, path }: Pick<RouteDefinition, 'method' | 'path'>,
  wasLetIn: boolean,
): Promise<void> {
  const { workspaceId, accountId: id, address = '' } = key
  const call = `${method} ${path}`
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await sql`
      update api_key set used_at = now()
       where workspace_id = ${workspaceId} and id = ${id}
       and (used_at is null or used_at <= now() - interval '1 hour')`.execute(db)
    if (wasLetIn && method !== 'GET' && (await mayTry({ db }, eachByItself, `${workspaceId}/${id}`)))
      return recordAudit({ db }, key, 'chave', `Chamou ${call}.`)
    const times = wasLetIn ? 1 : 0
    await sql`
      insert into api_key_use as u (workspace_id, key_id, hour, call, times, refused, address)
      values (${workspaceId}, ${id}, date_trunc('hour', now()), ${call}, ${times}, ${1 - times}, ${address})
      on conflict (workspace_id, key_id, hour, call) do update
         set times = u.times + excluded.times, refused = u.refused + excluded.refused, address = excluded.address`.execute(
      db,
    )
  })
}

/** Makes entries of the audit of the counts of hours that are over. */
export async function recordUses(ctx: Pick<Context, 'db' | 'log'>): Promise<void> {
  const { rows: due } = await asOperator(ctx, ({ db }) =>
    sql<{ id: number }>`
      select distinct workspace_id as id from api_key_use where hour < date_trunc('hour', now())
       order by 1`.execute(db),
  )
  for (const { id: workspaceId } of due)
    await recordUsesOf(ctx, workspaceId).catch((err: unknown) =>
      ctx.log.error({ err, workspaceId }, 'the uses of the keys of a workspace could not be written down yet'),
    )
}

async function recordUsesOf(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Use>`
        with over as (delete from api_key_use where workspace_id = ${workspaceId} and hour < date_trunc('hour', now()) returning *)
        select o.key_id as "keyId", k.author, o.hour, o.call, o.times, o.refused, o.address
          from over o join api_key k on k.workspace_id = ${workspaceId} and k.id = o.key_id
         order by o.hour, o.key_id desc, o.call`.execute(db)
    for (const use of rows) {
      const { keyId: accountId, author: accountName, address } = use
      await recordAudit({ db }, { workspaceId, accountId, accountName, address }, 'chave', sentenceOf(use))
    }
  })
}

interface Use {
  keyId: number
  author: string
  hour: Date
  call: string
  times: number
  refused: number
  address: string
}

function sentenceOf({ hour, call, times, refused }: Use): string {
  const from = `na hora a partir de ${formatBrasiliaMoment(hour)}`
  const counts = [
    ...(times > 0 ? [formatCount(times, 'vez', 'vezes')] : []),
    ...(refused > 0 ? [`${formatCount(refused, 'vez', 'vezes')} sem ter a permissão (chamada recusada)`] : []),
  ]
  return `Chamou ${call} ${counts.join(' e ')}, ${from}.`
}
