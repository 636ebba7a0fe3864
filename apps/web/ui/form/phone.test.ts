import { expect, test } from 'vitest'
import { maskPhone, phoneDigits } from './phone.ts'

test.each([
  ['', ''],
  ['1', '(1'],
  ['11', '(11'],
  ['119', '(11) 9'],
  ['119999', '(11) 9999'],
  ['1133334444', '(11) 3333-4444'],
  ['11999998888', '(11) 99999-8888'],
  ['(11) 99999-88889', '(11) 99999-8888'],
  ['+55 11 99999-8888', '(11) 99999-8888'],
  ['+55 (11) 3333-4444', '(11) 3333-4444'],
  ['abc', ''],
])('%j is shown as %j', (typed, shown) => {
  expect(maskPhone(typed)).toBe(shown)
})

test('only digits are sent', () => {
  expect(phoneDigits('(55) 99999-8888')).toBe('55999998888')
})
