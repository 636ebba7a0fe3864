import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { Connection } from '@vigia/sefaz/connection'
import { SefazError, UnsentError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { noteCall, type QueryKind, quotaWait, wasResponseLost } from '../sefaz/ledger.ts'
import { askSoon, followSwitch, requestSync } from './capture.ts'
import { findCertificate, noteCertificateOnLine } from './certificate.ts'
import { readCompleteness } from './completeness.ts'
import { type CaptureLine, changeLine, claimLine, claimOne, lockLine, releaseLine } from './lease.ts'
import { lostTo } from './sources/lost.ts'
import * as testing from './testing.ts'
import {
  addCertificate,
  changeAfter,
  changeAfterCode,
  countWaiting,
  newCompany,
  ours,
  retireLines,
  rhythm,
  send,
  type TestContext,
  told,
  useInstallation,
} from './testing.ts'
import { ask, breakTurn, settle, settleInterrupted, settleSurely } from './turn.ts'

// Two processes of one installation.
const { url, ctx, openProcess } = await useInstallation()
const other = openProcess()

beforeEach(() => retireLines(ctx))

const upToDate = () => changeAfterCode(137)
const more = () => changeAfterCode(138, { ult: 50, max: 5_000 })
const timeout = () => changeAfter(lostTo(new SefazError('timeout'), 1))

const cnpjOf = (index: number) => {
  const body = `${String(10_000_000 + index)}0001`
  return body + cnpjCheckDigits(body)
}

async function claimed(count: number, from = ctx): Promise<CaptureLine[]> {
  const lines = await Promise.all(Array.from({ length: count }, (_, index) => claimLine(index % 2 ? from : other)))
  return lines.filter((line) => line !== null)
}

async function nfeLine(): Promise<CaptureLine> {
  const [first, second] = [await claimLine(ctx), await claimLine(ctx)]
  const [nfe, cte] = first!.service === 0 ? [first!, second!] : [second!, first!]
  await releaseLine(ctx, cte, upToDate())
  return nfe
}

// The process with the line is gone, and its lease has run out.
const die = (line: CaptureLine, minutesAgo = 3) =>
  inCapture(ctx, ({ db }) =>
    sql`update capture_line set lease_until = now() - interval '1 second',
               asked_at = asked_at - ${minutesAgo} * interval '1 minute', gap_at = gap_at - ${minutesAgo} * interval '1 minute'
         where id = ${line.id}`.execute(db),
  )

const rowOf = (line: Pick<CaptureLine, 'id'>) => testing.rowOf(ctx, line)

const change = (line: Pick<CaptureLine, 'id'>, set: Parameters<typeof changeLine>[2]) =>
  inCapture(ctx, ({ db }) => db.updateTable('capture_line').set(set).where('id', '=', line.id).execute())

const callsOf = (line: Pick<CaptureLine, 'id'>) =>
  inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_call').selectAll().where('line_id', '=', line.id).orderBy('id').execute(),
  )

const addGap = (line: Pick<CaptureLine, 'id'>, from: bigint, to: bigint, lost = false) =>
  inCapture(ctx, async ({ db }) => {
    await db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: from, to_nsu: to, lost }).execute()
    await sql`update capture_line set gap_at = now() where id = ${line.id}`.execute(db)
  })

const inTransaction = <T>(work: (ctx: TestContext) => Promise<T>) => inCapture(ctx, work)

// Each NF-e line was answered before and is due, in the order of their creation.
const makeDue = () =>
  inCapture(ctx, async ({ db }) => {
    await sql`update capture_line set last_success_at = now(), next_at = now() - interval '1 minute' + id * interval '1 ms'
               where next_at is not null and service = 0`.execute(db)
    await sql`update capture_line set next_at = null where service = 2`.execute(db)
  })

