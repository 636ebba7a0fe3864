import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { enterWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { reconnect } from './session-ends.ts'

// A person may be in many workspaces, with an account in each. One of these is their home, where their password, passkeys, second factor and links
// are: docs/decisions/0040-members.md.

/** An account: what a person is in one workspace. */
export type Place = Pick<Session, 'workspaceId' | 'accountId'>

/** Workspaces that a person can be in. */
export const placesMax = 50

/** Session in its person's home, for their own data. */
export function atHome<S extends Pick<Session, 'home'>>(session: S): S & Place {
  return { ...session, ...session.home }
}

/** All accounts of a person, the one at home first. `ctx.db` is a transaction inside the home. */
export async function placesOf({ db }: WithDatabase, { workspaceId, accountId }: Place): Promise<Place[]> {
  const { rows: elsewhere } = await sql<{ workspaceId: number; accountId: number }>`
    select workspace_id as "workspaceId", account_id as "accountId" from membership
     where home_workspace_id = ${workspaceId} and home_account_id = ${accountId} order by workspace_id`.execute(db)
  return [{ workspaceId, accountId }, ...elsewhere]
}

/** Does `work` in each workspace of a person; `ctx.db` is a transaction inside the home, and is there again afterwards. */
export async function inEachPlace(
  ctx: WithDatabase,
  home: Place,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const [here, ...elsewhere] = await placesOf(ctx, home)
  await work(here!)
  for (const place of elsewhere) {
    await enterWorkspace(ctx, place.workspaceId)
    await work(place)
  }
  if (elsewhere.length > 0) await enterWorkspace(ctx, home.workspaceId)
}

/** Has all open pages of a person judged anew. `ctx.db` is a transaction inside the home. */
export async function reconnectPagesOf(ctx: WithDatabase, home: Place): Promise<void> {
  await inEachPlace(ctx, home, ({ workspaceId, accountId }) => reconnect(ctx, workspaceId, accountId))
}

/** Home of an account: itself, or another one. `ctx.db` is a transaction inside its workspace. */
export async function homeOf({ db }: WithDatabase, { workspaceId, accountId }: Place): Promise<Place> {
  const { rows } = await sql<{ home_workspace_id: number | null; home_account_id: number | null }>`
    select home_workspace_id, home_account_id from account
     where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
  const row = rows[0]
  if (!row) throw new AppError('not-found', 'Esta pessoa não está mais no workspace.')
  return row.home_workspace_id === null || row.home_account_id === null
    ? { workspaceId, accountId }
    : { workspaceId: row.home_workspace_id, accountId: row.home_account_id }
}
