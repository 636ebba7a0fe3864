import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { child, localTime, openDocument, value } from './document.ts'

test('value leaves out what turns the direction of a text, and the source keeps it', () => {
  const root = openDocument(new TextEncoder().encode('<a><xNome> \u2067\u202EAÇO\u2069 SUL\u202C</xNome></a>'))
  expect(value(root, 'xNome')).toBe('AÇO SUL')
  expect(child(root, 'xNome')?.text).toContain('\u202E')
})

describe('localTime', () => {
  test.each([
    ['2026-11-10T09:15:00-03:00', '2026-11-10T09:15:00', -180],
    ['2026-11-10T23:59:59-04:30', '2026-11-10T23:59:59', -270],
    ['2026-11-10T09:15:00+01:00', '2026-11-10T09:15:00', 60],
    ['2026-11-10T09:15:00Z', '2026-11-10T09:15:00', 0],
    ['2026-11-10T09:15:00.123-03:00', '2026-11-10T09:15:00', -180],
    ['2026-11-10T09:15:00', '2026-11-10T09:15:00', null],
    ['2010-02-28', '2010-02-28T00:00:00', null],
    ['2024-02-29', '2024-02-29T00:00:00', null],
  ])('%s is %s at %s minutes', (text, local, offset) => {
    expect(localTime(text)).toEqual({ local, offset })
  })

  test.each([
    '',
    '2026-02-30',
    '2026-13-01',
    '2025-02-29',
    '2026-04-31',
    '2026-11-10T24:00:00',
    '2026-11-10T09:15:00+99:00',
    '10/11/2026',
    '0001-01-01',
    '2026-11-10T09:15',
    '2026-11-10Z',
  ])('%s is no date', (text) => {
    expect(localTime(text)).toBeNull()
  })

  test('every second of our centuries is understood as it is written', () => {
    const date = fc.date({ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    fc.assert(fc.property(date, (date) => localTime(date.toISOString())?.local === date.toISOString().slice(0, 19)))
  })
})
