import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Client, type DistributionCall, nsu, startForTest, type TestSimulator } from './client.testing.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const hourMs = 60_000
let test: TestSimulator
let client: Client
let cnpj: string
let cases = 0

interface Row {
  id: number
  cStat: number
  lost: boolean
  excused?: boolean
}

beforeAll(async () => {
  test = await startForTest({ hourMs })
})
afterAll(() => test.stop())
beforeEach(async () => {
  const first12 = `98ABD${String(++cases).padStart(3, '0')}0001`
  cnpj = first12 + cnpjCheckDigits(first12)
  client = await test.client(cnpj)
  await test.publish(cnpj, 60)
})

const ask = (query: Omit<DistributionCall, 'cnpj'>) => client.ask('nfe', { cnpj, ...query })
const advance = (ms: number) => test.control('POST', 'clock', { advanceMs: ms })
const rows = async () => ((await test.control('GET', `calls?cnpj=${cnpj}`)) as { calls: Row[] }).calls
const lose = async (...places: number[]) => {
  const calls = await rows()
  return test.control('POST', 'lost', { ids: places.map((place) => calls[place]?.id) })
}
const misuse = async () => {
  const all = (await test.control('GET', 'misuse')) as { misuse: { cnpj: string; count: number; excused: number }[] }
  const { count, excused } = all.misuse.find((one) => one.cnpj === cnpj) ?? { count: 0, excused: 0 }
  return { count, excused }
}

// A process that dies after its socket received the response looks like one that read it.
describe('an answer that is told lost', () => {
  it('excuses the 656 that comes after', async () => {
    await ask({ ultNSU: 0 })
    await lose(0)
    expect(await ask({ ultNSU: 0 })).toMatchObject({ cStat: '656', ultNSU: nsu(50) })
    expect(await misuse()).toEqual({ count: 1, excused: 1 })
    expect(await rows()).toMatchObject([
      { cStat: 138, lost: true },
      { cStat: 656, lost: false, excused: true },
    ])
  })

  it('excuses the 656 that came already, once', async () => {
    await ask({ ultNSU: 0 })
    await ask({ ultNSU: 0 })
    await ask({ ultNSU: 50 })
    expect(await misuse()).toEqual({ count: 2, excused: 0 })
    await lose(0)
    await lose(0)
    expect(await misuse()).toEqual({ count: 2, excused: 1 })
    expect((await rows()).map((row) => row.excused)).toEqual([undefined, true, false])
    // Without the first 656 a client does not know of the block, but could wait an hour.
    await lose(1)
    expect(await misuse()).toEqual({ count: 2, excused: 1 })
  })

  it('does not excuse who asks within the hour after what may have been the last page, or nothing', async () => {
    await ask({ ultNSU: 0 })
    await ask({ ultNSU: 50 })
    await lose(1)
    expect((await ask({ ultNSU: 50 })).cStat).toBe('656')
    expect(await misuse()).toEqual({ count: 1, excused: 0 })
    await lose(2)
    await advance(hourMs / 2)
    expect((await ask({ ultNSU: 50 })).cStat).toBe('656')
    expect(await misuse()).toEqual({ count: 2, excused: 0 })
    expect((await rows()).map((row) => row.excused)).toEqual([undefined, undefined, false, false])
  })

  it('excuses who waited the hour and finds a cursor that it was never told', async () => {
    await ask({ ultNSU: 0 })
    await ask({ ultNSU: 50 })
    await lose(1)
    await advance(hourMs + 1)
    expect(await ask({ ultNSU: 50 })).toMatchObject({ cStat: '656', ultNSU: nsu(60) })
    expect(await misuse()).toEqual({ count: 1, excused: 1 })
  })

  it('excuses nothing once a page arrived after it', async () => {
    await ask({ ultNSU: 0 })
    await ask({ ultNSU: 50 })
    await ask({ ultNSU: 60 })
    await lose(0)
    expect(await misuse()).toEqual({ count: 1, excused: 0 })
  })

  it('stays lost over a query by NSU, which does not tell the cursor', async () => {
    await ask({ ultNSU: 0 })
    await lose(0)
    expect((await ask({ NSU: 1 })).cStat).toBe('138')
    expect((await ask({ ultNSU: 0 })).cStat).toBe('656')
    expect(await misuse()).toEqual({ count: 1, excused: 1 })
    await advance(hourMs + 1)
    expect((await ask({ ultNSU: 50 })).cStat).toBe('138')
    await ask({ NSU: 1 })
    await ask({ NSU: 2 })
    await ask({ ultNSU: 50 })
    await lose(4)
    expect(await misuse()).toEqual({ count: 2, excused: 1 })
  })

  it('must be one of the log; what did not count cannot be lost', async () => {
    await expect(test.control('POST', 'lost', { ids: [1e9] })).rejects.toThrow('404')
    await expect(test.control('POST', 'lost', {})).rejects.toThrow('400')
    await test.control('POST', 'faults', { fault: '108', cnpj, times: 1 })
    await ask({ ultNSU: 0 })
    expect(await lose(0)).toEqual({ lost: [] })
    expect(await rows()).toMatchObject([{ cStat: 108, counted: false, lost: false }])
  })
})
