import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cnpjBase, cnpjCheckDigits, formatCnpj, formatCpf, parseCnpj, parseCpf } from './cnpj.ts'

// The table of the dossier (chave and CNPJ, §3.1); 12ABC34501DE35 is the official example.
test.each([
  ['112223330001', '11222333000181'],
  ['445556660001', '44555666000181'],
  ['445556660002', '44555666000262'],
  ['778889990001', '77888999000181'],
  ['334445550001', '33444555000181'],
  ['000000000001', '00000000000191'],
  ['12ABC34501DE', '12ABC34501DE35'],
  ['A1B2C3D40001', 'A1B2C3D4000193'],
  ['ABCDEFGH0001', 'ABCDEFGH000195'],
  ['1234567890ZZ', '1234567890ZZ91'],
  ['SP9XK2LM0001', 'SP9XK2LM000149'],
])('%s is completed to %s', (first12, cnpj) => {
  expect(first12 + cnpjCheckDigits(first12)).toBe(cnpj)
  expect(parseCnpj(cnpj)).toBe(cnpj)
})

describe('parseCnpj', () => {
  test.each([
    ['with its mask', '12.ABC.345/01DE-35', '12ABC34501DE35'],
    ['in small letters', '12abc34501de35', '12ABC34501DE35'],
    ['with spaces around', ' 11222333000181 ', '11222333000181'],
  ])('accepts %s', (_, text, cnpj) => {
    expect(parseCnpj(text)).toBe(cnpj)
  })

  test.each([
    ['zeros', '00000000000000'],
    ['a wrong digit', '12ABC34501DE36'],
    ['letters in the check digits', '12ABC34501DEAB'],
    ['13 positions', '1222333000181'],
    ['15 positions', '112223330001811'],
    ['a CPF', '11144477735'],
    ['another sign', '11222333000181!'],
    ['letters with accents', 'ÁBCDEFGH000195'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseCnpj(text)).toBe(null)
  })

  test('undoes formatCnpj and accepts one pair of digits for each twelve positions', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z]{12}$/), fc.nat({ max: 99 }), (first12, other) => {
        const cnpj = first12 + cnpjCheckDigits(first12)
        fc.pre(!/^0+$/.test(cnpj))
        expect(parseCnpj(formatCnpj(cnpj))).toBe(cnpj)
        const digits = String(other).padStart(2, '0')
        expect(parseCnpj(first12 + digits) === null).toBe(!cnpj.endsWith(digits))
      }),
    )
  })
})

test('formatCnpj and cnpjBase', () => {
  expect(formatCnpj('12ABC34501DE35')).toBe('12.ABC.345/01DE-35')
  expect(cnpjBase('12ABC34501DE35')).toBe('12ABC345')
})

describe('parseCpf', () => {
  test.each(['11144477735', '52998224725', '12345678909'])('accepts %s', (cpf) => {
    expect(parseCpf(cpf)).toBe(cpf)
    expect(parseCpf(formatCpf(cpf))).toBe(cpf)
  })

  test.each([
    '11144477734',
    '11144477725',
    '00000000000',
    '99999999999',
    '1114447773',
    '111444777350',
    '1114447773A',
    '',
  ])('refuses %j', (text) => {
    expect(parseCpf(text)).toBe(null)
  })

  test('formatCpf', () => {
    expect(formatCpf('12345678909')).toBe('123.456.789-09')
  })
})
