import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { rebuildProjection } from '../documents/rebuild.ts'
import { nfeProc, resNFe } from '../documents/testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { prepareInstallation } from '../platform/installation.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { nsuText } from '../platform/service.ts'
import { quotaWait } from '../sefaz/ledger.ts'
import { askSoon, requestSync } from './capture.ts'
import { readCompleteness } from './completeness.ts'
import { findPosition } from './gaps/positions.ts'
import { type CaptureLine, changeLine, claimLine, lockHeldLine, releaseLine } from './lease.ts'
import type { Question } from './source.ts'
import { gapsOf, holdAgain, newCompany, retireLines, rhythm, rowOf, send, told, useInstallation } from './testing.ts'
import { settle } from './turn.ts'
import { listStopped } from './wake.ts'

// An authority that contradicts itself: nothing is lost by it.

const { url, ctx } = await useInstallation()
let workspaceId: number
let companyId: number
let line: CaptureLine

beforeEach(async () => {
  await retireLines(ctx)
  ;({ workspaceId, companyId } = await newCompany(ctx))
  for (;;) {
    line = (await claimLine(ctx))!
    if (line.service === 0) break
    await releaseLine(ctx, line)
    await inCapture(ctx, ({ db }) =>
      db.updateTable('capture_line').set({ next_at: null }).where('id', '=', line.id).execute(),
    )
  }
})

const docZip = (nsu: number | null, xml: string) => ({
  nsu: nsu === null ? null : nsuText(BigInt(nsu)),
  schema: 'procNFe_v4.00.xsd',
  content: gzipSync(xml),
})
const note = (nsu: number, options: Parameters<typeof nfeProc>[0] = {}) =>
  docZip(nsu, nfeProc({ number: nsu, ...options }))
const notes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => note(from + index))

type Given = [cStat: number, ult: bigint | number | null, documents?: ReturnType<typeof docZip>[]]

// The line is held anew, as a turn does that goes on.
const reread = (held = line) => inCapture(ctx, (ctx) => lockHeldLine(ctx, held))
const settleWith = (question: Question, [cStat, ult, documents = []]: Given, held = line) =>
  settle(ctx, { line: held, question }, told(question, cStat, { ult, documents }), goesOn)
const goesOn = { holder: null, isEnding: false, mayTryOther: false, mayAskMore: true }

async function page(...given: Given): Promise<void> {
  await settleWith({ after: line.lastNsu }, given)
  await takeAgain()
}
async function single(...given: Given): Promise<bigint | null> {
  const position = await inCapture(ctx, (ctx) => findPosition(ctx, line))
  if (position === null) return null
  await settleWith({ at: position }, given)
  await takeAgain()
  return position
}
// The answer that ends a turn releases the line.
async function takeAgain(): Promise<void> {
  await holdAgain(ctx, line)
  line = await reread()
}
const gaps = () => gapsOf(ctx, line)
const gapsTold = () =>
  inCapture(ctx, async (ctx) => {
    const months = await readCompleteness(ctx, line.id)
    return months.flatMap((month) =>
      month.gaps.map(({ from, to, fetched, lost, empty, missing }) => ({ from, to, fetched, lost, empty, missing })),
    )
  })
const row = () => rowOf(ctx, line)
const receipts = () =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('receipt')
      .select(['nsu', 'problem'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('nsu')
      .execute(),
  )

describe('a response that passes over positions', () => {
  test('after its last document makes a gap: what is there comes, what is empty is not lost', async () => {
    await page(138, 8, notes(1, 5))
    expect(await gaps()).toEqual(['passed 6-8'])
    expect([await single(137, 8), await single(138, 8, [note(7)]), await single(137, 8), await single(137, 8)]).toEqual(
      [8n, 7n, 6n, null],
    )
    expect(await gapsTold()).toEqual([{ from: 6n, to: 8n, fetched: 1, lost: 0, empty: 2, missing: 0 }])
    expect((await receipts()).map(({ nsu }) => nsu)).toEqual([1n, 2n, 3n, 4n, 5n, 7n])
  })

  test('without a document (137) makes one too, also at the first contact', async () => {
    await page(137, 50)
    expect(await gaps()).toEqual(['passed 1-50'])
    await inCapture(ctx, ({ db }) => db.deleteFrom('capture_gap').where('line_id', '=', line.id).execute())
    await page(137, 500)
    expect(await gaps()).toEqual(['passed 51-500'])
    expect((await gapsTold()).at(-1)).toEqual({ from: 51n, to: 500n, fetched: 0, lost: 0, empty: 0, missing: 450 })
    const months = await inCapture(ctx, (ctx) => readCompleteness(ctx, line.id))
    expect(months[0]).toMatchObject({ passedOver: 0 })
    expect(months[0]!.gaps[0]!.why).toBe('a SEFAZ avançou sem entregar o que havia nestas posições (motivo 137)')
  })
})

test('passed positions are asked for one by one, after those that are known to be missing', async () => {
  await page(138, 50, notes(1, 50))
  await page(656, 60)
  await page(137, 100)
  expect(await gaps()).toEqual(['51-60', 'passed 61-100'])
  const asked = []
  for (let at: bigint | null = 0n; at !== null; ) {
    at = await single(137, 100)
    if (at !== null) asked.push(Number(at))
  }
  const downTo = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index)
  expect(asked).toEqual([...downTo(60, 51), ...downTo(100, 61)])
  expect(await gaps()).toEqual(['lost 51-60', 'passed lost 61-100'])
})

