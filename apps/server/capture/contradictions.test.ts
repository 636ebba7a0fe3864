import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { rebuildProjection } from '../documents/documents.ts'
import { nfeProc } from '../documents/testing.ts'
import { fromNow, LeaseLost } from '../jobs/jobs.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { findRestore, noteRestore, releaseRestore } from '../platform/restore.ts'
import { nsuText } from '../platform/service.ts'
import { captureAnnouncements } from './announcements.ts'
import { readCompleteness } from './completeness.ts'
import { findPosition } from './gaps/positions.ts'
import { type CaptureLine, claimLine, claimOne, holdLine, readHeldLine, releaseLine } from './lease.ts'
import { quotaWait } from './ledger.ts'
import { noteQuery } from './query.ts'
import { settle } from './settlement.ts'
import { linesOf, newCompany, openInstallation, retireLines, rhythm, type TestContext } from './testing.ts'
import { askSoon } from './worker.ts'

// An authority that contradicts itself: nothing is lost by it, nothing is believed for good, nothing vanishes silently.

let installation: Awaited<ReturnType<typeof openInstallation>>
let ctx: TestContext
let workspaceId: number
let companyId: number
let line: CaptureLine

beforeAll(async () => {
  installation = await openInstallation()
  ctx = installation.openProcess()
})
afterAll(() => installation?.[Symbol.asyncDispose]())
beforeEach(async () => {
  await retireLines(ctx)
  ;({ workspaceId, companyId } = await newCompany(ctx))
  for (;;) {
    line = (await claimLine(ctx))!
    if (line.service === 0) break
    await releaseLine(ctx, line, null)
    await inCapture(ctx, ({ db }) =>
      db.updateTable('capture_line').set({ next_at: null }).where('id', '=', line.id).execute(),
    )
  }
})

const cnpjs = ['11222333000181', '12345678000195', '98765432000198', '00000000000191']

const docZip = (nsu: number | null, xml: string) => ({
  nsu: nsu === null ? null : nsuText(BigInt(nsu)),
  schema: 'procNFe_v4.00.xsd',
  content: gzipSync(xml),
})
const note = (nsu: number, options: Parameters<typeof nfeProc>[0] = {}) =>
  docZip(nsu, nfeProc({ number: nsu, ...options }))
const notes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => note(from + index))

function answer(cStat: number, ultNSU: bigint | number | null, documents = notes(1, 0), maxNSU = ultNSU) {
  const text = (nsu: typeof ultNSU) => (nsu === null ? null : nsuText(BigInt(nsu)))
  const response = { cStat, xMotivo: `motivo ${cStat}`, ultNSU: text(ultNSU), maxNSU: text(maxNSU), documents }
  return { response: { ...response, bytes: 1, durationMs: 1 }, durationMs: 1 }
}

async function page(...given: Parameters<typeof answer>) {
  const settled = await settle(ctx, line, { kind: 'distNSU', holder: null }, answer(...given))
  line = await readHeldLine(ctx, line)
  return settled
}
async function single(...given: Parameters<typeof answer>): Promise<bigint | null> {
  const position = await inCapture(ctx, (ctx) => findPosition(ctx, line))
  if (position === null) return null
  await settle(ctx, line, { kind: 'consNSU', position, isMissing: true }, answer(...given))
  line = await readHeldLine(ctx, line)
  return position
}
const gaps = () =>
  inCapture(ctx, async ({ db }) => {
    const rows = await db
      .selectFrom('capture_gap')
      .selectAll()
      .where('line_id', '=', line.id)
      .orderBy('from_nsu')
      .execute()
    return rows.map((row) => `${row.passed ? 'passed ' : ''}${row.lost ? 'lost ' : ''}${row.from_nsu}-${row.to_nsu}`)
  })
const told = () =>
  inCapture(ctx, async (ctx) => {
    const months = await readCompleteness(ctx, line.id)
    return months.flatMap((month) =>
      month.gaps.map(({ from, to, fetched, lost, empty, missing }) => ({ from, to, fetched, lost, empty, missing })),
    )
  })
const row = async () => (await linesOf(ctx)).find(({ id }) => id === line.id)!
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
    expect(await told()).toEqual([{ from: 6n, to: 8n, fetched: 1, lost: 0, empty: 2, missing: 0 }])
    expect((await receipts()).map(({ nsu }) => nsu)).toEqual([1n, 2n, 3n, 4n, 5n, 7n])
  })

  test('without a document (137) makes one too, also at the first contact', async () => {
    await page(137, 50)
    expect(await gaps()).toEqual(['passed 1-50'])
    await inCapture(ctx, ({ db }) => db.deleteFrom('capture_gap').where('line_id', '=', line.id).execute())
    await page(137, 500)
    expect(await gaps()).toEqual(['passed 51-500'])
    expect((await told()).at(-1)).toEqual({ from: 51n, to: 500n, fetched: 0, lost: 0, empty: 0, missing: 450 })
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
  // As earlier versions noted it.
  await inCapture(ctx, ({ db }) =>
    db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: 8n, to_nsu: 8n }).execute(),
  )
  expect([await single(137, 13), await single(137, 13)]).toEqual([8n, 6n])
  expect(await gaps()).toEqual(['passed 2-4', 'lost 6-6', 'passed 7-7', 'passed lost 8-8', 'passed 9-10'])
})

