import { expect, onTestFinished, test, vi } from 'vitest'
import {
  endSentence,
  formatAtMoment,
  formatBrasiliaDay,
  formatBrasiliaDayAndTime,
  formatBrasiliaMoment,
  formatBrasiliaShortMoment,
  formatBrasiliaTime,
  formatCount,
  formatDate,
  formatInstantDate,
  formatList,
  formatMoment,
  formatMoney,
  formatMonth,
  formatRelative,
  formatShortDay,
  formatTime,
  formatWeekday,
  formatWrittenTime,
  writeBrasiliaTime,
} from './text.ts'

const now = new Date('2026-11-20T12:00:00Z')

test.each([
  [0, 'R$ 0,00'],
  [1234.5, 'R$ 1.234,50'],
  [9_999_999_999.99, 'R$ 9.999.999.999,99'],
])('money %d is %s', (value, text) => {
  expect(formatMoney(value).replace(/\s/, ' ')).toBe(text)
})

test('a date keeps the day that the document prints, whatever the offset', () => {
  expect(formatDate('2026-11-01T00:30:00-03:00')).toBe('01/11/2026')
  expect(formatDate('2026-11-01T23:30:00+14:00')).toBe('01/11/2026')
  expect(formatDate('2026-11-01')).toBe('01/11/2026')
  expect(formatWrittenTime('2026-11-01T00:30:00-05:00')).toBe('00:30')
  expect(formatWrittenTime('2026-11-01')).toBe('')
})

test('a date without time is that day, west of Greenwich too', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Sao_Paulo']) {
    vi.stubEnv('TZ', zone)
    expect(formatInstantDate('2026-12-31')).toBe('31/12/2026')
  }
  expect(formatInstantDate('2027-01-01T02:59:59Z')).toBe('31/12/2026')
  expect(formatInstantDate('ontem')).toBe('Data inválida')
})

test.each([
  [null, 'Nunca'],
  ['ontem', 'Data inválida'],
  ['2026-11-20T11:59:30Z', 'há menos de 1 minuto'],
  ['2026-11-20T11:37:00Z', 'há 23 minutos'],
  ['2026-11-20T10:59:00Z', 'há 1 hora'],
  ['2026-11-18T12:00:00Z', 'há 2 dias'],
  ['2026-08-20T12:00:00Z', 'há 3 meses'],
  ['2024-11-20T12:00:00Z', 'há 2 anos'],
])('relative %s is %s', (instant, text) => {
  expect(formatRelative(instant, now)).toBe(text)
})

test('a moment of another day carries the day', () => {
  const sameDay = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 14, 10)
  const nextDay = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9, 5)
  expect(formatMoment(sameDay.toISOString(), now)).toBe('14:10')
  expect(formatMoment(nextDay.toISOString(), now)).toBe('21/11 às 09:05')
  expect(formatAtMoment(sameDay.toISOString(), now)).toBe('às 14:10')
  expect(formatAtMoment(nextDay.toISOString(), now)).toBe('em 21/11 às 09:05')
  expect(formatMoment('x', now)).toBe('')
  expect(formatAtMoment('x', now)).toBe('')
  expect(formatTime('x')).toBe('')
})

test('counts agree with their noun', () => {
  expect(formatCount(1, 'nota', 'notas')).toBe('1 nota')
  expect(formatCount(1240, 'nota', 'notas')).toBe('1.240 notas')
})

test('a list ends with "e"', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(formatList)).toEqual(['', 'a', 'a e b', 'a, b e c'])
})

test('what the server writes is in the time of Brasília, wherever it runs', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  const at = new Date('2026-11-21T01:05:09Z')
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Sao_Paulo']) {
    vi.stubEnv('TZ', zone)
    expect(formatBrasiliaDay(at)).toBe('20/11/2026')
    expect(formatBrasiliaTime(at)).toBe('22:05')
    expect(formatBrasiliaMoment(at)).toBe('20/11/2026 às 22:05')
    expect(formatBrasiliaShortMoment(at)).toBe('20/11 às 22:05')
    expect(formatBrasiliaDayAndTime(at)).toBe('20/11/2026, 22:05')
    expect(writeBrasiliaTime(at)).toBe('2026-11-20T22:05:09')
  }
})

test('a day, a weekday and a month in words', () => {
  const day = new Date(2026, 10, 20)
  expect(formatShortDay(day, now)).toBe('20/11')
  expect(formatShortDay(new Date(2027, 0, 2), now)).toBe('02/01/2027')
  expect(formatWeekday(day)).toBe('sexta-feira, 20/11')
  expect(formatMonth('2026-11')).toBe('novembro de 2026')
})

test('a sentence that ends with a name has one point', () => {
  expect(endSentence('Chegou para PAPEL LTDA')).toBe('Chegou para PAPEL LTDA.')
  expect(endSentence('Chegou para PAPEL S.A.')).toBe('Chegou para PAPEL S.A.')
})