describe('many companies and two processes', () => {
  test('hold eight lines at once in total, not in each process', async () => {
    for (let index = 0; index < 8; index++) await newCompany(ctx, { cnpj: cnpjOf(index) })
    const lines = await claimed(40)
    expect(lines).toHaveLength(8)
    expect(new Set(lines.map(({ id }) => id)).size).toBe(8)
    await releaseLine(ctx, lines[0]!, upToDate())
    expect(await claimed(4)).toHaveLength(1)
  })

  test('gaps take half of the places at most, and lines that are due go first', async () => {
    for (let index = 0; index < 4; index++) await newCompany(ctx, { cnpj: cnpjOf(index) })
    const lines = await claimed(20)
    for (const line of lines) {
      await releaseLine(ctx, line, upToDate())
      await addGap(line, 1n, 9n)
    }
    const gaps = await Promise.all(Array.from({ length: 20 }, () => claimLine(other)))
    expect(gaps.filter((line) => line !== null)).toHaveLength(4)
  })

  test('a line with more pages goes to the end of the queue after its turn', async () => {
    const { workspaceId } = await newCompany(ctx, { cnpj: cnpjOf(0) })
    await newCompany(ctx, { cnpj: cnpjOf(1), workspaceId })
    const [first, ...rest] = await claimed(4)
    for (const line of rest)
      await releaseLine(ctx, line, { ...more(), next_at: sql<Date>`now()`, allowed_at: sql<Date>`now()` })
    await releaseLine(ctx, first!, { ...more(), next_at: sql<Date>`now()`, allowed_at: sql<Date>`now()` })
    const order = [await claimLine(ctx), await claimLine(ctx), await claimLine(ctx), await claimLine(ctx)]
    expect(order.map((line) => line?.id)).toEqual([...rest, first!].map(({ id }) => id))
    expect((await rowOf(first!)).state).toBe('waiting')
  })

  test('are served by workspace: who has many companies due waits with each for those that have one', async () => {
    // Turns begin after the workspace that this process served last.
    await newCompany(ctx)
    await makeDue()
    await claimLine(ctx)
    await retireLines(ctx)
    const { workspaceId } = await newCompany(ctx, { cnpj: cnpjOf(0) })
    for (let index = 1; index < 4; index++) await newCompany(ctx, { cnpj: cnpjOf(index), workspaceId })
    await newCompany(ctx, { cnpj: cnpjOf(90) })
    // One that both have has its turn with the smaller one.
    await newCompany(ctx, { cnpj: cnpjOf(91), workspaceId })
    await newCompany(ctx, { cnpj: cnpjOf(91) })
    await makeDue()
    const order = []
    for (let line = await claimLine(ctx); line; line = await claimLine(ctx)) order.push(line.cnpj)
    expect(order).toEqual([0, 90, 91, 1, 2, 3].map(cnpjOf))
  })

  test('leave a paused service alone, and only it', async () => {
    await newCompany(ctx)
    expect((await claimLine(ctx, [0]))?.service).toBe(2)
    expect(await claimLine(ctx, [0])).toBeNull()
    expect((await claimLine(ctx, [2]))?.service).toBe(0)
  })

  test('copies need no service', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await releaseLine(ctx, line, upToDate())
    await change(line, { catch_up: true })
    expect(await claimLine(ctx, [0, 2])).toMatchObject({ id: line.id, turn: 'copies' })
  })
})

test('first queries and those of lines that were answered before share the places', async () => {
  for (let index = 0; index < 8; index++) await newCompany(ctx, { cnpj: cnpjOf(index) })
  const all = await inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_line').select('id').where('next_at', 'is not', null).orderBy('id').execute(),
  )
  for (const line of all.slice(0, 8)) await change(line, { last_success_at: new Date() })
  const turns = (await claimed(20)).map(({ turn }) => turn)
  expect(turns.filter((turn) => turn === 'first')).toHaveLength(4)
  expect(turns.filter((turn) => turn === 'due')).toHaveLength(4)
})

