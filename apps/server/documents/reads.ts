import { recordAudit } from '../audit/audit.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'

/**
 * Writes down that somebody took a file out of the product. When that fails they get the file all the same, because it may be needed on the
 * road right now; the log tells it.
 */
export async function noteRead(
  ctx: Pick<Context, 'db' | 'log'>,
  reader: Parameters<typeof recordAudit>[1],
  description: string,
): Promise<void> {
  try {
    await inWorkspace(ctx, reader.workspaceId, ({ db }) => recordAudit({ db }, reader, 'leitura', description))
  } catch (err) {
    ctx.log.error({ err, workspaceId: reader.workspaceId }, 'a read was not written into the audit')
  }
}
