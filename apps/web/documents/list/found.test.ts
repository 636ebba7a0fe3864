import { expect, test } from 'vitest'
import { kinds } from '../../lib/kinds.ts'
import { foundText } from './found.ts'

test('a total that a search cut off says so', () => {
  const kind = kinds[0]!
  expect(foundText({ totalDeItens: 10_000 }, kind)).toBe(`10.000 ${kind.many}`)
  expect(foundText({ totalDeItens: 10_000, contadosDesde: '2026-03-12T10:00:00' }, kind)).toBe(
    `mais de 10.000 ${kind.many}`,
  )
  // Beside another filter they are all of those days.
  expect(foundText({ totalDeItens: 37, contadosDesde: '2026-03-12T10:00:00' }, kind)).toBe(`37 ${kind.many}`)
})
