import { gzipSync } from 'node:zlib'
import { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { inCapture } from '../../platform/database.ts'
import { readCompleteness } from '../completeness.ts'
import { type CaptureLine, claimLine } from '../lease.ts'
import { lostTo } from '../sources/lost.ts'
import {
  gapsOf,
  holdAgain,
  newCompany,
  retireLines,
  rhythm,
  rowOf,
  type TestContext,
  told,
  useInstallation,
} from '../testing.ts'
import { runTurn, settle } from '../turn.ts'
import { findPosition, findRest } from './positions.ts'

const { ctx } = await useInstallation()

let line: CaptureLine

beforeEach(async () => {
  await retireLines(ctx)
  await newCompany(ctx)
  line = (await claimLine(ctx))!
})

const inTransaction = <T>(work: (ctx: TestContext) => Promise<T>) => inCapture(ctx, work)
const miss = (from: number | bigint, to: number | bigint) =>
  inTransaction(({ db }) =>
    db
      .insertInto('capture_gap')
      .values({ line_id: line.id, from_nsu: BigInt(from), to_nsu: BigInt(to) })
      .execute(),
  )
const gaps = () => gapsOf(ctx, line)
const next = () => inTransaction((ctx) => findPosition(ctx, line))
const rest = () => inTransaction((ctx) => findRest(ctx, line))

const whole = gzipSync('<a/>')

type Result = 137 | 138 | 589 | 'timeout'

/** Writes down what came of a question for a position. */
async function note(position: bigint, result: Result, content = whole): Promise<void> {
  const question = { at: position }
  // Without an NSU: it is that of the position.
  const documents = result === 138 ? [{ nsu: null, schema: 'x', content }] : []
  const answer = result === 'timeout' ? lostTo(new SefazError('timeout'), 1) : told(question, result, { documents })
  const options = { holder: null, isEnding: false, mayTryOther: false, mayAskMore: true }
  // The end of a turn releases the line.
  if ((await settle(ctx, { line, question }, answer, options)).next === 'done') await holdAgain(ctx, line)
}

/** Asks once; returns the position. */
async function ask(result: Result): Promise<bigint> {
  const position = (await next())!
  await note(position, result)
  return position
}

async function askUntilNothing(result: (position: bigint) => Result): Promise<bigint[]> {
  const asked: bigint[] = []
  for (let position = await next(); position !== null; position = await next()) {
    await note(position, result(position))
    asked.push(position)
  }
  return asked
}

// The ledger cannot be changed afterwards.
const failedBefore = (position: bigint, hoursAgo: number) =>
  inTransaction(({ db }) =>
    sql`insert into capture_call (line_id, query, answer, nsu_before, nsu_after, at)
        values (${line.id}, 'position', 'lost', ${position}, ${position}, now() - ${hoursAgo}::float8 * interval '1 hour')`.execute(
      db,
    ),
  )

describe('what is missing', () => {
  test('is queried from the newest end, gap by gap', async () => {
    await miss(1, 3)
    await miss(8, 9)
    const asked = await askUntilNothing(() => 138)
    expect(asked).toEqual([9n, 8n, 3n, 2n, 1n])
    expect(await gaps()).toEqual([])
    expect(await rest()).toBeNull()
  })

  test('where all has expired costs a few queries, not one for each position', async () => {
    const top = 5_000_200_000n
    await miss(5_000_000_001n, top)
    const asked = await askUntilNothing(() => 137)
    expect(asked.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => top - BigInt(index)))
    expect(asked.length).toBeLessThan(20 + 40)
    const lost = await inTransaction(({ db }) =>
      sql<{
        n: bigint
      }>`select sum(to_nsu - from_nsu + 1)::bigint as n from capture_gap where line_id = ${line.id} and lost`.execute(
        db,
      ),
    )
    expect(lost.rows[0]!.n).toBe(200_000n)
  })

  test('brings the live documents first, and gives up what is older than the first that expired', async () => {
    await miss(1, 2_000)
    const asked = await askUntilNothing((position) => (position > 1_950n ? 138 : 137))
    expect(asked.slice(0, 50).every((position) => position > 1_950n)).toBe(true)
    expect(asked.length).toBeLessThan(50 + 20 + 24)
  })

  test.each([
    ['the authority has no document at many positions in a row', [[61n, 85n]], []],
    ['one question about the older half fails', [[61n, 85n]], [33n]],
    [
      'positions of nobody stand where the middle is asked for',
      [
        [61n, 85n],
        [30n, 36n],
      ],
      [],
    ],
  ] as [string, [bigint, bigint][], bigint[]][])(
    'is never given up while it may be there: %s',
    async (_, nobodys, failing) => {
      await miss(1, 100)
      const isOfNobody = (position: bigint) => nobodys.some(([from, to]) => position >= from && position <= to)
      await askUntilNothing((position) => (failing.includes(position) ? 'timeout' : isOfNobody(position) ? 137 : 138))
      const lost = (await gaps())
        .filter((gap) => gap.startsWith('lost '))
        .map((gap) => gap.slice(5).split('-').map(BigInt))
      for (const [from = 0n, to = 0n] of lost)
        for (let position = from; position <= to; position++) expect(isOfNobody(position)).toBe(true)
    },
  )

  test('that fails makes way for the others, for longer each time', async () => {
    await miss(1, 5)
    expect(await ask('timeout')).toBe(5n)
    expect(await ask(589)).toBe(4n)
    expect(await askUntilNothing(() => 138)).toEqual([3n, 2n, 1n])
    expect(await gaps()).toEqual(['4-5'])
    expect(await rest()).toBeGreaterThan(rhythm.hourMs - 60_000)
  })

  test('rests an hour after it failed, then twice as long, and never longer than a day', async () => {
    await miss(1, 3)
    for (const [position, hoursAgo] of [
      [3n, 0.9],
      [2n, 1.1],
      [1n, 3],
      [1n, 1.9],
    ] as const)
      await failedBefore(position, hoursAgo)
    expect(await askUntilNothing(() => 138)).toEqual([2n])
    expect(await rest()).toBeLessThan(0.2 * rhythm.hourMs)
    for (let time = 0; time < 8; time++) await failedBefore(1n, 24.1)
    expect(await next()).toBeNull()
    await miss(4, 4)
    for (let time = 0; time < 100; time++) await failedBefore(4n, 24.1)
    expect(await next()).toBe(4n)
  })

  test('is queried again when its rest ends, though nothing else is missing', async () => {
    await miss(1, 1)
    await failedBefore(1n, 0.5)
    await runTurn(ctx, { ...line, turn: 'gap' }, new AbortController().signal)
    expect((await rowOf(ctx, line)).gapIn).toBeCloseTo(30, 0)
  })

  describe('that came damaged', () => {
    const comeDamaged = (position: bigint) => note(position, 138, Buffer.from('1f8b00', 'hex'))
    const cameDamagedBefore = (position: bigint, hoursAgo: number) =>
      inTransaction(({ db }) =>
        sql`insert into capture_call (line_id, query, answer, nsu_before, nsu_after, c_stat, documents, at)
            values (${line.id}, 'position', 'page', ${position}, ${position}, 138, 1, now() - ${hoursAgo}::float8 * interval '1 hour')`.execute(
          db,
        ),
      )

    test('rests as after any failure, longer each time, while others are asked for', async () => {
      await miss(1, 2)
      await comeDamaged(2n)
      expect(await gaps()).toEqual(['1-2'])
      expect(await next()).toBe(1n)
      await cameDamagedBefore(1n, 1.5)
      await cameDamagedBefore(1n, 4)
      expect(await next()).toBeNull()
      expect((await rest())! / rhythm.hourMs).toBeCloseTo(0.5, 1)
    })

    test('is fetched whole later', async () => {
      await miss(1, 1)
      await comeDamaged(1n)
      await note(1n, 138)
      expect(await gaps()).toEqual([])
    })

    test('ten times is lost, and says nothing about the age of the others', async () => {
      await miss(1, 40)
      await inTransaction(({ db }) =>
        db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: 41n, to_nsu: 59n, lost: true }).execute(),
      )
      for (let time = 0; time < 9; time++) await comeDamaged(40n)
      expect(await gaps()).toEqual(['1-40', 'lost 41-59'])
      await comeDamaged(40n)
      expect(await gaps()).toEqual(['1-39', 'lost 40-40', 'lost 41-59'])
      expect(await ask(137)).toBe(39n)
      expect(await ask(137)).toBe(38n)
    })
  })
})

