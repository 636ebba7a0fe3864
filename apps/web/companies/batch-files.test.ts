import type { BatchFile } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { countForCall, groupProblems, readText, sortFiles } from './batch-files.ts'

test('certificates, lists and what is neither are told apart', () => {
  const files = ['a.PFX', 'b.p12', 'senhas.csv', 'contrato.pdf'].map((name) => new File(['x'], name))
  const { certificates, lists, left } = sortFiles([
    ...files,
    new File([new Uint8Array(32_769)], 'grande.pfx'),
    new File([], 'vazio.pfx'),
  ])
  expect(certificates.map(({ name }) => name)).toEqual(['a.PFX', 'b.p12'])
  expect(lists.map(({ name }) => name)).toEqual(['senhas.csv'])
  expect([...left]).toEqual([
    ['Não é .pfx nem .p12', ['contrato.pdf']],
    ['Mais de 32 KB', ['grande.pfx']],
    ['Vazio', ['vazio.pfx']],
  ])
})

test('that there are too many is told once', () => {
  const { certificates, left } = sortFiles(Array.from({ length: 1_003 }, (_, n) => new File(['x'], `${n}.pfx`)))
  expect(certificates).toHaveLength(1_000)
  expect([...left]).toEqual([
    ['Além de 1.000 certificados, para enviar depois destes', ['1000.pfx', '1001.pfx', '1002.pfx']],
  ])
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

test('a problem that several files of a batch have is told once', () => {
  const file = (nome: string, situacao: BatchFile['situacao'], mensagem: string): BatchFile => ({
    nome,
    situacao,
    mensagem,
    idEmpresa: null,
    razaoSocial: null,
    cnpj: null,
  })
  const full = 'O plano Profissional permite até 10 empresas.'
  const files = [
    file('a.pfx', 'problema', full),
    file('b.pfx', 'na-fila', ''),
    file('c.pfx', 'na-fila', ''),
    file('d.pfx', 'problema', full),
    file('e.pfx', 'problema', 'Este certificado venceu.'),
  ]
  const names = groupProblems(files).map((group) => group.map(({ nome }) => nome))
  expect(names).toEqual([['a.pfx', 'd.pfx'], ['b.pfx'], ['c.pfx'], ['e.pfx']])
})
