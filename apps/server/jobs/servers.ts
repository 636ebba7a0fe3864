import type { Context } from '../platform/context.ts'
import { repeat } from './jobs.ts'
import { type BeforeBack, lookAtServers } from './reach.ts'

const lookEveryMs = 5_000

/** Has statements of `ctx.db` about all workspaces pass over servers for rows that do not respond, until disposed. `beforeBack`: see `lookAtServers`. */
export function watchServers(ctx: Pick<Context, 'db' | 'log'>, beforeBack?: BeforeBack): AsyncDisposable {
  const look = async () => {
    const away = await lookAtServers(ctx, beforeBack)
    if (away > 0) ctx.log.warn({ away }, 'servers for rows do not respond: the work of their workspaces waits')
  }
  return repeat(lookEveryMs, look, ctx.log)
}
