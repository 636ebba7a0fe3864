import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaveCheckDigit, chaveParts, cleanChave, formatChave, issuerInChave, parseChave } from './chave.ts'

const nfe = '35260811222333000181550010000123451876543214'
const alphanumeric = '43260912ABC34501DE35550010000000771001122331'

// The table of the dossier (chave and CNPJ, §2): the first is the example of the MOC.
test.each([
  ['5206043300991100250655012000000780026730161', 5],
  ['3526081122233300018155001000012345187654321', 4],
  ['4126087788899900018157001000009876113572468', 4],
  ['3526081122233300018155001000000001110000000', 0],
  ['3526081122233300018155001000000001110000006', 0],
  ['43260912ABC34501DE3555001000000077100112233', 1],
  ['43260912ABC34501DE3557001000000042113579246', 5],
  ['352609A1B2C3D400019355001000000001112345678', 6],
])('the check digit of %s is %i', (first43, digit) => {
  expect(chaveCheckDigit(first43)).toBe(digit)
  expect(parseChave(first43 + digit)).toBe(first43 + digit)
})

describe('parseChave', () => {
  test.each([
    ['43 characters', nfe.slice(0, 43)],
    ['45 characters', `${nfe}0`],
    ['another check digit', `${nfe.slice(0, 43)}5`],
    ['a letter outside the CNPJ', `A${nfe.slice(1)}`],
    ['a letter in the check digits of the CNPJ', alphanumeric.replace('DE35', 'DEA5')],
    ['small letters', alphanumeric.toLowerCase()],
    ['a prefix', `NFe${nfe}`],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseChave(text)).toBe(null)
  })

  test('notices any one changed digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 42 }), fc.integer({ min: 1, max: 9 }), (at, step) => {
        const digit = (Number(nfe[at]) + step) % 10
        expect(parseChave(nfe.slice(0, at) + digit + nfe.slice(at + 1))).toBe(null)
      }),
    )
  })

  test('accepts exactly one digit after any 43 characters of the pattern', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{6}[0-9A-Z]{12}[0-9]{25}$/), (first43) => {
        const valid = [...'0123456789'].filter((digit) => parseChave(first43 + digit) !== null)
        expect(valid).toEqual([String(chaveCheckDigit(first43))])
      }),
    )
  })
})

describe('cleanChave', () => {
  test.each([
    ['as printed', formatChave(nfe), nfe],
    ['with the prefix of the Id', `NFe${nfe}`, nfe],
    ['with the prefix of a CT-e', ` CTe${nfe}\n`, nfe],
    ['with dots and dashes', nfe.replace(/(..)/g, '$1.-'), nfe],
    ['in small letters', alphanumeric.toLowerCase(), alphanumeric],
    ['with a prefix in small letters', `nfe${alphanumeric.toLowerCase()}`, alphanumeric],
    ['in the address of a QR Code', `https://sefaz.example/qr?p=${nfe}|2|1|1|ABCDEF`, nfe],
    ['in the address of a CT-e', `https://sefaz.example/qrCode?chCTe=${nfe}&tpAmb=1`, nfe],
    ['something else, which stays as it is', ' 12.ab ', '12AB'],
  ])('%s', (_, text, clean) => {
    expect(cleanChave(text)).toBe(clean)
  })
})

test('formatChave writes eleven groups of four', () => {
  expect(formatChave(nfe)).toBe('3526 0811 2223 3300 0181 5500 1000 0123 4518 7654 3214')
  fc.assert(fc.property(fc.stringMatching(/^[0-9A-Z]{44}$/), (text) => cleanChave(formatChave(text)) === text))
})

test.each([
  // Banco do Brasil.
  ['00000000000191', '001', { cnpj: '00000000000191' }],
  ['00052998224725', '001', { cnpj: '00052998224725' }],
  ['00052998224725', '919', { cnpj: '00052998224725' }],
  ['00052998224725', '920', { cpf: '52998224725' }],
  ['00052998224725', '969', { cpf: '52998224725' }],
  ['00052998224725', '970', { cnpj: '00052998224725' }],
  ['11222333000181', '920', { cnpj: '11222333000181' }],
])('the issuer %s of série %s is %j', (issuer, serie, expected) => {
  expect(issuerInChave(`352608${issuer}55${serie}0000123451876543214`)).toEqual(expected)
})

test('chaveParts cuts by position', () => {
  expect(chaveParts(alphanumeric)).toEqual({
    cUF: '43',
    aamm: '2609',
    cnpj: '12ABC34501DE35',
    mod: '55',
    serie: 1,
    numero: 77,
    tpEmis: '1',
    cNF: '00112233',
  })
})
