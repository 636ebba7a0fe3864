import { expect, test } from 'vitest'
import { hasWords, isPartOfCnpj } from './matching.ts'

test('words are found in any order, with or without accents', () => {
  expect(hasWords('PADARIA SÃO JOÃO LTDA', 'joao padaria')).toBe(true)
  expect(hasWords('PADARIA SÃO JOÃO LTDA', 'João ltd')).toBe(true)
  expect(hasWords('PADARIA SÃO JOÃO LTDA', 'joao mercado')).toBe(false)
})

test('a part of a CNPJ is found with or without its points, and letters alone are a name', () => {
  for (const typed of ['12.ABC.345', '12abc', ' 01DE-35 ']) expect(isPartOfCnpj('12ABC34501DE35', typed)).toBe(true)
  expect(isPartOfCnpj('12ABC34501DE35', 'abc')).toBe(false)
})
