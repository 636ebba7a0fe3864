import { beforeEach, describe, expect, test } from 'vitest'
import { listTroubles } from '../platform/trouble.ts'
import { skewSentence } from '../sefaz/skew.ts'
import { claimLine } from './lease.ts'
import { changeLines, newCompany, retireLines, send, told, useInstallation } from './testing.ts'
import { settle } from './turn.ts'

const dayMs = 24 * 3_600_000
const { ctx } = await useInstallation()

beforeEach(async () => {
  await retireLines(ctx)
  await newCompany(ctx)
})

describe("the authority's clock", () => {
  const troubles = async () => (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`)

  async function respond(service: 0 | 2, aheadMs: number, brasilia = false): Promise<void> {
    await changeLines(
      ctx,
      `next_at = case service when ${service} then now() end, allowed_at = now(), lease_until = null`,
    )
    const line = (await claimLine(ctx))!
    expect(line.service).toBe(service)
    const question = { after: 0n }
    await send(ctx, line, question)
    const at = Date.now() - aheadMs
    const dhResp = brasilia
      ? new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)
      : new Date(at).toISOString().replace(/\.\d+Z$/, '-00:00')
    await settle(ctx, { line, question }, told(question, 137, { dhResp }))
  }

  test('tells a wrong clock by two responses of a service in a row, until one agrees', async () => {
    await respond(0, dayMs)
    await respond(2, dayMs, true)
    expect(await troubles()).toEqual([])
    await respond(0, dayMs)
    expect(await troubles()).toEqual([expect.stringMatching(/^relogio: O relógio deste servidor está 24 h adiantado/)])
    await respond(0, -2 * 3_600_000)
    expect(await troubles()).toEqual([expect.stringMatching(/está 2 h atrasado|está 120 min atrasado/)])
    await respond(0, 1_000)
    expect(await troubles()).toEqual([])
  })

  test('is not believed when one response differs among others, nor without a time that can be read', async () => {
    for (const aheadMs of [0, dayMs, 0, dayMs, 4 * 60_000]) await respond(2, aheadMs, true)
    expect(await troubles()).toEqual([])
  })

  test('is named in words', () => {
    expect(
      [301, -7_200, 86_400, -864_000].map((seconds) => /está (.*) em relação/.exec(skewSentence(seconds))![1]),
    ).toEqual(['5 min adiantado', '2 h atrasado', '24 h adiantado', '10 dias atrasado'])
  })
})