test('a gap that covers a damaged document beyond the cursor is whole', async () => {
  await page(138, 60, [...notes(51, 60), { ...note(61), content: Buffer.from('1f8b00', 'hex') }])
  expect(await gaps()).toEqual(['61-61'])
  await page(656, 80)
  expect(await gaps()).toEqual(['61-80'])
})

test('what is missing is asked for soon, although a note is to be looked for only a day later', async () => {
  await askSoon(ctx, 'nfe', line.cnpj)
  expect((await row()).gap_at!.getTime()).toBeGreaterThan(Date.now() + 23 * rhythm.hourMs)
  await page(138, 50, [...notes(1, 49), { ...note(50), content: Buffer.from('1f8b00', 'hex') }])
  expect((await row()).gap_at!.getTime()).toBeLessThan(Date.now() + rhythm.hourMs / 2)
})

test('what is missing waits as long as a query that was refused has to', async () => {
  await page(138, 50, [...notes(1, 49), { ...note(50), content: Buffer.from('1f8b00', 'hex') }])
  await single(593, 0)
  // The pause of that query, and then that of a note that is to be looked for.
  const minutesUntil = async (hours: number, from: number) => {
    await inCapture(ctx, ({ db }) => holdLine({ db }, line, { gap_at: fromNow(hours * rhythm.hourMs) }))
    await page(138, from + 9, notes(from, from + 4))
    expect(await gaps()).toContain(`passed ${from + 5}-${from + 9}`)
    return ((await row()).gap_at!.getTime() - Date.now()) / 60_000
  }
  expect(await minutesUntil(1, 51)).toBeGreaterThan(55)
  expect(await minutesUntil(24, 61)).toBeLessThan(65)
})

test('what is missing is asked for soon also when the last query was written while the clock was a day ahead', async () => {
  await page(138, 50, [...notes(1, 49), { ...note(50), content: Buffer.from('1f8b00', 'hex') }])
  await single(138, 0, [note(50)])
  await execute(
    installation.url,
    `update capture_call set at = at + interval '1 day', next_at = next_at + interval '1 day' where line_id = ${line.id};
     update capture_line set gap_at = null where id = ${line.id}`,
  )
  await page(138, 60, notes(51, 55))
  expect(await gaps()).toEqual(['passed 56-60'])
  expect((await row()).gap_at!.getTime()).toBeLessThan(Date.now() + rhythm.hourMs / 2)
})

