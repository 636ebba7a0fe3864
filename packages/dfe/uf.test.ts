import { expect, test } from 'vitest'
import { ufByCode, ufBySigla, ufs } from './uf.ts'

test('there are 27 states, in the order of their codes', () => {
  expect(ufs).toHaveLength(27)
  expect(ufs.map(({ code }) => code)).toEqual(ufs.map(({ code }) => code).sort((a, b) => a - b))
  expect(new Set(ufs.map(({ uf }) => uf)).size).toBe(27)
})

test('they are found by code and by sigla', () => {
  expect(ufByCode(35)).toBe(ufBySigla('sp'))
  expect(ufByCode('42')).toMatchObject({ uf: 'SC', name: 'Santa Catarina' })
  expect([30, 91, '', 'SP', '035x'].map(ufByCode)).toEqual([undefined, undefined, undefined, undefined, undefined])
  expect(ufBySigla('XX')).toBe(undefined)
})
