import { expect, test } from 'vitest'
import { nothingSelected, pageState, type SelectionStep, select } from './selection.ts'

const page = ['a', 'b', 'c', 'd', 'e']
const toggle = (id: string, on = true, range = false): SelectionStep => ({ do: 'toggle', id, on, page, range })
const after = (...steps: SelectionStep[]) => [...steps.reduce(select, nothingSelected).ids].sort().join('')

test.each([
  ['one by one', [toggle('b'), toggle('d')], 'bd'],
  ['and taken back', [toggle('b'), toggle('d'), toggle('b', false)], 'd'],
  ['a range downwards', [toggle('b'), toggle('d', true, true)], 'bcd'],
  ['a range upwards', [toggle('d'), toggle('b', true, true)], 'bcd'],
  [
    'a range goes on from where the last one ended',
    [toggle('a'), toggle('b', true, true), toggle('d', true, true)],
    'abcd',
  ],
  ['a range is taken back', [toggle('a'), toggle('e', true, true), toggle('c', false, true)], 'ab'],
  ['a range without a beginning is one document', [toggle('c', true, true)], 'c'],
  ['the page', [{ do: 'page', page, on: true }], 'abcde'],
  ['the page, taken back', [toggle('a'), { do: 'page', page, on: true }, { do: 'page', page, on: false }], ''],
  [
    'what is on other pages stays',
    [
      { do: 'all', ids: ['y', 'z'] },
      { do: 'page', page, on: false },
    ],
    'yz',
  ],
  ['all of a filter takes the place of what was there', [toggle('a'), { do: 'all', ids: ['y', 'z'] }], 'yz'],
  ['cleared', [{ do: 'page', page, on: true }, { do: 'clear' }], ''],
] as [string, SelectionStep[], string][])('%s', (_, steps, ids) => {
  expect(after(...steps)).toBe(ids)
})

test('a range does not begin on another page', () => {
  const steps: SelectionStep[] = [toggle('b'), { do: 'toggle', id: 'z', on: true, page: ['x', 'y', 'z'], range: true }]
  expect(after(...steps)).toBe('bz')
})

test.each([
  [[], 'none'],
  [['a'], 'some'],
  [['x'], 'none'],
  [['a', 'b', 'c', 'd', 'e', 'x'], 'all'],
] as const)('of the page, %j is %s', (ids, state) => {
  expect(pageState(new Set(ids), page)).toBe(state)
})

test('an empty page is not selected', () => {
  expect(pageState(new Set(['a']), [])).toBe('none')
})