describe('a fault of ours', () => {
  const standsOf = ({ state, message, next_at, allowed_at, failures }: Awaited<ReturnType<typeof rowOf>>) => ({
    state,
    message,
    next_at,
    allowed_at,
    failures,
  })

  test.each([
    ['a rest', upToDate()],
    ['a block', changeAfterCode(656, { ult: 0 })],
    ['a stop', changeAfterCode(589)],
  ])('leaves %s as it stands, whatever the turn was for', async (_, decided) => {
    await newCompany(ctx)
    const line = await nfeLine()
    await inTransaction((ctx) => changeLine(ctx, line, decided))
    const before = standsOf(await rowOf(line))
    for (const turn of ['gap', 'copies', 'due'] as const) {
      await breakTurn(ctx, { ...line, turn })
      const after = standsOf(await rowOf(line))
      expect({ ...after, failures: before.failures }, turn).toEqual(before)
      await change(line, { lease_by: line.leaseBy })
    }
    const { catch_up_at, gapIn } = await rowOf(line)
    expect(catch_up_at.getTime()).toBeGreaterThan(Date.now() + 60_000)
    expect(gapIn).toBeGreaterThan(1)
  })

  test('while a query is under way counts its response as lost', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await send(ctx, line, { after: 0n })
    await breakTurn(ctx, line)
    const row = await rowOf(line)
    expect(row).toMatchObject({ state: 'failed', asked_at: null, lease_by: null })
    expect(row.allowedIn).toBeCloseTo(65, 0)
    expect(await callsOf(line)).toMatchObject([{ query: 'page', error: expect.stringMatching(/^interrupted: /) }])
  })

  test('while an interrupted query is settled does not begin its pause anew', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await send(ctx, line, { after: 0n })
    await die(line, 40)
    await breakTurn(other, (await claimLine(other))!)
    const row = await rowOf(line)
    expect(row).toMatchObject({ asked_at: null, lease_by: null })
    expect(row.allowedIn).toBeCloseTo(25, 0)
  })

  test('counts the failures since the last page that came, not those before the turn', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await change(line, { failures: 0 })
    await breakTurn(ctx, { ...line, failures: 4 })
    expect(await rowOf(line)).toMatchObject({ failures: 1 })
  })

  test('is shown and retried soon when no pause stands', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await breakTurn(ctx, line)
    const row = await rowOf(line)
    expect(row).toMatchObject({ state: 'failed', failures: 1, lease_by: null })
    expect(row.message).toMatch(/^Algo falhou do nosso lado/)
    expect(row.nextIn).toBeCloseTo(1, 0)
  })
})

describe('places', () => {
  const many = async (count: number) => {
    for (let index = 0; index < count; index++) await newCompany(ctx, { cnpj: cnpjOf(index) })
    await inCapture(ctx, ({ db }) => sql`update capture_line set next_at = null where service = 2`.execute(db))
    const lines = await inCapture(ctx, ({ db }) =>
      db.selectFrom('capture_line').select('id').where('service', '=', 0).where('next_at', 'is not', null).execute(),
    )
    return lines
  }
  const turnsOf = async () => (await claimed(30)).map(({ turn }) => turn).sort()

  test('are for lines that are due, except one for copies and one for gaps', async () => {
    const lines = await many(18)
    for (const line of lines.slice(0, 4)) await change(line, { catch_up: true, next_at: null })
    for (const line of lines.slice(4, 8)) await addGap(line, 1n, 9n)
    for (const line of lines.slice(4, 8)) await change(line, { next_at: null })
    expect(await turnsOf()).toEqual(['copies', ...Array.from({ length: 6 }, () => 'first'), 'gap'])
  })

  test('of copies are two, and a line that is also due is queried before it is copied', async () => {
    const lines = await many(6)
    for (const line of lines) await change(line, { catch_up: true, next_at: null })
    expect(await turnsOf()).toEqual(['copies', 'copies'])
    await inCapture(ctx, ({ db }) => sql`update capture_line set lease_until = null`.execute(db))
    for (const line of lines) await change(line, { next_at: new Date(0) })
    expect((await turnsOf())[0]).toBe('first')
  })

  test('a line whose copies failed is queried all the same', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await releaseLine(ctx, line, upToDate())
    await change(line, { catch_up: true })
    const copies = (await claimLine(ctx))!
    expect(copies).toMatchObject({ id: line.id, turn: 'copies' })
    await breakTurn(ctx, copies)
    await change(line, { catch_up: true, next_at: new Date(0), allowed_at: new Date(0) })
    expect(await claimLine(ctx)).toMatchObject({ id: line.id, turn: 'first' })
    await change(line, { lease_until: null, next_at: null })
    expect(await claimLine(ctx)).toBeNull()
  })
})