describe('a position too far ahead', () => {
  const absurd = 999_999_999_999_999n

  test('in a block is asked for before it is believed, and forgotten when there is none', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, absurd)
    expect(line).toMatchObject({ lastNsu: 50n, doubtedNsu: absurd })
    expect((await row()).message).toMatch(
      /Ela diz estar na posição 999999999999999, muito à frente da nossa \(50\): a captura pergunta por essa posição antes de acreditar/,
    )
    expect(await told()).toEqual([])
    expect(await single(589, 0)).toBe(absurd)
    expect(await gaps()).toEqual([])
    expect(line).toMatchObject({ lastNsu: 50n, doubtedNsu: null })
    expect(await row()).toMatchObject({
      state: 'blocked',
      message: expect.stringMatching(/^A SEFAZ informou a posição 999999999999999, que ela mesma não conhece/),
    })
    await page(138, 60, notes(51, 60))
    expect(line.lastNsu).toBe(60n)
  })

  test('that exists is adopted when it is proved, and what lies between is fetched', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, 84_000)
    expect(await single(138, 0, [note(84_000)])).toBe(84_000n)
    expect(line).toMatchObject({ lastNsu: 84_000n, doubtedNsu: null })
    expect(await gaps()).toEqual(['51-83999'])
    expect(await told()).toEqual([{ from: 51n, to: 84_000n, fetched: 1, lost: 0, empty: 0, missing: 83_949 }])
    expect((await receipts()).at(-1)).toEqual({ nsu: 84_000n, problem: null })
    const { rows } = await inCapture(ctx, async ({ db }) => ({
      rows: await db
        .selectFrom('capture_subscription')
        .select('delivered_nsu')
        .where('line_id', '=', line.id)
        .execute(),
    }))
    expect(rows).toEqual([{ delivered_nsu: 84_000n }])
  })

  test('is not proved by another document, nor by nothing there, and what comes is kept', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, absurd)
    expect(await single(138, 0, [note(60)])).toBe(absurd)
    expect(line).toMatchObject({ lastNsu: 50n, doubtedNsu: absurd })
    expect((await receipts()).at(-1)!.nsu).toBe(60n)
    // Nothing for an hour: it did not bring what was asked for.
    expect(await single(137, absurd)).toBeNull()
    await settle(ctx, line, { kind: 'consNSU', position: absurd, isMissing: true }, answer(137, absurd))
    line = await readHeldLine(ctx, line)
    expect(line).toMatchObject({ lastNsu: 50n, doubtedNsu: null })
    await page(138, 61, [note(60), note(61)])
    expect((await row()).conflicts).toBe(0)
  })

  test('that is said twice is believed, unless only a slip leads there', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, 84_000)
    await page(656, 84_010)
    expect(line).toMatchObject({ lastNsu: 84_010n, doubtedNsu: null })
    expect(await gaps()).toEqual(['51-84010'])
    await page(656, absurd)
    await page(656, absurd)
    expect(line).toMatchObject({ lastNsu: 84_010n, doubtedNsu: absurd })
  })

  test('of a document is not the cursor', async () => {
    await page(138, 50, notes(1, 50))
    await page(138, absurd, [note(51), docZip(Number(absurd), nfeProc({ number: 99 }))])
    expect(line).toMatchObject({ lastNsu: 51n, doubtedNsu: absurd })
  })

  test('that is proved moves the line of the turn too', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, 84_000)
    const query = { kind: 'consNSU', position: 84_000n, isMissing: true } as const
    const settled = await settle(ctx, line, query, answer(138, 0, [note(84_000)]))
    expect(settled.line).toMatchObject({ lastNsu: 84_000n, doubtedNsu: null })
  })

  test('is forgotten when a later response tells another', async () => {
    await page(138, 50, notes(1, 50))
    await page(656, absurd)
    await page(656, 60)
    expect(line).toMatchObject({ lastNsu: 60n, doubtedNsu: null })
    expect(await gaps()).toEqual(['51-60'])
  })

  test('in a page moves the cursor only to the last document', async () => {
    await page(138, absurd, notes(1, 50))
    expect(line).toMatchObject({ lastNsu: 50n, doubtedNsu: absurd })
    expect((await page(137, absurd)).decision).toMatchObject({ nextPage: false, lastNsu: 50n })
    expect(await gaps()).toEqual([`passed ${absurd}-${absurd}`])
  })
})

describe('other bytes for a position', () => {
  test('are kept beside the first, told and counted', async () => {
    await page(138, 2, notes(1, 2))
    const amount = () =>
      inWorkspace(ctx, workspaceId, async ({ db }) => {
        const rows = await db.selectFrom('document').select('amount').where('number', '=', 2).execute()
        return rows.map((row) => row.amount)
      })
    const before = await amount()
    const altered = note(2, { amount: '9.99' })
    await page(138, 3, [altered, note(3)])
    const all = await receipts()
    expect(all.filter(({ nsu }) => nsu > 0n).map(({ nsu }) => nsu)).toEqual([1n, 2n, 3n])
    const second = {
      nsu: expect.toSatisfy((nsu: bigint) => nsu < 0n),
      problem: 'A SEFAZ entregou na posição 2 dois conteúdos diferentes; os dois estão guardados.',
    }
    expect(all[0]).toMatchObject(second)
    await rebuildProjection(ctx, { workspaceId, companyId, cnpj: line.cnpj })
    expect((await receipts())[0]).toMatchObject(second)
    expect(await amount()).toEqual(before)
    expect(await row()).toMatchObject({ conflicts: 1, conflict_at: expect.any(Date) })
    const happened = await inWorkspace(ctx, workspaceId, ({ db }) =>
      db.selectFrom('happening').select('payload').where('what', '=', 'captura-divergencia').execute(),
    )
    const chave = expect.stringMatching(/^\d{44}$/)
    expect(happened).toEqual([{ payload: { service: 'nfe', conflicts: 1, first: [{ nsu: '2', chave }] } }])
    const { body } = captureAnnouncements['captura-divergencia']!.write(
      happened.map(({ payload }) => ({ companyId, company: 'Padaria', companyPublicId: null, payload })),
    )!
    expect(body).toMatch(/\(NF-e\) de Padaria: posição 2, chave \d{44}\. Nada foi trocado nem perdido/)
    await page(138, 4, [altered, note(4)])
    expect((await row()).conflicts).toBe(1)
  })

  test('of one page are told apart, and the same document packed otherwise is the same', async () => {
    const [first] = notes(1, 1)
    const repacked = { ...first!, content: gzipSync(nfeProc({ number: 1 }), { level: 1 }) }
    await page(138, 2, [first!, repacked, note(2), note(2, { amount: '9.99' })])
    expect(await receipts()).toHaveLength(3)
    expect((await row()).conflicts).toBe(1)
    await page(138, 3, [repacked, note(3)])
    expect(await receipts()).toHaveLength(4)
  })
})

