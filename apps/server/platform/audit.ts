import type { AuditAction } from '@vigia/contract/workspace'
import type { Context } from './context.ts'
import { searchable } from './text.ts'

/** Who did something: a session, or somebody without one. */
export interface Actor {
  workspaceId: number
  /** Absent: the operator, or somebody who could not log in. */
  accountId?: number
  accountName: string
  /** Absent: not over the network. */
  address?: string
}

/**
 * Writes down what `actor` did, in a sentence for the people of the workspace: no passwords, no keys. `ctx.db` is a transaction inside the
 * workspace, that of the deed itself wherever there is one.
 */
export async function recordDeed(
  { db }: Pick<Context, 'db'>,
  actor: Actor,
  action: AuditAction,
  description: string,
): Promise<void> {
  await db
    .insertInto('audit')
    .values({
      workspace_id: actor.workspaceId,
      account_id: actor.accountId ?? null,
      actor: actor.accountName,
      action,
      description,
      address: actor.address ?? null,
      search: searchable(`${actor.accountName} ${description}`),
    })
    .execute()
}
