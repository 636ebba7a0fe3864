import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { describe, expect, test } from 'vitest'
import { passwordsFor, readPasswordList } from './passwords.ts'

const [market, letters, bank] = ['11222333000181', '12ABC34501DE35', '00000000000191']

describe('a list of passwords', () => {
  test.each([
    ['with semicolons', `${market};um\n${letters};dois`],
    ['with commas, a mask and quotes', `"11.222.333/0001-81","um"\r\n12.abc.345/01de-35, dois \r\n`],
    ['with tabs, as copied from a spreadsheet', `${market}\tum\n\n${letters}\tdois\n`],
    [
      'with names of columns above and another column before',
      `\uFEFFNome;CNPJ;Senha\nA;${market};um\nB;${letters};dois`,
    ],
  ])('%s', (_, text) => {
    expect(readPasswordList(text)).toEqual({
      shared: null,
      named: [
        { cnpj: market, passwords: ['um'] },
        { cnpj: letters, passwords: ['dois'] },
      ],
      unread: [],
    })
  })

  test('takes a separator for a part of the password as well as for its end', () => {
    expect(readPasswordList(`${market};se;nha\n${market};"a""b"`).named).toEqual([
      { cnpj: market, passwords: ['se;nha', 'se'] },
      { cnpj: market, passwords: ['a"b'] },
    ])
  })

  test('finds the zeros that a spreadsheet left out, where they can be told', () => {
    const zero = `016024980001${cnpjCheckDigits('016024980001')}`
    expect(readPasswordList(`${zero.slice(1)};um\n1,6E+12;dois`)).toMatchObject({
      named: [{ cnpj: zero }],
      unread: [2],
    })
    expect(readPasswordList(`${bank};um`).named).toHaveLength(1)
  })

  test('tells the lines that give nothing', () => {
    expect(readPasswordList(`CNPJ;Senha\n${market};\n11222333000182;um\n\numa senha\n${letters};dois`)).toMatchObject({
      named: [{ cnpj: letters }],
      unread: [2, 3, 5],
    })
  })

  test.each(['segredo', 'se;nha', ' com espaço', market])('may be one password for all: %s', (text) => {
    expect(readPasswordList(`${text}\n`)).toEqual({ shared: text, named: [], unread: [] })
  })
})

describe('the passwords of a file', () => {
  const list = readPasswordList(`${letters};um\n${market};dois\n11222333000262;três\n${bank};um`)

  test('are those of the CNPJ in its name, of its base, and then the others, each once', () => {
    expect(passwordsFor(list, 'MERCADO 11.222.333-0001-81 2027.pfx')).toEqual(['dois', 'três', 'um'])
    expect(passwordsFor(list, '12abc34501de35.p12')).toEqual(['um', 'dois', 'três'])
    expect(passwordsFor(list, 'certificado.pfx')).toEqual(['um', 'dois', 'três'])
  })

  test('are last those of who has a certificate', () => {
    expect(passwordsFor(list, 'certificado.pfx', new Set([letters, bank]))).toEqual(['dois', 'três', 'um'])
    expect(passwordsFor(list, 'certificado.pfx', new Set([letters]))).toEqual(['dois', 'três', 'um'])
    expect(passwordsFor(list, `${market}.pfx`, new Set([market]))).toEqual(['dois', 'três', 'um'])
  })

  test('is the one for all', () =>
    expect(passwordsFor(readPasswordList('segredo'), `${market}.pfx`)).toEqual(['segredo']))
})