describe('after a restore', () => {
  const restore = () => inCapture(ctx, (ctx) => noteRestore(ctx, new Date('2026-11-20T12:00:00Z')))

  test('the authority is ahead because of it, and people read that', async () => {
    await page(138, 50, notes(1, 50))
    await restore()
    await page(656, 60)
    expect((await row()).message).toMatch(
      /por uma hora: o banco de dados voltou de uma cópia de segurança, e ela já tinha entregado o que veio depois\. Faltam os documentos das posições 51 a 60/,
    )
    await page(656, 70)
    expect((await row()).message).toMatch(/outro sistema consultou/)
    const months = await inCapture(ctx, (ctx) => readCompleteness(ctx, line.id))
    const causes = months[0]!.gaps.map(({ why }) => why.split(' ').slice(0, 3).join(' '))
    expect(causes).toEqual(['o banco de', 'outro sistema consultou'])
    // As processes of earlier releases noted it.
    await execute(installation.url, 'update restore set last_call_id = null')
    expect(await inCapture(ctx, (ctx) => readCompleteness(ctx, line.id))).toEqual(months)
    await releaseRestore(ctx)
  })

  test('the authority is ahead because of it also when the copy was made while the clock was a day ahead', async () => {
    await page(138, 50, notes(1, 50))
    await execute(installation.url, `update capture_call set at = at + interval '1 day' where line_id = ${line.id}`)
    await restore()
    await page(656, 60)
    expect((await row()).message).toMatch(/por uma hora: o banco de dados voltou de uma cópia de segurança/)
    await page(656, 70)
    expect((await row()).message).toMatch(/outro sistema consultou/)
    await releaseRestore(ctx)
  })

  test('nothing is asked for one by one for an hour, because what was asked in the hour before is not in the copy', async () => {
    await page(138, 50, notes(1, 50))
    const wait = () => inCapture(ctx, (ctx) => quotaWait(ctx, line))
    await execute(installation.url, 'delete from restore')
    expect(await wait()).toBe(0)
    await restore()
    expect((await wait()) / rhythm.hourMs).toBeCloseTo(1, 1)
    await execute(installation.url, "update restore set found_at = now() - interval '1 hour'")
    expect(await wait()).toBe(0)
    await releaseRestore(ctx)
  })

  test('that lacks the last pages of a process which goes on, nothing is passed over', async () => {
    await page(138, 5, notes(1, 5))
    const held = line
    await page(138, 10, notes(6, 10))
    const ahead = line
    // As a standby that lacks the last page knows it, lease and all.
    await execute(
      installation.url,
      `update capture_line set last_nsu = 5, max_nsu = 5 where id = ${line.id};
       update capture_subscription set delivered_nsu = 5 where line_id = ${line.id};
       delete from receipt where workspace_id = ${workspaceId} and nsu > 5`,
    )
    const late = settle(ctx, ahead, { kind: 'distNSU', holder: null }, answer(138, 15, notes(11, 15)))
    await expect(late).rejects.toThrow(LeaseLost)
    await expect(inCapture(ctx, (ctx) => noteQuery(ctx, ahead, { ultNSU: 10n }))).rejects.toThrow(LeaseLost)
    line = await readHeldLine(ctx, held)
    await page(656, 15)
    expect(await gaps()).toEqual(['6-15'])
  })

  test('of the data folder too is seen by nearly all companies at once', async () => {
    // Those of earlier tests were not asked lately.
    await inCapture(ctx, ({ db }) =>
      db
        .updateTable('capture_line')
        .set({ last_success_at: null, overtaken_at: null })
        .where('id', '<>', line.id)
        .execute(),
    )
    for (const cnpj of cnpjs) {
      await page(138, 50, notes(1, 50))
      await page(656, 60)
      await newCompany(ctx, { cnpj })
      await releaseLine(ctx, line, null)
      line = (await claimOne(ctx, (await linesOf(ctx, cnpj))[0]!.id))!
    }
    expect(await findRestore(ctx)).toBeNull()
    await page(138, 50, notes(1, 50))
    await page(656, 60)
    expect(await findRestore(ctx)).toMatchObject({ copyOf: null })
    await releaseRestore(ctx)
  })
})
