import { describe, expect, test } from 'vitest'
import {
  cep,
  date,
  dateTime,
  documentNumber,
  joined,
  money,
  percent,
  phone,
  quantity,
  series,
  taxId,
  time,
  weight,
} from './formats.ts'

describe('numbers are text turned into text', () => {
  test.each([
    ['0', '0,00'],
    ['10', '10,00'],
    ['10.5', '10,50'],
    ['1234567.89', '1.234.567,89'],
    ['9999999999999.99', '9.999.999.999.999,99'],
    ['0.30', '0,30'],
    ['001.00', '1,00'],
    ['abc', 'abc'],
  ])('money %s', (text, printed) => expect(money(text)).toBe(printed))

  test.each([
    ['26.5828', '26,5828'],
    ['10.0000', '10,00'],
    ['1250.5000', '1.250,50'],
    ['0.0012345678', '0,0012345678'],
    ['137.4626000000', '137,4626'],
    ['99999999999.9999999999', '99.999.999.999,9999999999'],
  ])('quantity %s', (text, printed) => expect(quantity(text)).toBe(printed))

  test('weights have three decimals, rates two to four', () => {
    expect(weight('1234.567')).toBe('1.234,567')
    expect(weight('25.88')).toBe('25,880')
    expect(percent('18.0000')).toBe('18,00')
    expect(percent('0.1250')).toBe('0,125')
  })

  test('what the file lacks is not invented', () => {
    expect(money(undefined)).toBeUndefined()
    expect(quantity(undefined)).toBeUndefined()
    expect(dateTime(undefined)).toBeUndefined()
  })
})

describe('dates come from the characters of the text', () => {
  test('the offset is never applied', () => {
    expect(dateTime('2026-12-05T10:15:30-03:00')).toBe('05/12/2026 10:15:30')
    expect(dateTime('2026-12-05T23:59:59+14:00')).toBe('05/12/2026 23:59:59')
    expect(date('2026-12-05T00:10:00-05:00')).toBe('05/12/2026')
    expect(time('2026-12-05T09:30:00-03:00')).toBe('09:30:00')
  })

  test('the fields of layouts up to 2.00', () => {
    expect(date('2010-10-01')).toBe('01/10/2010')
    expect(time('14:30:00')).toBe('14:30:00')
    expect(time('2010-10-01')).toBeUndefined()
    expect(dateTime('2010-10-01')).toBe('01/10/2010')
  })
})

describe('identifiers', () => {
  test('numbers and series of documents', () => {
    expect(documentNumber('1234')).toBe('000.001.234')
    expect(documentNumber('999999999')).toBe('999.999.999')
    expect(series('1')).toBe('001')
  })

  test('CNPJ with letters, CPF, and none for zeros', () => {
    expect(taxId('12ABC34501DE35', undefined)).toBe('12.ABC.345/01DE-35')
    expect(taxId(undefined, '52998224725')).toBe('529.982.247-25')
    expect(taxId('00000000000000', undefined)).toBeUndefined()
    expect(taxId(undefined, undefined)).toBeUndefined()
  })

  test.each([
    ['1133334444', '(11) 3333-4444'],
    ['11933334444', '(11) 93333-4444'],
    ['5511933334444', '+55 (11) 93333-4444'],
    ['08003334444', '0800 333 4444'],
    ['99900000', '99900000'],
  ])('telephone %s', (text, printed) => expect(phone(text)).toBe(printed))

  test('postal codes are padded', () => {
    expect(cep('1001000')).toBe('01001-000')
    expect(cep('CEP?')).toBe('CEP?')
  })

  test('absent pieces leave no separator behind', () => {
    expect(joined(' - ', 'a', undefined, 'b')).toBe('a - b')
    expect(joined(' - ', undefined)).toBeUndefined()
  })
})
