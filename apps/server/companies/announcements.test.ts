import { expect, test } from 'vitest'
import { companyAnnouncements } from './announcements.ts'

const company = (name: string, cnpj = '44555666000181') => ({
  companyId: 1,
  company: name,
  companyPublicId: name,
  payload: { cnpj, by: 'Ana' },
})
const write = companyAnnouncements['empresa-cadastrada']!.write

test('one leads to its page, several to the list', () => {
  expect(write([company('A')])?.link).toBe('/empresas/editar/A')
  expect(write([company('A'), company('A')])?.link).toBe('/empresas')
})

test('a new company is told with who registered it, several with the first names', () => {
  expect(write([company('PADARIA SOL LTDA')])?.body).toBe(
    'PADARIA SOL LTDA (44.555.666/0001-81) foi cadastrada por Ana. A primeira captura começa em instantes.',
  )
  expect(write([company('A'), company('B')])?.body).toMatch(/^2 empresas foram cadastradas: A e B\. /)
  expect(write([...Array(1000).keys()].map((n) => company(`E${n}`)))?.body).toMatch(
    /^1\.000 empresas foram cadastradas: E0, E1 e mais 998 empresas\. /,
  )
})
