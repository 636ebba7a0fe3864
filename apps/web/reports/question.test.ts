import { expect, test } from 'vitest'
import { documentsOf, readQuestion } from './question.ts'

const question = readQuestion(
  new URLSearchParams('tipo=fretes&por=trecho&de=2026-02&ate=2026-03&empresa=x'),
  new Date(),
)

test('a number opens the list of what it counted, in its months', () => {
  expect(documentsOf(question, { chave: 'SP-PR' }, 'now')).toBe(
    '/cte?contaComo=fretes&linha=trecho%3ASP-PR&empresa=x&de=2026-02-01&ate=2026-03-31',
  )
  expect(documentsOf(question, null, 'yearBefore')).toBe('/cte?contaComo=fretes&empresa=x&de=2025-02-01&ate=2025-03-31')
  const byMonth = { ...question, subject: 'compras', group: 'mes', company: '' } as const
  expect(documentsOf(byMonth, { chave: '2026-03' }, 'before')).toBe(
    '/notas-fiscais?contaComo=compras&de=2026-02-01&ate=2026-02-28',
  )
})

test('without a period a report is of the last whole month, and by month of the last twelve', () => {
  const months = (search: string) => {
    const { from, to } = readQuestion(new URLSearchParams(search), new Date('2026-03-05T12:00:00'))
    return [from, to]
  }
  expect(months('')).toEqual(['2026-02', '2026-02'])
  expect(months('por=mes')).toEqual(['2025-03', '2026-02'])
  expect(months('por=mes&de=2026-01&ate=2026-01')).toEqual(['2026-01', '2026-01'])
})
