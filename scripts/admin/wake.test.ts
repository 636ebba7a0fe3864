import { expect, test } from 'vitest'
import { describeStopped, readWakeOrder } from './wake.ts'

const read = (line: string) => readWakeOrder(line.split(' ').filter(Boolean))

test('orders are read', () => {
  expect(read('')).toEqual({ cStat: null, isDone: false })
  expect(read('--cstat 999')).toEqual({ cStat: 999, isDone: false })
  expect(read('--cstat=999 --fazer')).toEqual({ cStat: 999, isDone: true })
})

test.each([
  ['--fazer', /^Falta --cstat\. Nada foi alterado\./],
  ['--cstat tudo --fazer', /^--cstat deve ser o código/],
  ['--cstat 1 --cstat 2', /^--cstat foi informado mais de uma vez/],
  ['999', /^Use: npm run admin -- wake/],
])('"%s" is refused in words', (line, words) => {
  expect(() => read(line)).toThrow(words)
})

test('reasons are shown with how many stopped, without characters that move the cursor', () => {
  expect(describeStopped([])).toBe('Nenhuma captura está parada.')
  const text = describeStopped([
    { cStat: 999, xMotivo: 'Erro\x1b[2J', lines: 1200, ofCustomer: false },
    { cStat: null, xMotivo: '', lines: 1, ofCustomer: false },
  ])
  expect(text).toMatch(/^1\.200 capturas paradas com 999: Erro\uFFFD\[2J\n1 captura parada sem certificado/)
  expect(text).toContain('wake --cstat')
})