describe('captured only on request', () => {
  const quiet = async () => {
    const company = await newCompany(ctx)
    await inWorkspace(ctx, company.workspaceId, async ({ db }) => {
      await db.updateTable('company').set({ automatic: false }).where('id', '=', company.companyId).execute()
      await followSwitch({ db }, company.workspaceId, company.companyId)
    })
    return company
  }

  test('a line is due only after a request, until the request is fulfilled', async () => {
    const { workspaceId, companyId } = await quiet()
    expect(await claimLine(ctx)).toBeNull()
    await requestSync(ctx, workspaceId, companyId)
    const line = await nfeLine()
    // More pages, a failure, a block: the wish stands.
    for (const decided of [more(), timeout(), changeAfterCode(656, { ult: 0 })])
      expect(decided).not.toHaveProperty('wanted')
    await releaseLine(ctx, line, more())
    expect((await rowOf(line)).wanted).toBe(true)
    await change(line, { next_at: new Date(0), allowed_at: new Date(0) })
    await releaseLine(ctx, (await claimLine(ctx))!, upToDate())
    expect((await rowOf(line)).wanted).toBe(false)
    await change(line, { next_at: new Date(0), allowed_at: new Date(0) })
    expect(await claimLine(ctx)).toBeNull()
  })
})

describe('a process that dies between a query and its response', () => {
  test('leaves a mark: the next process sends no query and waits as after a lost response, also when a person requests one', async () => {
    const { workspaceId, companyId } = await newCompany(ctx)
    const line = await nfeLine()
    await send(ctx, line, { after: 0n })
    expect(await claimLine(other)).toBeNull()
    await die(line)
    const found = await claimLine(other)
    expect(found).toMatchObject({ id: line.id, asked: { after: 0n } })
    expect(found!.asked!.msAgo / 60_000).toBeCloseTo(3, 0)
    await settleInterrupted(other, found!)

    const row = await rowOf(line)
    expect(row).toMatchObject({ asked_at: null, lease_by: null, state: 'failed', failures: 1, last_nsu: 0n })
    expect(row.message).toMatch(/^A captura foi interrompida entre uma consulta e a resposta da SEFAZ\./)
    expect(row.allowedIn).toBeCloseTo(62, 0)
    expect(await callsOf(line)).toMatchObject([
      { query: 'page', answer: 'lost', c_stat: null, error: expect.stringMatching(/^interrupted: /) },
    ])
    for (const { at } of await requestSync(ctx, workspaceId, companyId))
      expect(at!.getTime()).toBeGreaterThan(Date.now() + rhythm.hourMs)
    expect(await claimLine(ctx)).toBeNull()
    expect(await inTransaction((ctx) => wasResponseLost(ctx, line))).toBe(true)
  })

  test('during a query for one position counts it in the quota and changes nothing else', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await releaseLine(ctx, line, upToDate())
    await addGap(line, 7n, 9n)
    const gap = (await claimLine(ctx))!
    await send(ctx, gap, { at: 9n })
    await die(gap)
    const found = (await claimLine(other))!
    expect(found).toMatchObject({ id: line.id, asked: { at: 9n } })
    await settleInterrupted(other, found)
    expect(await callsOf(line)).toMatchObject([{ query: 'position', nsu_before: 9n, error: expect.any(String) }])
    const row = await rowOf(line)
    expect(row).toMatchObject({ state: 'waiting', asked_at: null })
    expect(row.gapIn).toBeCloseTo(10, 0)
    expect(await inTransaction((ctx) => wasResponseLost(ctx, line))).toBe(false)
  })

  test('a check beside the capture leaves a held line alone, and finds an interrupted one', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    expect(await claimOne(other, line.id)).toBeNull()
    await send(ctx, line, { after: 0n })
    expect(await claimOne(other, line.id)).toBeNull()
    await die(line)
    const found = (await claimOne(other, line.id))!
    expect(found).toMatchObject({ id: line.id, asked: { after: 0n } })
    await settleInterrupted(other, found)
    expect(await claimOne(other, line.id)).toMatchObject({ id: line.id, asked: null })
  })
})

