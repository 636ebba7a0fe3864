import { describe, expect, test } from 'vitest'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { readPng } from './pdf/png.ts'
import { writeCte } from './support/cte.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { writeNfe } from './support/nfe.ts'
import { png } from './support/png.ts'
import { withTpImp } from './support/variants.ts'

const shapes: [string, Uint8Array][] = [
  ['wide', png(600, 100)],
  ['square', png(200, 200)],
  ['high', png(40, 400)],
]

const forms: [string, (logo: Uint8Array) => Uint8Array][] = [
  ['DANFE', (logo) => danfe(writeNfe(), { logo })],
  ['DANFE with long names', (logo) => danfe(writeNfe({ long: true }), { logo })],
  ['DANFE in landscape', (logo) => danfe(withTpImp(writeNfe({ items: 80 }), '2'), { logo })],
  ['DACTE', (logo) => dacte(writeCte(), { logo })],
  ['DACTE in landscape', (logo) => dacte(withTpImp(writeCte({ documents: 200 }), '2'), { logo })],
]

describe.each(forms)('the %s', (_, print) => {
  test.each(shapes)('has a %s logo on every sheet, beside what it says', (_, logo) => {
    const pages = readGraphics(print(logo))
    const { width, height } = readPng(logo)
    for (const { pictures } of pages) {
      expect(pictures).toHaveLength(1)
      expect(pictures[0]!.width / pictures[0]!.height).toBeCloseTo(width / height, 1)
    }
    expect(layoutFaults(pages)).toEqual([])
  })
})

test('the picture is in the file once, as it came', async () => {
  const logo = png(60, 20)
  const file = Buffer.from(danfe(writeNfe({ items: 60 }), { logo }))
  expect(file.indexOf(readPng(logo).data)).toBeGreaterThan(0)
  expect(file.toString('latin1').match(/\/Subtype\/Image/g)).toHaveLength(1)
  expect(Buffer.from(danfe(writeNfe({ items: 60 }), { logo })).equals(file)).toBe(true)
})

test('another kind of PNG is a mistake of the caller', () => {
  expect(() => danfe(writeNfe(), { logo: png(10, 10, 6) })).toThrow('no PNG of eight bits')
  expect(() => danfe(writeNfe(), { logo: new Uint8Array(10) })).toThrow('no PNG of eight bits')
})
