import type { DocumentRow } from '@vigia/contract/documents'
import { expect, test } from 'vitest'
import { type ColumnId, columns, layOut, readHidden } from './columns.ts'

const optional = columns.filter(({ optional }) => optional).map(({ id }) => id)

const full = { empty: [], longest: { numero: 5, valor: 13 } }
const describe = (hidden: ColumnId[], width: number, contents: Parameters<typeof layOut>[1] = full) =>
  layOut([...hidden, ...optional], contents, width)
    .map(({ id, under }) => (under ? `${id}+${under}` : id))
    .join(' ')

test('on a wide screen everything has a column of its own', () => {
  expect(describe([], 1392)).toBe('numero emitente empresa valor emissao chegada participacao status prazo')
})

test('in a narrow table our columns become second lines, those of the specification stay', () => {
  expect(describe([], 961)).toBe('numero emitente valor emissao+chegada participacao+empresa status+prazo')
  expect(describe([], 1200)).toBe('numero emitente empresa valor emissao+chegada participacao status+prazo')
})

test('a column that no row fills is not shown', () => {
  expect(describe([], 961, { ...full, empty: ['empresa', 'prazo'] })).toBe(
    'numero emitente valor emissao+chegada participacao status',
  )
})

test('a hidden column stays hidden, and a column that would be under it keeps its own place', () => {
  expect(describe(['emissao', 'prazo'], 961, { ...full, empty: ['empresa'] })).toBe(
    'numero emitente valor chegada participacao status',
  )
})

test('an amount of thirteen digits fits', () => {
  const widthOf = (valor: number) =>
    layOut([], { empty: [], longest: { valor } }, 1392).find(({ id }) => id === 'valor')?.width ?? 0
  expect(widthOf('R$ 0,00'.length)).toBe(96)
  expect(widthOf('R$ 12.345.678.901,23'.length)).toBeGreaterThan(150)
})

test('an optional column is shown when it is chosen', () => {
  const ids = layOut(readHidden('["+natureza"]'), full, 1392).map(({ id }) => id)
  expect(ids).toContain('natureza')
})

test.each([
  [null, optional],
  ['["prazo","valor"]', ['valor', 'prazo', ...optional]],
  ['["+natureza","prazo"]', ['prazo', ...optional.filter((id) => id !== 'natureza')]],
  ['["emitente","nada"]', optional],
  ['{', optional],
  ['7', optional],
] as const)('%s, remembered, leaves out %j', (stored, hidden) => {
  expect(new Set(readHidden(stored))).toEqual(new Set(hidden))
})

test('what a document has of IBS and CBS is said in a few words', () => {
  const text = columns.find(({ id }) => id === 'reforma')!.text!
  const say = (reforma: DocumentRow['reforma']) => text({ reforma } as DocumentRow)?.replace(/\u00a0/g, ' ')
  expect(say({ presenca: 'com', ibs: 1.5, cbs: 13.5, achados: false })).toBe('R$ 1,50 · R$ 13,50')
  expect(say({ presenca: 'sem', ibs: null, cbs: null, achados: true })).toBe('sem · com divergência')
  expect(say({ presenca: 'dispensado', ibs: null, cbs: null, achados: false })).toBe('dispensado')
  expect(say(null)).toBeUndefined()
})
