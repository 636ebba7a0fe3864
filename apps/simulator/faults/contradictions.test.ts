import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Client, nsu, startForTest, type TestSimulator } from '../client.testing.ts'

// Every case makes TLS connections, which a busy machine is slow at.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const hourMs = 3_600_000
let test: TestSimulator
let client: Client
let cnpj: string
let branches = 0

beforeAll(async () => {
  test = await startForTest({ hourMs })
  client = await test.client('98765432000198')
})
afterAll(() => test.stop())

// Every case has a branch of its own: the certificate of the head office speaks for all.
beforeEach(async () => {
  await test.control('DELETE', 'faults')
  const first12 = `98765432${String(++branches + 1).padStart(4, '0')}`
  cnpj = first12 + cnpjCheckDigits(first12)
})

const distNSU = (ultNSU: number) => client.ask('nfe', { cnpj, ultNSU })
const consNSU = (NSU: number) => client.ask('nfe', { cnpj, NSU })
const fault = (name: string, order: object = {}) =>
  test.control('POST', 'faults', { fault: name, cnpj, times: 1, ...order })
const nextHour = () => test.control('POST', 'clock', { advanceMs: hourMs })
const positions = (page: { documents: { NSU: string | undefined }[] }) => page.documents.map((one) => Number(one.NSU))
const misuse = async () => {
  const { misuse } = (await test.control('GET', 'misuse')) as { misuse: { cnpj: string }[] }
  return misuse.filter((one) => one.cnpj === cnpj)
}

describe('sameNsuOtherBytes', () => {
  it('repeats the last position of a page with other bytes in the next page, which stays within fifty', async () => {
    await test.publish(cnpj, 120)
    await fault('sameNsuOtherBytes')
    // The first page has nothing before it: the fault waits.
    const first = await distNSU(0)
    expect(positions(first)).toHaveLength(50)
    const second = await distNSU(50)
    expect(positions(second)).toEqual(Array.from({ length: 50 }, (_, index) => 50 + index))
    expect(second.ultNSU).toBe(nsu(99))
    expect(second.documents[0]?.xml).toMatch(/^<a>50<\/a>./)
    expect(first.documents[49]?.xml).toBe('<a>50</a>')
    expect(positions(await distNSU(99))).toEqual(Array.from({ length: 21 }, (_, index) => 100 + index))
  })

  it('repeats within a page when it should', async () => {
    await test.publish(cnpj, 2)
    await fault('sameNsuOtherBytes', { withinPage: true })
    const page = await distNSU(0)
    expect(positions(page)).toEqual([1, 2, 2])
    expect(new Set(page.documents.map((one) => one.xml)).size).toBe(3)
  })

  it('gives other bytes to consNSU', async () => {
    await test.publish(cnpj, 1)
    await fault('sameNsuOtherBytes')
    const [first, second] = [await consNSU(1), await consNSU(1)]
    expect([positions(first), positions(second)]).toEqual([[1], [1]])
    expect(first.documents[0]?.xml).not.toBe(second.documents[0]?.xml)
  })
})

it('ultNsuBeyondDocuments leaves documents out that consNSU has', async () => {
  await test.publish(cnpj, 9)
  await fault('ultNsuBeyondDocuments')
  const page = await distNSU(0)
  expect(page).toMatchObject({ cStat: '138', ultNSU: nsu(9), maxNSU: nsu(9) })
  expect(positions(page)).toEqual([1, 2, 3, 4, 5])
  expect(positions(await consNSU(6))).toEqual([6])
  await nextHour()
  expect((await distNSU(9)).cStat).toBe('137')
})

it('higherUltNsuOn137 passes a page over', async () => {
  await test.publish(cnpj, 60)
  await fault('higherUltNsuOn137')
  expect(await distNSU(0)).toMatchObject({ cStat: '137', ultNSU: nsu(50), maxNSU: nsu(50), documents: [] })
  expect(positions(await consNSU(3))).toEqual([3])
  await nextHour()
  expect(positions(await distNSU(50))).toHaveLength(10)
  expect(await misuse()).toEqual([])
})

it('absurdUltNsu blocks for an hour with a cursor that no sequence reaches, and is no misuse', async () => {
  await test.publish(cnpj, 60)
  await distNSU(0)
  await fault('absurdUltNsu')
  expect(await distNSU(50)).toMatchObject({ cStat: '656', ultNSU: '999999999999999', maxNSU: nsu(0), documents: [] })
  expect(await misuse()).toEqual([])
  await nextHour()
  expect((await consNSU(999_999_999_999_999)).cStat).toBe('589')
  expect(positions(await distNSU(50))).toHaveLength(10)
  expect(await misuse()).toEqual([])
})

it('noProgress gives the page again with the cursor that was sent', async () => {
  await test.publish(cnpj, 60)
  await fault('noProgress', { times: 2 })
  for (const _ of [1, 2]) {
    const page = await distNSU(0)
    expect(page).toMatchObject({ cStat: '138', ultNSU: nsu(0), maxNSU: nsu(60) })
    expect(positions(page)).toHaveLength(50)
  }
  expect(await distNSU(0)).toMatchObject({ cStat: '138', ultNSU: nsu(50) })
})

it('dhRespOffset tells another time', async () => {
  await fault('dhRespOffset', { offsetMs: -3 * hourMs })
  const told = Date.parse((await distNSU(0)).dhResp)
  const { now } = (await test.control('GET', 'state')) as { now: string }
  expect(Math.round((told - Date.parse(now)) / hourMs)).toBe(-3)
})

it('the codes of a certificate come in the response itself', async () => {
  await fault('284')
  expect(await distNSU(0)).toMatchObject({ cStat: '284', xMotivo: 'Rejeicao: Certificado Transmissor revogado' })
})
