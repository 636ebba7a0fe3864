import { describe, expect, test } from 'vitest'
import { readWords } from './words.ts'

const none = { chave: null, amounts: [], ranges: [], days: [], others: [] }

describe('what a person typed', () => {
  test.each([
    ['16.471,02', { from: '16471.02', to: '16471.02' }],
    ['R$ 16.471,02', { from: '16471.02', to: '16471.02' }],
    ['r$500', { from: '500', to: '500' }],
    ['16471.02', { from: '16471.02', to: '16471.02' }],
    ['> 10.000', { above: '10000' }],
    ['>=R$ 10.000,5', { from: '10000.5' }],
    ['<500', { below: '500' }],
    ['1000 .. R$ 2.000,00', { from: '1000', to: '2000.00' }],
  ])('%s is an amount', (text, amount) => {
    expect(readWords(text)).toEqual({ ...none, amounts: [amount] })
  })

  test.each([
    ['15/10/2026', { ranges: [{ from: '2026-10-15T00:00:00', until: '2026-10-16T00:00:00' }] }],
    ['31/12/26', { ranges: [{ from: '2026-12-31T00:00:00', until: '2027-01-01T00:00:00' }] }],
    ['12/2026', { ranges: [{ from: '2026-12-01T00:00:00', until: '2027-01-01T00:00:00' }] }],
    ['29/02', { days: [{ month: 2, day: 29 }] }],
  ])('%s is a date', (text, date) => {
    expect(readWords(text)).toEqual({ ...none, ...date })
  })

  test.each(['31/02', '29/02/2026', '0/10', '13/2026', '1.2.3,00', '>papel', '1..x', 'R$'])(
    '%s is neither: it may be part of a name',
    (text) => {
      expect(readWords(text).others).toMatchObject([{ name: text.toLowerCase() }])
    },
  )

  test('a number may be a number, and from eight digits on part of a CNPJ', () => {
    expect(readWords('1.234').others).toMatchObject([{ name: '1.234', taxId: null, number: 1234, chave: null }])
    expect(readWords('11222333').others).toMatchObject([{ number: 11_222_333, taxId: '11222333' }])
    expect(readWords('0001-81').others).toMatchObject([{ number: null, taxId: '000181' }])
  })

  test.each([
    'NF-e 1.009.727',
    'nf 1009727',
    'NFe: 1009727',
    'nota 1009727',
    'Nota Fiscal nº 1009727',
    'CT-e n. 1009727',
    'NF. 1009727',
    'nota fiscal eletrônica 1.009.727',
  ])('%s is a number', (text) => {
    expect(readWords(text).others).toMatchObject([{ number: 1_009_727 }])
  })

  test('a document is found as the product writes it', () => {
    expect(readWords('NF-e 1.009.727 da ALFA LTDA').others).toMatchObject([
      { number: 1_009_727 },
      { name: 'alfa' },
      { name: 'ltda' },
    ])
    expect(readWords('nota 1.500,00')).toMatchObject({ amounts: [{ from: '1500.00', to: '1500.00' }], others: [] })
  })

  test('a name that begins like a kind of document is a name', () => {
    expect(readWords('nota certa 12').others).toMatchObject([{ name: 'nota' }, { name: 'certa' }, { number: 12 }])
  })

  test('a CFOP and an NCM may stand apart from their kind', () => {
    expect(readWords('cfop 6102').others).toMatchObject([{ name: null, inside: ['cfop:6102'] }])
    expect(readWords('NCM 8471.30').others).toMatchObject([{ name: null, inside: ['ncm:847130*'] }])
  })

  test('a CNPJ that ends as one is no part of a chave; ten other digits may be', () => {
    expect(readWords('11.222.333/0001-81').others).toMatchObject([{ taxId: '11222333000181', chave: null }])
    expect(readWords('1122233300').others).toMatchObject([{ taxId: '1122233300', chave: '1122233300' }])
  })
})
