import { expect, test } from 'vitest'
import { winAnsi } from './winansi.ts'

test('Latin text passes as it is', () => {
  expect(winAnsi('AÇÚCAR – R$ 1,00')).toBe('AÇÚCAR \x96 R$ 1,00')
  expect(winAnsi('plain')).toBe('plain')
  expect(winAnsi('“aspas” € ™')).toBe('\x93aspas\x94 \x80 \x99')
})

test('decomposed accents are composed first', () => {
  expect(winAnsi('A\u0301GUA E\u0327')).toBe('\xc1GUA E')
})

test('what the faces have stays; other characters are spelled or decomposed, never a question mark', () => {
  expect(winAnsi('ĉapo ≤ 5 Ω → ⅛ µ μ ₂')).toBe('ĉapo ≤ 5 Ω → ⅛ µ μ ₂')
  expect(winAnsi('ﬁm ✓ ⇒ ǭ ５')).toBe('fim √ => o 5')
  expect(winAnsi('中')).toBe('[U+4E2D]')
  expect(winAnsi('😀')).toBe('[U+1F600]')
  expect(winAnsi('Ω中≥😀')).not.toContain('?')
})

test('no sign becomes one that says the opposite', () => {
  expect(winAnsi('✓ ✔ ✗')).toBe('√ √ [U+2717]')
  expect(winAnsi('≠ ≮ ⇏ ∉ ≰')).toBe('≠ [U+226E] [U+21CF] [U+2209] [U+2270]')
  expect(winAnsi('x\u0338')).toBe('x[U+0338]')
})

test('a soft hyphen is not printed', () => {
  expect(winAnsi('mer\u00adca\u00addo\u00adria')).toBe('mercadoria')
  expect(winAnsi('“mer\u00adcadoria”')).toBe('\x93mercadoria\x94')
})

test('control characters become spaces, invisible ones vanish', () => {
  expect(winAnsi('a\tb\nc')).toBe('a b c')
  expect(winAnsi('a\u200bb\ufeffc')).toBe('abc')
  expect(winAnsi('a\u2009b\u2028c')).toBe('a b c')
})
