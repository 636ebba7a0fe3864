import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { readWaiting } from '../documents/reading/waiting.ts'
import { arrive, nfeProc } from '../documents/testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { requestSync } from './capture.ts'
import { copyToOthers, deliverPage, readArrivals } from './delivery.ts'
import { changeLine, claimLine, releaseLine } from './lease.ts'
import {
  newCompany as addCompany,
  changeAfterCode,
  changeLines,
  retireLines,
  rhythm,
  told,
  useInstallation,
} from './testing.ts'
import { settle } from './turn.ts'

const { ctx } = await useInstallation()
const { db } = ctx

beforeEach(() => retireLines(ctx))

const newCompany = (options = {}) => addCompany(ctx, options)

const countDocuments = (workspaceId: number) =>
  inWorkspace({ db }, workspaceId, async ({ db }) => {
    const row = await db
      .selectFrom('document')
      .select((select) => select.fn.countAll<bigint>().as('n'))
      .executeTakeFirstOrThrow()
    return Number(row.n)
  })

const turn = (line: NonNullable<Awaited<ReturnType<typeof claimLine>>>, first: number, last: number) =>
  inCapture(ctx, async (ctx) => {
    const arrivals = Array.from({ length: last - first + 1 }, (_, index) =>
      arrive(first + index, nfeProc({ number: first + index })),
    )
    await changeLine(ctx, line, { last_nsu: BigInt(last) })
    await deliverPage(ctx, line, arrivals, { before: BigInt(first - 1), after: BigInt(last), more: false })
    return { ...line, lastNsu: BigInt(last) }
  })

const nothingNew = () => changeAfterCode(137)

// The other conversation of the company is put to rest on the way.
async function claimNfe() {
  for (let line = await claimLine(ctx); line; line = await claimLine(ctx)) {
    if (line.service === 0) return line
    await releaseLine({ db }, line, nothingNew())
  }
  throw new Error('no conversation about NF-e is due')
}

test('a new company has a line for each service, due at once', async () => {
  await newCompany()
  const lines = [await claimLine(ctx), await claimLine(ctx), await claimLine(ctx)]
  expect(lines.map((line) => line?.service).sort()).toEqual([0, 2, undefined])
})

test('a released line is not due before its time, also after a request', async () => {
  const { workspaceId, companyId } = await newCompany()
  for (let line = await claimLine(ctx); line; line = await claimLine(ctx)) await releaseLine({ db }, line, nothingNew())
  const answers = (await Promise.all(Array.from({ length: 10 }, () => requestSync(ctx, workspaceId, companyId)))).flat()
  expect(answers).toHaveLength(20)
  for (const answer of answers) {
    expect(answer.allowed).toBe(false)
    expect(answer.at!.getTime()).toBeGreaterThan(Date.now() + rhythm.hourMs)
  }
  expect(await claimLine(ctx)).toBeNull()
})

test('a company without a proved certificate gets no page and no copy, and wakes no line', async () => {
  const owner = await newCompany()
  const line = await claimNfe()
  await turn(line, 1, 5)
  const stranger = await newCompany({ proved: false })
  await copyToOthers(ctx, await turn(line, 6, 10))
  await changeLines(ctx, 'next_at = null')
  await expect(claimNfe()).rejects.toThrow('is due')
  expect([await countDocuments(owner.workspaceId), await countDocuments(stranger.workspaceId)]).toEqual([10, 0])
})

test('a page that no thread reads in time is stored with the cursor, and read later', async () => {
  const { workspaceId } = await newCompany()
  const line = await claimNfe()
  const documents = Array.from({ length: 50 }, (_, index) => {
    return { nsu: String(index + 1), schema: 'procNFe_v4.00.xsd', content: gzipSync(nfeProc({ number: index + 1 })) }
  })
  const question = { after: 0n }
  const settled = await settle(
    ctx,
    { line: { ...line, leaseMs: 0 }, question },
    told(question, 138, { ult: 50, documents }),
  )
  expect(settled.line.lastNsu).toBe(50n)
  expect(await countDocuments(workspaceId)).toBe(0)
  await readWaiting(ctx, workspaceId)
  expect(await countDocuments(workspaceId)).toBe(50)
})

test('documents without NSU have a place of their own, always the same', async () => {
  const documents = ['<a/>', '<b/>', '<b/>'].map((xml) => ({ nsu: null, schema: 'x', content: gzipSync(xml) }))
  const read = async () =>
    (await readArrivals(ctx, { cnpj: '44555666000181', leaseMs: 60_000 }, { after: 0n }, documents)).map(
      ({ nsu }) => nsu,
    )
  const places = await read()
  expect(new Set(places).size).toBe(2)
  expect(places.every((place) => place < 0n)).toBe(true)
  expect(await read()).toEqual(places)
})