test('queries for one position never leave during a block, nor while a lost response may have been one', async () => {
  await newCompany(ctx)
  const line = await nfeLine()
  for (const decided of [changeAfterCode(656, { ult: 0 }), timeout()]) {
    await change(line, { ...decided, lease_until: null })
    await inCapture(ctx, ({ db }) => db.deleteFrom('capture_gap').execute())
    await addGap(line, 1n, 2n)
    expect(await claimLine(ctx)).toBeNull()
  }
  await change(line, { allowed_at: new Date(0) })
  expect((await claimLine(ctx))?.id).toBe(line.id)
})

describe('a response that cannot be stored', () => {
  const question = { after: 0n }
  const asOwner = (text: string) => execute(url, text)

  test('is tried again, then counts as lost: the line waits and asks again', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await send(ctx, line, { after: 0n })
    // The words of the server when a table cannot grow.
    await asOwner(`create function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$;
      create trigger no_room before insert on capture_call for each row execute function no_room()`)
    const process = openProcess()
    const options = { holder: null, isEnding: false, mayTryOther: false, mayAskMore: false }
    const settling = settleSurely(process, { line, question }, told(question, 138, { ult: 50 }), options, [1, 1])
    await expect(settling).rejects.toMatchObject({ code: '53100' })
    expect(process.storage.trouble).toMatchObject({ reason: 'no-space' })
    await asOwner('drop trigger no_room on capture_call; drop function no_room')
    await breakTurn(ctx, line)
    expect(await rowOf(line)).toMatchObject({ last_nsu: 0n, state: 'failed', asked_at: null, lease_by: null })
    expect((await rowOf(line)).allowedIn).toBeCloseTo(65, 0)
    expect(await inTransaction((ctx) => wasResponseLost(ctx, line))).toBe(true)
  })

  test('is not asked for', async () => {
    const { workspaceId, companyId } = await newCompany(ctx)
    const line = await nfeLine()
    const post = vi.fn()
    const stuck = { ...ctx, storage: { ...ctx.storage, prove: async () => false } }
    const holder = { uf: 35, workspaceId, companyId }
    expect(await ask(stuck, { line, question }, holder, { post, close: () => {} })).toBeNull()
    expect(post).not.toHaveBeenCalled()
    expect(await rowOf(line)).toMatchObject({ asked_at: null })
  })
})

test('what ends a turn is written together with the end of the turn', async () => {
  await newCompany(ctx)
  const line = await nfeLine()
  await send(ctx, line, { after: 0n })
  const question = { after: 0n }
  const settleWith = (max: number, mayAskMore = true) => {
    const options = { holder: null, isEnding: false, mayTryOther: false, mayAskMore }
    return settle(
      ctx,
      { line: { ...line, lastNsu: BigInt(max - 10) }, question },
      told(question, 138, { ult: max, max: 20 }),
      options,
    )
  }
  expect((await settleWith(10)).next).toBe('nextPage')
  expect(await rowOf(line)).toMatchObject({ lease_by: line.leaseBy, asked_at: null })
  expect((await settleWith(20)).next).toBe('done')
  expect(await rowOf(line)).toMatchObject({ lease_by: null, lease_until: null, lease_for: null })
  await expect(settleWith(30)).rejects.toThrow(LeaseLost)
  expect(await callsOf(line)).toHaveLength(2)
})

describe('the ledger', () => {
  const note = (line: CaptureLine, answer: Parameters<typeof noteCall>[2]['answer'], query: QueryKind = 'page') => {
    return inTransaction((ctx) => noteCall(ctx, line, { query, answer, nsu_before: 0n, nsu_after: 0n }))
  }

  test('tells a lost response from a query that was not counted, until a response brings the cursor', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    const isLost = () => inTransaction((ctx) => wasResponseLost(ctx, line))
    for (const answer of ['page', 'failed'] as const) await note(line, answer)
    await note(line, 'lost', 'position')
    expect(await isLost()).toBe(false)
    for (const answer of ['lost', 'down', 'failed'] as const) await note(line, answer)
    expect(await isLost()).toBe(true)
    await note(line, 'blocked')
    expect(await isLost()).toBe(false)
  })

  test('counts eighteen queries for one position an hour, also those without a response', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    const wait = () => inTransaction((ctx) => quotaWait(ctx, line))
    for (let index = 0; index < 17; index++) await note(line, index % 2 ? 'page' : 'lost', 'position')
    for (let index = 0; index < 30; index++) await note(line, 'page')
    expect(await wait()).toBe(0)
    await note(line, 'lost', 'note')
    expect(await wait()).toBeGreaterThan(rhythm.hourMs - 60_000)
  })
})

