import { expect, test } from 'vitest'
import { type ColumnId, layOut, readHidden } from './columns.ts'

const full = { empty: [], longest: { numero: 5, valor: 13 } }
const describe = (hidden: ColumnId[], width: number, contents: Parameters<typeof layOut>[1] = full) =>
  layOut(hidden, contents, width)
    .map(({ id, under }) => (under ? `${id}+${under}` : id))
    .join(' ')

test('on a wide screen everything has a column of its own', () => {
  expect(describe([], 1392)).toBe('numero emitente empresa valor emissao chegada participacao status prazo')
})

test('without room our columns become second lines, those of the specification stay', () => {
  expect(describe([], 961)).toBe('numero emitente valor emissao+chegada participacao+empresa status+prazo')
  expect(describe([], 1200)).toBe('numero emitente empresa valor emissao+chegada participacao status+prazo')
})

test('a column that no row fills is not shown', () => {
  expect(describe([], 961, { ...full, empty: ['empresa', 'prazo'] })).toBe(
    'numero emitente valor emissao+chegada participacao status',
  )
})

test('what is left out stays out, and what would stand under it stands alone', () => {
  expect(describe(['emissao', 'prazo'], 961, { ...full, empty: ['empresa'] })).toBe(
    'numero emitente valor chegada participacao status',
  )
})

test('an amount of thirteen digits gets its room', () => {
  const widthOf = (valor: number) =>
    layOut([], { empty: [], longest: { valor } }, 1392).find(({ id }) => id === 'valor')?.width ?? 0
  expect(widthOf('R$ 0,00'.length)).toBe(96)
  expect(widthOf('R$ 12.345.678.901,23'.length)).toBeGreaterThan(150)
})

test.each([
  [null, []],
  ['["prazo","valor"]', ['valor', 'prazo']],
  ['["emitente","nada"]', []],
  ['{', []],
  ['7', []],
] as const)('%s, remembered, leaves out %j', (stored, hidden) => {
  expect(readHidden(stored)).toEqual(hidden)
})
