import { expect, test } from 'vitest'
import { documentAddress, listAddress, monthsUntil } from './links.ts'

test('months go back to January of 2026', () => {
  expect(monthsUntil(new Date(2026, 2, 31))).toEqual(['2026-03', '2026-02', '2026-01'])
  expect(monthsUntil(new Date(2027, 0, 15))).toHaveLength(13)
})

test('a number opens the list of its documents', () => {
  const behind = { month: '2026-02', company: '', tipoDFe: 0 }
  expect(listAddress(behind)).toBe('/notas-fiscais?de=2026-02-01&ate=2026-02-28&contaComo=compras')
  expect(listAddress({ ...behind, tipoDFe: 2, company: 'x', reform: 'sem', supplier: '11222333000181' })).toBe(
    '/cte?de=2026-02-01&ate=2026-02-28&contaComo=fretes&empresa=x&reforma=sem&linha=participante%3A11222333000181',
  )
  expect(listAddress({ ...behind, cfop: '5102' })).toMatch(/&linha=cfop%3A5102$/)
  expect(documentAddress({ idDFe: 'a', tipoDFe: 0 })).toBe('/notas-fiscais?periodo=todos&documento=a')
})