describe('completeness', () => {
  test('shows the range of each month, its gaps and what became of them', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    const foundAt = '2026-11-02T13:10:00.000Z'
    const gap = { x_motivo: 'ultNSU', cause: 'outro sistema consultou' }
    // biome-ignore format: a call is a row
    const calls = [
      // 23:30 of October in São Paulo.
      { at: '2026-11-01T02:30:00Z', query: 'page', answer: 'page', nsu_before: 0n, nsu_after: 3_600n, documents: 50 },
      { at: '2026-11-02T12:00:00Z', query: 'page', answer: 'page', nsu_before: 3_600n, nsu_after: 3_650n, documents: 48 },
      { at: '2026-11-02T12:01:00Z', query: 'page', answer: 'lost', nsu_before: 3_650n, nsu_after: 3_650n },
      { at: foundAt, query: 'page', answer: 'blocked', nsu_before: 3_650n, nsu_after: 3_654n, ...gap },
      { at: '2026-11-03T12:00:00Z', query: 'position', answer: 'page', nsu_before: 3_651n, nsu_after: 3_651n, documents: 1 },
      { at: '2026-11-03T12:00:00Z', query: 'position', answer: 'gone', nsu_before: 3_652n, nsu_after: 3_652n },
      { at: '2026-11-03T12:00:00Z', query: 'position', answer: 'lost', nsu_before: 3_653n, nsu_after: 3_653n },
      // A check of the access asks for what is already here.
      { at: '2026-11-03T12:00:00Z', query: 'position', answer: 'page', nsu_before: 10n, nsu_after: 10n, documents: 1 },
    ] as const
    await inTransaction(async ({ db }) => {
      for (const call of calls)
        await db
          .insertInto('capture_call')
          .values({ line_id: line.id, ...call })
          .execute()
    })
    // Fetched positions leave the gap; positions that the authority does not have any more stay as lost.
    await addGap(line, 3_652n, 3_652n, true)
    await addGap(line, 3_653n, 3_654n)
    expect(await inTransaction((ctx) => readCompleteness(ctx, line.id))).toEqual([
      { month: '2026-10', from: 1n, to: 3_600n, documents: 50, passedOver: 0, queries: 1, unanswered: 0, gaps: [] },
      {
        month: '2026-11',
        from: 3_601n,
        to: 3_650n,
        documents: 49,
        passedOver: 2,
        queries: 7,
        unanswered: 2,
        gaps: [
          {
            from: 3_651n,
            to: 3_654n,
            foundAt: new Date(foundAt),
            month: '2026-11',
            why: 'outro sistema consultou (ultNSU)',
            fetched: 1,
            lost: 1,
            empty: 0,
            missing: 2,
          },
        ],
      },
    ])
  })
})

