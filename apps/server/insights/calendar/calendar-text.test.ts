import { expect, test } from 'vitest'
import { writeCalendar } from './calendar-text.ts'

const event = {
  uid: '2026-12-31-ciencia-0@x',
  day: '2026-12-31',
  summary: 'Ciência da Operação: 12 notas, R$ 1.200,00; confira',
  description: 'Uma linha\nOutra \\ linha\u0007',
  url: 'https://vigia.example/prazos',
}
const text = writeCalendar('Prazos', [event], new Date('2026-11-25T10:20:30.400Z'))
const unfolded = text.replaceAll('\r\n ', '')

test('a day of the calendar ends where the next one begins, and texts are escaped', () => {
  expect(unfolded.split('\r\n').slice(16, -1)).toEqual([
    'BEGIN:VEVENT',
    'UID:2026-12-31-ciencia-0@x',
    'DTSTAMP:20261125T102030Z',
    'DTSTART;VALUE=DATE:20261231',
    'DTEND;VALUE=DATE:20270101',
    'SUMMARY:Ciência da Operação: 12 notas\\, R$ 1.200\\,00\\; confira',
    'DESCRIPTION:Uma linha\\nOutra \\\\ linha ',
    'URL:https://vigia.example/prazos',
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
    'END:VCALENDAR',
  ])
})

test('lines end with CRLF and have at most 75 octets, with every character whole', () => {
  const long = writeCalendar('Prazos', [{ ...event, summary: `a${'ção€🚚'.repeat(60)}` }], new Date(0))
  const lines = long.split('\r\n')
  expect(lines.pop()).toBe('')
  expect(lines.every((line) => Buffer.byteLength(line) <= 75 && !/[\r\n\uFFFD]/.test(line))).toBe(true)
  expect(long.replaceAll('\r\n ', '')).toContain(`a${'ção€🚚'.repeat(60)}`)
})
