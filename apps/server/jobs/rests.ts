import { watchClock } from '../platform/clock.ts'
import type { Context } from '../platform/context.ts'
import { repeat } from './jobs.ts'

const lookEveryMs = 30_000

/** Watches the clock of the database for what rests between jobs, until disposed: `move` as in `watchClock`. */
export function watchRests(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  subject: string,
  move: Parameters<typeof watchClock>[1],
): AsyncDisposable {
  const clock = watchClock(subject, move)
  return repeat(lookEveryMs, async () => void (await clock.claim(ctx, async () => null)), ctx.log)
}