test('a damaged document of a position that was passed over is asked for before the others, and whatever comes of it is noted', async () => {
  const damaged = (nsu: number) => ({ ...note(nsu), content: Buffer.from('1f8b00', 'hex') })
  await page(138, 10, [note(1)])
  await page(138, 11, [damaged(5), note(11)])
  await page(138, 12, [damaged(6), note(12)])
  expect(await gaps()).toEqual(['passed 2-4', '5-5', '6-6', 'passed 7-10'])
  expect([await single(137, 12), await single(138, 12, [note(5)])]).toEqual([6n, 5n])
  expect(await gaps()).toEqual(['passed 2-4', 'lost 6-6', 'passed 7-10'])
  // It was there after all.
  await page(138, 13, [damaged(6), note(13)])
  expect(await gaps()).toEqual(['passed 2-4', '6-6', 'passed 7-10'])
})

test('a gap that covers a damaged document beyond the cursor is whole', async () => {
  await page(138, 60, [...notes(51, 60), { ...note(61), content: Buffer.from('1f8b00', 'hex') }])
  expect(await gaps()).toEqual(['61-61'])
  await page(656, 80)
  expect(await gaps()).toEqual(['61-80'])
})

test('what is missing is asked for within the hour, although a note is to be looked for only a day later', async () => {
  await askSoon(ctx, 'nfe', line.cnpj)
  expect((await row()).gap_at!.getTime()).toBeGreaterThan(Date.now() + 23 * rhythm.hourMs)
  await page(138, 50, [...notes(1, 49), { ...note(50), content: Buffer.from('1f8b00', 'hex') }])
  expect((await row()).gap_at!.getTime()).toBeLessThan(Date.now() + 1.1 * rhythm.hourMs)
})

test('what is missing waits as long as a query that was refused has to', async () => {
  await page(138, 50, [...notes(1, 49), { ...note(50), content: Buffer.from('1f8b00', 'hex') }])
  await single(593, 0)
  // The pause of that query, and then that of a note that is to be looked for.
  const minutesUntil = async (hours: number, from: number) => {
    await inCapture(ctx, ({ db }) => changeLine({ db }, line, { gap_at: fromNow(hours * rhythm.hourMs) }))
    await page(138, from + 9, notes(from, from + 4))
    expect(await gaps()).toContain(`passed ${from + 5}-${from + 9}`)
    return ((await row()).gap_at!.getTime() - Date.now()) / 60_000
  }
  expect(await minutesUntil(1, 51)).toBeGreaterThan(55)
  expect(await minutesUntil(24, 61)).toBeLessThan(65)
})

test('a summary that came damaged and then whole is still listed after a rebuild', async () => {
  const summary = docZip(2, resNFe({ number: 2 }))
  await page(138, 2, [note(1), { ...summary, content: Buffer.from('1f8b00', 'hex') }])
  expect(await single(138, 0, [{ ...summary, nsu: null }])).toBe(2n)
  const list = () =>
    inWorkspace(ctx, workspaceId, ({ db }) =>
      db.selectFrom('document').select(['nsu', 'number']).orderBy('number').execute(),
    )
  const before = await list()
  expect(before.map(({ number }) => number)).toEqual([1n, 2n])
  await rebuildProjection(ctx, { workspaceId, companyId, cnpj: line.cnpj })
  expect(await list()).toEqual(before)
})

