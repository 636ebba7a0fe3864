import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { arrive, chaveOf, evento, nfeProc, resNFe } from '../../documents/testing.ts'
import { inCapture, inWorkspace } from '../../platform/database.ts'
import { queriesAnHour, quotaWait } from '../../sefaz/ledger.ts'
import { askSoon } from '../capture.ts'
import { deliverLate } from '../delivery.ts'
import { type CaptureLine, claimLine, claimOne } from '../lease.ts'
import { newCompany, retireLines, rowOf, send, told, useInstallation } from '../testing.ts'
import { settle, settleInterrupted } from '../turn.ts'
import { findNote } from './notes.ts'
import { planMissing } from './positions.ts'

const { ctx } = await useInstallation()
let workspaceId: number
let companyId: number
let line: CaptureLine

beforeEach(async () => {
  await retireLines(ctx)
  ;({ workspaceId, companyId } = await newCompany(ctx))
  line = (await claimLine(ctx))!
  await change('automatic = true, last_success_at = now()')
})

const change = (set: string) =>
  inCapture(ctx, ({ db }) => sql`update capture_line set ${sql.raw(set)} where id = ${line.id}`.execute(db))
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
const issuedAt = hoursAgo(72)
const ciencia = 210210
const summary = resNFe({ issuedAt })
const deliver = (...xmls: string[]) =>
  inCapture(ctx, (ctx) =>
    deliverLate(
      ctx,
      line,
      xmls.map((xml, index) => arrive(index + 1, xml)),
    ),
  )
const find = () => inCapture(ctx, (ctx) => findNote(ctx, line))
const plan = () => inCapture(ctx, (ctx) => planMissing(ctx, line))
const question = { note: chaveOf() }
const answer = (cStat: number, documents: { nsu: string | null; schema: string; content: Buffer }[] = []) =>
  settle(ctx, { line, question }, told(question, cStat, { documents }))
// The ledger cannot be changed afterwards.
const askedBefore = (hours: number, answer: 'absent' | 'page' | 'gone' | 'down' | 'lost' = 'absent') =>
  inCapture(ctx, ({ db }) =>
    sql`insert into capture_call (line_id, query, answer, chave, nsu_before, nsu_after, at)
        values (${line.id}, 'note', ${answer}, ${chaveOf()}, 0, 0, ${hoursAgo(hours)}::timestamptz)`.execute(db),
  )
const isComplete = () =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { complete } = await db
      .selectFrom('document')
      .select('complete')
      .where('workspace_id', '=', workspaceId)
      .where('company_id', '=', companyId)
      .executeTakeFirstOrThrow()
    return complete
  })

