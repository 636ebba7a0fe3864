import type { CompanyRow } from '@vigia/contract/companies'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { expect, test } from 'vitest'
import { paletteEntries } from './entries.ts'

const company = (id: string, razaoSocial: string, cnpj: string) => ({ id, razaoSocial, cnpj }) as CompanyRow
const companies = [
  company('a', 'PADARIA SÃO JOÃO LTDA', '12ABC34501DE35'),
  company('b', 'MERCADO DA ESQUINA', '11222333000181'),
]
const views = [{ idVisao: 'v', tipoDFe: 2, nome: 'Fretes sem resposta', endereco: 'status=8' }]
const find = (text: string, issuers: { nome: string; cnpjCpf: string }[] = []) =>
  paletteEntries(text, { views, companies, issuers })
const targets = (text: string) => find(text).map(({ to }) => to)
const withDigit = (first43: string) => `${first43}${chaveCheckDigit(first43)}`

test('without a word all screens and views are there, and nothing else', () => {
  expect(new Set(find(' ').map(({ group }) => group))).toEqual(new Set(['Telas', 'Visões']))
  expect(targets('resposta fretes')).toContain('/cte?status=8')
})

test('screens are found by their names and by other words for them, with or without accents', () => {
  expect(targets('sessoes')).toContain('/conta#sessoes')
  expect(targets('frete')).toContain('/cte')
  expect(targets('compras fornecedor')).toContain('/relatorios')
  expect(targets('cobrança transportadora')).toContain('/fretes')
  expect(targets('certificados vencem')).toContain('/empresas?so=certificado')
})

test('a screen stands before the search for its name; where none is called so, the search is first', () => {
  expect(targets('Auditoria')[0]).toBe('/auditoria')
  expect(targets('empresas').slice(0, 3)).toEqual([
    '/empresas',
    '/empresas?so=problema',
    '/notas-fiscais?busca=empresas&periodo=todos',
  ])
  expect(targets('frete')[0]).toBe('/notas-fiscais?busca=frete&periodo=todos')
})

test('companies are found by words in any order and by a part of the CNPJ, and lead to their notes of any month', () => {
  for (const text of ['joao padaria', '12.ABC.345', '12abc'])
    expect(targets(text)).toContain('/notas-fiscais?empresa=a&periodo=todos')
  expect(targets('11.222.333/0001-81')).toContain('/notas-fiscais?empresa=b&periodo=todos')
  expect(find('ltda').filter(({ group }) => group === 'Empresas')).toHaveLength(1)
})

test('what was typed is searched in both lists; a chave leads to its own, however it is written', () => {
  expect(targets('papel 1234').slice(0, 2)).toEqual([
    '/notas-fiscais?busca=papel+1234&periodo=todos',
    '/cte?busca=papel+1234&periodo=todos',
  ])
  const note = withDigit('3526111122233300018155001000001234100000123')
  const freight = withDigit('3526111122233300018157001000001234100000123')
  expect(targets(note.replace(/(.{4})/g, '$1 '))).toEqual([`/notas-fiscais?busca=${note}&periodo=todos`])
  expect(targets(freight)).toEqual([`/cte?busca=${freight}&periodo=todos`])
})

test('issuers that the server suggests are shown with their number', () => {
  const [last] = find('papelaria', [{ nome: 'PAPELARIA SOL', cnpjCpf: '11222333000181' }]).slice(-1)
  expect(last).toMatchObject({
    group: 'Emitentes',
    detail: '11.222.333/0001-81',
    to: '/fornecedores/11222333',
  })
})
