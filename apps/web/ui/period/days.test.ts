import { expect, test } from 'vitest'
import { fromDay, lastDays, monthPeriod, parseDay, toDay, writeDay } from './days.ts'

test('the month runs from its first to its last day', () => {
  expect(monthPeriod(new Date(2026, 1, 28))).toEqual({ from: '2026-02-01', to: '2026-02-28' })
  expect(monthPeriod(new Date(2028, 1, 1))).toEqual({ from: '2028-02-01', to: '2028-02-29' })
  expect(monthPeriod(new Date(2026, 0, 31), -1)).toEqual({ from: '2025-12-01', to: '2025-12-31' })
})

test('ninety days back', () => {
  expect(lastDays(new Date(2026, 10, 20), 90)).toEqual({ from: '2026-08-22', to: '2026-11-20' })
})

test.each([
  ['20/11/2026', '2026-11-20'],
  ['2026-11-20', '2026-11-20'],
  ['30/02/2026', null],
  ['20/13/2026', null],
  ['20/11/26', null],
  ['', null],
])('%j is read as %j', (text, day) => {
  expect(parseDay(text)).toBe(day)
})

test('a day is the same after converting it to a date and back', () => {
  expect(toDay(fromDay('2026-03-01'))).toBe('2026-03-01')
  expect(parseDay(writeDay('2026-03-01'))).toBe('2026-03-01')
})
