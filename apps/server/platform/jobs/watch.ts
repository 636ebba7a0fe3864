import type { Context } from '../context.ts'
import { endTrouble, noteTrouble, type TroubleKey } from '../trouble.ts'
import { repeat } from './loop.ts'

const everyMs = 10_000
// Failed checks before the alarm: a process that begins, or begins again after a kill, responds within a second or two.
const looksMin = 2

/** Repeats `check` until disposed; notes trouble with `sentence` for the operator while it fails. */
export function watch(
  ctx: Pick<Context, 'db' | 'log'>,
  key: TroubleKey,
  sentence: string,
  check: () => Promise<unknown>,
): AsyncDisposable {
  let missed = 0
  return repeat(
    everyMs,
    async () => {
      const problem = await check().then(
        () => null,
        (error: unknown) => error,
      )
      missed = problem ? missed + 1 : 0
      if (missed >= looksMin) {
        ctx.log.error({ err: problem }, `${key}: it does not respond as it should`)
        await noteTrouble(ctx, key, sentence)
      } else if (missed === 0) await endTrouble(ctx, key)
    },
    ctx.log,
  )
}
