import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitted } from './logo-file.ts'

test.each([
  [
    { width: 300, height: 100 },
    { width: 300, height: 100 },
  ],
  [
    { width: 1200, height: 400 },
    { width: 600, height: 200 },
  ],
  [
    { width: 4000, height: 4000 },
    { width: 400, height: 400 },
  ],
  [
    { width: 9000, height: 1 },
    { width: 600, height: 1 },
  ],
])('%o is drawn as %o', (picture, drawn) => {
  expect(fitted(picture)).toEqual(drawn)
})

test('never larger than the form allows, and never empty', () => {
  const side = fc.integer({ min: 1, max: 20_000 })
  fc.assert(
    fc.property(side, side, (width, height) => {
      const drawn = fitted({ width, height })
      expect(Math.min(drawn.width, drawn.height)).toBeGreaterThanOrEqual(1)
      expect(drawn.width <= Math.min(600, width) && drawn.height <= Math.min(400, height)).toBe(true)
    }),
  )
})