describe('a note that its company has answered, and of which only the summary came', () => {
  test.each([ciencia, 210200, 210240])('is asked for by chave a day after %i', async (tpEvento) => {
    await deliver(summary, evento(tpEvento, { at: hoursAgo(25) }))
    expect(await find()).toEqual({ chave: chaveOf(), waitMs: 0 })
    expect(await plan()).toEqual({ question: { note: chaveOf() }, waitMs: 0 })
  })

  test('is not asked for while what the authority announced since has not come, nor for a line that nobody asks for', async () => {
    await deliver(summary, evento(ciencia, { at: hoursAgo(25) }))
    for (const set of ["last_success_at = now() - interval '26 hours'", 'last_success_at = now(), max_nsu = 9']) {
      await change(set)
      expect(await find()).toEqual({ chave: chaveOf(), waitMs: 3_600_000 })
    }
    await change('max_nsu = 0, automatic = false')
    expect(await find()).toBeNull()
  })

  test('takes turns with missing positions', async () => {
    await deliver(summary, evento(ciencia, { at: hoursAgo(60) }))
    await inCapture(ctx, ({ db }) =>
      db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: 7n, to_nsu: 9n }).execute(),
    )
    expect((await plan()).question).toEqual({ note: chaveOf() })
    await askedBefore(30)
    expect((await plan()).question).toEqual({ at: 9n })
  })

  test('may take a day to come by itself', async () => {
    await deliver(summary, evento(ciencia, { at: hoursAgo(1) }))
    const { waitMs } = (await find())!
    expect(waitMs).toBeGreaterThan(22 * 3_600_000)
    const planned = await plan()
    expect(planned.question).toBeNull()
    expect(planned.waitMs).toBeLessThanOrEqual(waitMs)
  })

  test('is asked for once a day, five times in all', async () => {
    await deliver(summary, evento(ciencia, { at: hoursAgo(60) }))
    for (const day of [4, 3, 2]) await askedBefore(24 * day)
    expect((await find())?.waitMs).toBe(0)
    await askedBefore(1)
    expect((await find())?.waitMs).toBeGreaterThan(22 * 3_600_000)
    for (const answer of ['down', 'lost'] as const) await askedBefore(26, answer)
    expect(await find()).not.toBeNull()
    await askedBefore(25, 'page')
    expect(await find()).toBeNull()
  })

  test('is not asked for again after a final refusal', async () => {
    await deliver(summary, evento(ciencia, { at: hoursAgo(60) }))
    await askedBefore(30, 'gone')
    expect(await find()).toBeNull()
  })

  test.each([
    ['the whole note is here', nfeProc({ issuedAt }), evento(ciencia, { at: hoursAgo(25) })],
    ['nobody has answered it', summary, resNFe({ issuedAt, number: 2 })],
    ['the answer was Desconhecimento', summary, evento(210220, { at: hoursAgo(25) })],
    ['it was cancelled', summary, evento(ciencia, { at: hoursAgo(25) }), evento(110111, { at: hoursAgo(24) })],
    ['it is of another time', resNFe({ issuedAt: hoursAgo(91 * 24) }), evento(ciencia, { at: hoursAgo(90 * 24) })],
  ])('is not asked for when %s', async (_, ...xmls) => {
    await deliver(...xmls)
    expect(await find()).toBeNull()
  })
})

test('the answer makes the note complete, with an NSU or without one, and counts in the hour', async () => {
  await deliver(summary, evento(ciencia, { at: hoursAgo(25) }))
  await answer(138, [{ nsu: null, schema: 'procNFe_v4.00.xsd', content: gzipSync(nfeProc({ issuedAt })) }])
  expect(await isComplete()).toBe(true)
  expect(await find()).toBeNull()
  for (let n = 1; n < queriesAnHour; n++) await askedBefore(0.1)
  expect(await inCapture(ctx, (ctx) => quotaWait(ctx, line))).toBeGreaterThan(0)
})

test('what was asked while the clock was ahead holds nothing up', async () => {
  await deliver(summary, evento(ciencia, { at: hoursAgo(60) }))
  await inCapture(ctx, async ({ db }) => {
    await db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: 7n, to_nsu: 7n }).execute()
    await sql`insert into capture_call (line_id, query, answer, nsu_before, nsu_after, at)
              values (${line.id}, 'position', 'lost', 7, 7, ${hoursAgo(-48)}::timestamptz)`.execute(db)
  })
  for (let n = 0; n < queriesAnHour; n++) await askedBefore(-48, 'lost')
  expect(await find()).toEqual({ chave: chaveOf(), waitMs: 0 })
  expect(await plan()).toEqual({ question: { at: 7n }, waitMs: 0 })
})

test('a query that a process left behind counts as one by chave', async () => {
  await deliver(summary, evento(ciencia, { at: hoursAgo(25) }))
  await send(ctx, line, question)
  await change("lease_until = now() - interval '1 second'")
  await settleInterrupted(ctx, (await claimOne(ctx, line.id))!)
  const calls = await inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_call').select(['query', 'chave', 'error']).where('line_id', '=', line.id).execute(),
  )
  expect(calls).toEqual([{ query: 'note', chave: chaveOf(), error: expect.stringMatching(/^interrupted/) }])
  expect((await find())?.waitMs).toBeGreaterThan(0)
})

test('an event that was registered has its note looked for a day later, whether or not the line goes on by itself', async () => {
  await inCapture(ctx, ({ db }) =>
    sql`update capture_line set next_at = null, gap_at = null where id = ${line.id}`.execute(db),
  )
  await askSoon(ctx, 'nfe', line.cnpj)
  const row = await rowOf(ctx, line)
  expect(row.next_at).toBeNull()
  expect(row.gapIn).toBeGreaterThan(23 * 60)
})
