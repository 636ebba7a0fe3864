import { recordRead } from '../accounts/audit/audit.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Caller } from '../platform/http/session.ts'

/** Writes down that somebody took a file out. A failure is only logged, because the file may be needed on the road right now. */
export async function noteRead(
  ctx: Pick<Context, 'db' | 'log'>,
  reader: Parameters<typeof recordRead>[1],
  caller: Pick<Caller, 'isHead'>,
  description: string,
): Promise<void> {
  try {
    await inWorkspace(ctx, reader.workspaceId, ({ db }) => recordRead({ db }, reader, caller, description))
  } catch (err) {
    ctx.log.error({ err, workspaceId: reader.workspaceId }, 'a read was not written into the audit')
  }
}
