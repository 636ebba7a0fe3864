import type { Context } from '../platform/context.ts'
import { repeat } from './jobs.ts'
import { lookAtServers } from './reach.ts'

const lookEveryMs = 5_000

/** Has statements of `ctx.db` about all workspaces pass over servers for rows that do not respond, until disposed. */
export function watchServers(ctx: Pick<Context, 'db' | 'log'>): AsyncDisposable {
  const look = async () => {
    const away = await lookAtServers(ctx)
    if (away > 0) ctx.log.warn({ away }, 'servers for rows do not respond: the work of their workspaces waits')
  }
  return repeat(lookEveryMs, look, ctx.log)
}