describe('a position that cannot be true', () => {
  const absurd = 999_999_999_999_999n
  const stopped =
    /^A SEFAZ informou a posição 999999999999999, impossível .* da nossa \((\d+)\)\. A captura parou para nada ser pulado/

  test.each([656, 137])('in a response %i stops the line until a person asks, and only that far', async (cStat) => {
    await page(138, 50, notes(1, 50))
    for (let times = 0; times < 2; times++) {
      await page(cStat, absurd)
      expect(line).toMatchObject({ lastNsu: 50n, wanted: false })
      expect(await row()).toMatchObject({ state: 'stopped', next_at: null, message: expect.stringMatching(stopped) })
      expect(await gaps()).toEqual([])
      const [nfe] = await requestSync(ctx, workspaceId, companyId)
      expect(nfe!.at!.getTime()).toBeGreaterThan(Date.now() + rhythm.hourMs)
    }
    expect(await listStopped(ctx)).toEqual([{ cStat, xMotivo: `motivo ${cStat}`, lines: 1, ofCustomer: false }])
    await page(138, 60, notes(51, 60))
    expect(await row()).toMatchObject({ last_nsu: 60n, state: 'waiting' })
  })

  test('after a page, which is stored, stops the line behind its last document', async () => {
    await page(138, absurd, [...notes(1, 50), docZip(Number(absurd), nfeProc({ number: 99 }))])
    expect(await row()).toMatchObject({ last_nsu: 50n, state: 'stopped', message: expect.stringMatching(stopped) })
    expect(await receipts()).toHaveLength(51)
  })
})

test('other bytes for a position are kept beside the first, once', async () => {
  const amount = () =>
    inWorkspace(ctx, workspaceId, async ({ db }) => {
      const rows = await db.selectFrom('document').select('amount').where('number', '=', 2n).execute()
      return rows.map((row) => row.amount)
    })
  const altered = note(2, { amount: '9.99' })
  const repacked = { ...note(1), content: gzipSync(nfeProc({ number: 1 }), { level: 1 }) }
  await page(138, 2, [...notes(1, 2), repacked])
  const before = await amount()
  const logged = vi.spyOn(ctx.log, 'error')
  await page(138, 3, [altered, note(3), repacked, altered])
  expect(logged.mock.calls.map(([, text]) => text)).toContain('the authority gave other bytes for a position')
  await page(138, 4, [altered, note(4), note(4, { amount: '9.99' })])
  expect((await receipts()).map(({ nsu }) => (nsu < 0n ? 0n : nsu))).toEqual([0n, 0n, 1n, 2n, 3n, 4n])
  await rebuildProjection(ctx, { workspaceId, companyId, cnpj: line.cnpj })
  expect(await amount()).toEqual(before)
})

describe('after a restore', () => {
  test('nothing is asked for one by one for an hour, because what was asked in the hour before is not in the copy', async () => {
    await page(138, 50, notes(1, 50))
    const wait = () => inCapture(ctx, (ctx) => quotaWait(ctx, line))
    expect(await wait()).toBe(0)
    await prepareInstallation(url, 'simulado')
    await execute(url, 'update installation set restored_at = now()')
    expect((await wait()) / rhythm.hourMs).toBeCloseTo(1, 1)
    await execute(url, "update installation set restored_at = now() - interval '1 hour'")
    expect(await wait()).toBe(0)
  })

  test('the first block is not only put down to another system', async () => {
    await page(138, 5, notes(1, 5))
    await prepareInstallation(url, 'simulado')
    await execute(url, 'update installation set restored_at = now()')
    await page(656, 9)
    expect((await row()).message).toMatch(/: o sistema voltou de uma cópia de segurança, ou outro .* posições 6 a 9/)
    await page(656, 12)
    expect((await row()).message).toMatch(/: outro sistema consultou/)
    const months = await inCapture(ctx, (ctx) => readCompleteness(ctx, line.id))
    expect(months.flatMap(({ gaps }) => gaps.map(({ why }) => why))).toEqual([
      'o sistema voltou de uma cópia de segurança, ou outro sistema consultou com este certificado (motivo 656)',
      'outro sistema consultou com este certificado (motivo 656)',
    ])
  })

  test('that lacks the last pages of a process which goes on, nothing is passed over', async () => {
    await page(138, 5, notes(1, 5))
    const held = line
    await page(138, 10, notes(6, 10))
    const ahead = line
    // As a standby that lacks the last page knows it, lease and all.
    await execute(
      url,
      `update capture_line set last_nsu = 5, max_nsu = 5 where id = ${line.id};
       update capture_subscription set delivered_nsu = 5 where line_id = ${line.id};
       delete from receipt where workspace_id = ${workspaceId} and nsu > 5`,
    )
    const late = settleWith({ after: 10n }, [138, 15, notes(11, 15)], ahead)
    await expect(late).rejects.toThrow(LeaseLost)
    await expect(send(ctx, ahead, { after: 10n })).rejects.toThrow(LeaseLost)
    line = await reread(held)
    await page(656, 15)
    expect(await gaps()).toEqual(['6-15'])
  })
})