test('the completeness of a year of the worst kind tells every gap', async () => {
  await inTransaction(async ({ db }) => {
    // Every fourth query finds that another program took two positions; one of them is fetched, one is lost.
    await sql`insert into capture_call (line_id, query, answer, nsu_before, nsu_after, c_stat, x_motivo, documents, error, cause, at)
      select ${line.id}::int, case when i % 4 = 3 then 'position' else 'page' end,
             case i % 4 when 1 then 'lost' when 2 then 'blocked' else 'page' end,
             case i % 4 when 0 then i when 1 then i + 1 when 2 then i + 1 else i end,
             case i % 4 when 0 then i + 1 when 1 then i + 1 when 2 then i + 3 else i end,
             case i % 4 when 1 then null when 2 then 656 else 138 end, 'x', case i % 4 when 0 then 1 when 3 then 1 else 0 end,
             case when i % 4 = 1 then 'timeout: no answer' end, case when i % 4 = 2 then 'outro sistema' end, now() - (40000 - i) * interval '20 minutes'
        from generate_series(4, 40003) i`.execute(db)
    await sql`insert into capture_gap (line_id, from_nsu, to_nsu, lost)
      select ${line.id}::int, i + 3, i + 3, true from generate_series(2, 39999, 4) i`.execute(db)
  })
  for (const until of [undefined, new Date(Date.now() - 86_400_000)]) {
    const months = await inTransaction((ctx) => readCompleteness(ctx, line.id, until))
    const all = months.flatMap((month) => month.gaps)
    expect(months).toHaveLength(13)
    expect(all.length).toBeGreaterThan(5_000)
    expect(all.every((gap) => gap.lost + gap.fetched + gap.missing === 2)).toBe(true)
  }
})
