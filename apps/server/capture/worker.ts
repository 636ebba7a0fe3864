import { readFile } from 'node:fs/promises'
import { pause } from '../platform/pause.ts'
import { type CaptureContext, converse } from './conversation.ts'
import { claimLine, LeaseLost } from './lease.ts'

// Few at once, whoever they are: the authority is shared by all companies.
const conversationsMax = 8
const idleMs = 500

/** Runs the conversations that are due, until disposed; then waits for the pages under way. */
export async function startCaptureWorker(ctx: CaptureContext): Promise<AsyncDisposable> {
  const ca = await Promise.all(ctx.config.sefaz.caFiles.map((file) => readFile(file, 'utf8')))
  const stop = new AbortController()
  const running = new Set<Promise<void>>()
  const loop = async () => {
    while (!stop.signal.aborted) {
      if (running.size >= conversationsMax) {
        await Promise.race(running)
        continue
      }
      const line = await claimLine(ctx).catch((error: unknown) => {
        ctx.log.error({ err: error }, 'no conversation could be claimed')
        return null
      })
      if (!line) {
        await pause(idleMs, stop.signal)
        continue
      }
      const turn: Promise<void> = converse(ctx, line, ca, stop.signal)
        .catch((error: unknown) => {
          // The lease runs out by itself; then another turn begins from what was committed.
          if (error instanceof LeaseLost) ctx.log.warn({ cnpj: line.cnpj }, error.message)
          else ctx.log.error({ err: error, cnpj: line.cnpj, service: line.service }, 'a conversation broke off')
        })
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
