import { expect, test } from 'vitest'
import { countForCall, readText, sortFiles } from './batch-files.ts'

test('certificates, lists and what is neither are told apart', () => {
  const files = ['a.PFX', 'b.p12', 'senhas.csv', 'contrato.pdf'].map((name) => new File(['x'], name))
  const { certificates, lists, left } = sortFiles([
    ...files,
    new File([new Uint8Array(102_401)], 'grande.pfx'),
    new File([], 'vazio.pfx'),
  ])
  expect(certificates.map(({ name }) => name)).toEqual(['a.PFX', 'b.p12'])
  expect(lists.map(({ name }) => name)).toEqual(['senhas.csv'])
  expect(left.map(({ name }) => name)).toEqual(['contrato.pdf', 'grande.pfx', 'vazio.pfx'])
})

test('a list of an old spreadsheet keeps its accents', async () => {
  expect(await readText(new Blob(['CNPJ;é']))).toBe('CNPJ;é')
  expect(await readText(new Blob([new Uint8Array([0x43, 0x3b, 0xe9])]))).toBe('C;é')
})

test('a call takes twenty files, and fewer when they are large', () => {
  const files = (count: number, size: number) => Array.from({ length: count }, () => ({ size }))
  expect(countForCall(files(50, 5_000), 0)).toBe(20)
  expect(countForCall(files(50, 5_000), 45)).toBe(5)
  expect(countForCall(files(50, 100_000), 0)).toBe(1)
  expect(countForCall(files(3, 60_000), 0)).toBe(2)
})
