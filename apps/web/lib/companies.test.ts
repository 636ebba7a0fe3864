import { expect, test } from 'vitest'
import { companyOptions } from './companies.ts'

test('a company has its CNPJ beside its name where another one has the same name', () => {
  const companies = [
    { id: 'a', razaoSocial: 'UNIFORMES VALE VERDE LTDA', cnpj: '98757054000109' },
    { id: 'b', razaoSocial: 'Uniformes Vale Verde Ltda', cnpj: '98.757.054/0002-81' },
    { id: 'c', razaoSocial: 'PADARIA SÃO JOÃO LTDA', cnpj: '12ABC34501DE35' },
  ]
  expect(companyOptions(companies)).toEqual([
    ['a', 'UNIFORMES VALE VERDE LTDA (98.757.054/0001-09)'],
    ['b', 'Uniformes Vale Verde Ltda (98.757.054/0002-81)'],
    ['c', 'PADARIA SÃO JOÃO LTDA'],
  ])
})