describe('the certificate of a query', () => {
  const purpose = 'Consultar documentos'
  const [matriz, filial] = ['44555666000181', '44555666000262']

  test('is that of the matriz for its filiais, and each use is recorded', async () => {
    const head = await newCompany(ctx, { cnpj: matriz })
    await addCertificate(ctx, head, { holder: matriz, key: `matriz ${head.companyId}`, validTo: '2099-01-01' })
    const branch = await newCompany(ctx, { cnpj: filial, workspaceId: head.workspaceId })
    const lines = await claimed(4)
    const line = lines.find(({ cnpj, service }) => cnpj === filial && service === 2)!
    expect(await findCertificate(ctx, line, purpose)).toMatchObject({
      companyId: branch.companyId,
      certificate: { pem: `certificate of matriz ${head.companyId}` },
    })
    const uses = await inWorkspace(ctx, head.workspaceId, ({ db }) =>
      db.selectFrom('certificate_use').select(['service', 'purpose']).execute(),
    )
    expect(uses).toEqual([{ service: 'CTeDistribuicaoDFe', purpose }])
  })

  test('is never of another workspace, and only the chosen key is opened', async () => {
    const real = await newCompany(ctx)
    const stranger = await newCompany(ctx, { proved: false })
    const line = await nfeLine()
    const hold = () => findCertificate(ctx, line, purpose)
    expect(await hold()).toBeNull()
    await addCertificate(ctx, real, { holder: ours, key: `real ${real.companyId}`, validTo: '2099-01-01' })
    expect(await hold()).toMatchObject({ companyId: real.companyId, proved: true })
    // A response to an unproved company would prove it.
    await addCertificate(ctx, stranger, { holder: ours, key: `other ${stranger.companyId}`, validTo: '2098-01-01' })
    const first = await hold()
    expect(first).toMatchObject({ companyId: stranger.companyId, proved: false })
    const refusal = { kind: 'refused' as const, restMs: 24 * rhythm.hourMs, why: 'x', isSilent: false }
    await inTransaction((ctx) => noteCertificateOnLine(ctx, line, first!, refusal))
    expect(await hold()).toMatchObject({ companyId: real.companyId })
    const used = await inWorkspace(ctx, stranger.workspaceId, ({ db }) =>
      db.selectFrom('certificate_use').select('id').execute(),
    )
    expect(used).toHaveLength(1)
  })
})

test('documents that are known to wait are queried as soon as the rules allow, and no pause gets shorter', async () => {
  await newCompany(ctx)
  const line = await nfeLine()
  await releaseLine(ctx, line, upToDate())
  const before = await rowOf(line)
  await askSoon(ctx, 'nfe', ours)
  const after = await rowOf(line)
  expect(after.allowed_at).toEqual(before.allowed_at)
  expect(after.next_at).toEqual(before.allowed_at)
  await change(line, { state: 'stopped', next_at: null })
  await askSoon(ctx, 'nfe', ours)
  expect((await rowOf(line)).next_at).toBeNull()
})

describe('a database that stalls while a query is announced', () => {
  afterEach(() => void vi.useRealTimers())

  // Holds the row of the line until this process believes that `elapsedMs` have passed.
  async function askAfter(elapsedMs: number, line: CaptureLine) {
    let sent = 0
    const connection: Connection = {
      post: async (_, { mayLeave }) => {
        if (mayLeave?.() === false) throw new UnsentError()
        sent++
        throw new SefazError('unreached', { detail: 'ECONNREFUSED' })
      },
      close: () => {},
    }
    const [subscription] = await inCapture(ctx, ({ db }) =>
      db.selectFrom('capture_subscription').selectAll().where('line_id', '=', line.id).execute(),
    )
    const holder = { uf: 35, workspaceId: subscription!.workspace_id, companyId: subscription!.company_id }
    const asking = await inCapture(other, async (other) => {
      await lockLine(other, line)
      const asking = ask(ctx, { line, question: { after: 0n } }, holder, connection)
      await vi.waitFor(async () => expect(await countWaiting(ctx)).toBe(1), { timeout: 20_000 })
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + elapsedMs })
      return { asking }
    })
    return { answer: await asking.asking, sent }
  }

  test('sends nothing once too little of the lease is left, and takes the announcement back', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    expect(await askAfter(line.leaseMs, line)).toEqual({ answer: null, sent: 0 })
    expect(await rowOf(line)).toMatchObject({ asked_at: null, lease_by: line.leaseBy })
    vi.useRealTimers()
    expect(await askAfter(1_000, line)).toMatchObject({ sent: 1 })
    expect((await rowOf(line)).asked_at).not.toBeNull()
  })

  test('leaves the line to the process that has it now', async () => {
    await newCompany(ctx)
    const line = await nfeLine()
    await send(ctx, line, { after: 0n })
    await die(line)
    const taken = await claimOne(other, line.id)
    await expect(send(ctx, line, { after: 0n })).rejects.toThrow(/lease of line/)
    expect(await rowOf(line)).toMatchObject({ lease_by: taken!.leaseBy, asked_at: expect.any(Date) })
  })
})
