import { expect, test } from 'vitest'
import { describeDeadline, untilText } from './deadlines.ts'

const now = new Date(2026, 10, 20, 9, 0)
const words = (ate: Date, para: 'ciencia' | 'manifestacao' | 'desacordo' = 'ciencia') =>
  describeDeadline({ para, ate: ate.toISOString() }, now)

test.each([
  [new Date(2026, 10, 20, 14, 10), 'hoje, 14:10', 'now'],
  [new Date(2026, 10, 21, 0, 5), 'amanhã', 'now'],
  [new Date(2026, 10, 23, 23, 59), '3 dias', 'soon'],
  [new Date(2026, 10, 27, 1, 0), '7 dias', 'soon'],
  [new Date(2026, 10, 28, 1, 0), '8 dias', 'calm'],
] as const)('%s is "Ciência: %s"', (ate, left, urgency) => {
  expect(words(ate)).toMatchObject({ name: 'Ciência', left, urgency })
})

test('each kind of answer has its text', () => {
  expect(words(new Date(2026, 10, 30, 12, 0), 'manifestacao')).toMatchObject({
    name: 'Resposta',
    left: '10 dias',
    long: 'A resposta final pode ser dada até 30/11 às 12:00',
  })
  expect(words(new Date(2026, 10, 30, 12, 0), 'desacordo')).toMatchObject({ name: 'Desacordo', left: '10 dias' })
})

test('a passed deadline and an invalid date have no text', () => {
  expect(words(new Date(2026, 10, 20, 8, 59))).toBeNull()
  expect(describeDeadline({ para: 'ciencia', ate: 'nunca' }, now)).toBeNull()
})

test('before answers leave, the first deadline of their documents is said', () => {
  const until = (day: number) => new Date(2026, 10, day, 14, 10).toISOString()
  expect(untilText(until(25), 1, now)).toBe('O prazo vai até 25/11 às 14:10 (faltam 5 dias).')
  expect(untilText(until(20), 3, now)).toBe('O primeiro prazo vai até 20/11 às 14:10 (termina hoje).')
})
