import { readAuthorities } from '../platform/authorities.ts'
import { pause } from '../platform/pause.ts'
import { type CaptureContext, converse } from './conversation.ts'
import { claimGap, claimLine, LeaseLost, type Line, releaseLine } from './lease.ts'
import { refill } from './refill.ts'
import { brokenOff } from './rules.ts'

// Few at once, whoever they are: the authority is shared by all companies.
const conversationsMax = 8
const idleMs = 500

/** Runs the conversations that are due, until disposed; then waits for the pages under way. */
export async function startCaptureWorker(ctx: CaptureContext): Promise<AsyncDisposable> {
  const ca = await readAuthorities(ctx.config)
  const stop = new AbortController()
  const running = new Set<Promise<void>>()
  const loop = async () => {
    while (!stop.signal.aborted) {
      if (running.size >= conversationsMax) {
        await Promise.race(running)
        continue
      }
      const claimed = await claimTurn(ctx).catch((error: unknown) => {
        ctx.log.error({ err: error }, 'no conversation could be claimed')
        return null
      })
      if (!claimed) {
        await pause(idleMs, stop.signal)
        continue
      }
      const { line, work } = claimed
      const turn: Promise<void> = work(ctx, line, ca, stop.signal)
        .catch((error: unknown) => {
          if (error instanceof LeaseLost) return ctx.log.warn({ cnpj: line.cnpj }, error.message)
          ctx.log.error({ err: error, cnpj: line.cnpj, service: line.service }, 'a conversation broke off')
          return releaseLine(ctx, line, brokenOff(line.failures, ctx.config.sefaz))
        })
        // Without a database the lease runs out by itself; then another turn begins from what was committed.
        .catch((error: unknown) => ctx.log.error({ err: error, cnpj: line.cnpj }, 'a conversation could not be let go'))
        .finally(() => running.delete(turn))
      running.add(turn)
    }
    await Promise.all(running)
  }
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}

// What is missing comes last: new documents wait for nobody.
async function claimTurn(ctx: CaptureContext): Promise<{ line: Line; work: typeof converse } | null> {
  const due = await claimLine(ctx)
  if (due) return { line: due, work: converse }
  const incomplete = await claimGap(ctx)
  return incomplete && { line: incomplete, work: refill }
}
