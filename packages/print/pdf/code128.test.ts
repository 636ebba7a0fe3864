import { describe, expect, test } from 'vitest'
import { scan } from '../support/scan.ts'
import { code128Modules, code128Symbols } from './code128.ts'

describe('symbols of the official vectors', () => {
  test('a numeric chave uses set C only', () => {
    const symbols = code128Symbols('35260811222333000181550010000123451876543214')
    const pairs = [35, 26, 8, 11, 22, 23, 33, 0, 1, 81, 55, 0, 10, 0, 1, 23, 45, 18, 76, 54, 32, 14]
    expect(symbols).toEqual([105, ...pairs, 59, 106])
  })

  test('letters go to set A and digits return to set C', () => {
    expect(code128Symbols('5225AB83')).toEqual([105, 52, 25, 101, 33, 34, 99, 83, 30, 106])
  })

  test('an alphanumeric chave', () => {
    const body = [43, 26, 9, 12, 101, 33, 34, 35, 19, 99, 45, 1, 101, 36, 37, 99, 35, 55, 0, 10, 0, 0, 0, 77, 10, 1, 12]
    expect(code128Symbols('43260912ABC34501DE35550010000000771001122331')).toEqual([105, ...body, 23, 31, 21, 106])
  })

  test('the second code of FS-DA has check symbol 6', () => {
    const symbols = code128Symbols('415445556660001810000000077002512053')
    expect(symbols[symbols.length - 2]).toBe(6)
  })
})

test('a numeric chave takes 277 modules', () => {
  const modules = code128Modules(code128Symbols('35260811222333000181550010000123451876543214'))
  expect(modules.reduce((sum, one) => sum + one, 0)).toBe(277)
})

test.each([
  '35260811222333000181550010000123451876543214',
  '43260912ABC34501DE35550010000000771001122331',
  '3526091A2B3C4D5E6F9055001000000001112345678X',
  'A1B2C3D4',
])('a reader finds %s', async (text) => {
  const modules = code128Modules(code128Symbols(text))
  const bars = []
  let x = 20
  for (const [i, width] of modules.entries()) {
    if (i % 2 === 0) bars.push({ x, y: 10, width: width * 0.72, height: 40 })
    x += width * 0.72
  }
  const codes = await scan({ width: x + 20, height: 60, rules: [], bars, pictures: [], runs: [] }, 300)
  expect(codes).toEqual([{ format: 'Code128', text }])
})
