import type { DocumentRow } from '@vigia/contract/documents'
import { expect, test } from 'vitest'
import { countNews, holdRows } from './steady.ts'

const page = (ids: string, totalDeItens: number | undefined, emitente = 'antes') => ({
  items: [...ids].map((idDfe) => ({ idDfe, emitente }) as DocumentRow),
  totalDeItens,
})

test.each([
  ['nothing came', page('cba', 3), page('cba', 3), true, 0],
  ['the first ones came', page('', 0), page('cba', 3), true, 0],
  ['two came', page('cba', 3), page('edcba', 5), true, 2],
  ['more came than fit on a page', page('cba', 3), page('zyx', 40), true, 37],
  ['some were pushed to the second page', page('cba', 9), page('edc', 11), false, 2],
  ['a server counts nothing', page('cba', undefined), page('dcb', undefined), true, 1],
  ['one went and another took its place', page('cba', 9), page('cb_', 8), true, 0],
  [
    'two came of a frequent word',
    page('cba', 10_000),
    { ...page('edc', 10_000), contadosDesde: '2026-03-12T10:00:00' },
    true,
    2,
  ],
  ['one has another status now, and left the filter', page('cba', 3), page('ca', 2), true, 0],
] as const)('%s', (_, shown, next, isFirst, count) => {
  expect(countNews(shown, next, isFirst)).toBe(count)
})

test('rows that are held keep their places and show what is known of them now', () => {
  const rows = holdRows(page('cba', 3), page('edcb', 5, 'agora'))
  expect(rows.map(({ idDfe, emitente }) => `${idDfe} ${emitente}`)).toEqual(['c agora', 'b agora', 'a antes'])
})
