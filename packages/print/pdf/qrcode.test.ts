import { expect, test } from 'vitest'
import type { Bar } from '../support/graphics.ts'
import { scan } from '../support/scan.ts'
import { qrCode } from './qrcode.ts'

const url = 'https://dfe-portal.svrs.rs.gov.br/cte/qrCode?chCTe=35260899387251000138570010000012341876543213&tpAmb=1'

async function read(text: string): Promise<string | undefined> {
  const dark = qrCode(text)!
  const side = 2
  const bars: Bar[] = []
  dark.forEach((row, y) => {
    row.forEach((set, x) => {
      if (set) bars.push({ x: (x + 4) * side, y: (y + 4) * side, width: side, height: side })
    })
  })
  const size = (dark.length + 8) * side
  return (await scan({ width: size, height: size, rules: [], bars, pictures: [], runs: [] }, 144))[0]?.text
}

test.each([1, 14, 15, 62, 106, 107, 213, 500, 900, 1500, 2331])(
  'a reader finds a text of %i characters',
  async (length) => {
    const text = url.repeat(30).slice(0, length)
    expect(await read(text)).toBe(text)
  },
)

test('the smallest version that holds the text', () => {
  expect(qrCode('a'.repeat(14))!.length).toBe(21)
  expect(qrCode('a'.repeat(15))!.length).toBe(25)
  expect(qrCode('a'.repeat(2331))!.length).toBe(177)
})

test('accents survive', async () => {
  expect(await read('São João')).toBe('São João')
})

test('a text longer than the largest code', () => {
  expect(qrCode('a'.repeat(2332))).toBeNull()
})
