import { inCapture } from '../platform/database.ts'
import type { CaptureContext } from './conversation.ts'
import { fromNow, holdLine, type Line, releaseLine, withoutAnswer } from './lease.ts'
import { noteCall, wasAnswerLost } from './ledger.ts'
import { findMissing } from './missing.ts'
import { afterLostRefill } from './refill.ts'
import { interrupted } from './rules.ts'

/** Settles a query whose process died before it wrote what came of it: nothing is asked, and the answer counts as lost. */
export async function recover(ctx: CaptureContext, line: Line): Promise<void> {
  const elapsedMs = Math.max(0, line.askedMsAgo ?? 0)
  const query = line.askedForGap ? 'consNSU' : 'distNSU'
  ctx.log.warn({ cnpj: line.cnpj, service: line.service, query }, 'a query was interrupted')
  const outcome = { error: 'interrupted', durationMs: elapsedMs } as const
  await inCapture(ctx, async (ctx) => {
    if (line.askedForGap) {
      const position = (await findMissing(ctx, line)) ?? line.lastNsu
      const waitMs = afterLostRefill(ctx)
      await holdLine(ctx, line, { asked_at: null, gap_at: fromNow(waitMs) })
      await noteCall(ctx, line, { query, before: position, after: position, outcome, nextInMs: waitMs })
      return
    }
    const standing = { ...line, answerLost: await wasAnswerLost(ctx, line) }
    const decision = interrupted(standing, elapsedMs, ctx.config.sefaz)
    await holdLine(ctx, line, { asked_at: null, ...withoutAnswer(decision) })
    const { nextInMs, allowedInMs } = decision
    await noteCall(ctx, line, { query, before: line.lastNsu, after: line.lastNsu, outcome, nextInMs, allowedInMs })
  })
  await releaseLine(ctx, line, null)
}
