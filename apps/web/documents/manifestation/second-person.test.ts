import { expect, test } from 'vitest'
import { documentKinds } from '../../lib/kinds.ts'
import { mayNeedTwo, secondPersonText } from './second-person.ts'

const { nfe, cte } = documentKinds

const known = new Map([10, 1000, 2500].map((valor, at) => [`d${at}`, { valor }]))
const textOf = (...ids: string[]) => secondPersonText(ids, known, 1000)?.replaceAll('\u00a0', ' ') ?? null

test('those that reach the amount are counted', () => {
  expect(textOf('d0')).toBe(null)
  expect(textOf()).toBe(null)
  expect(textOf('d0', 'd1')).toBe('1 resposta vai esperar uma segunda pessoa (a partir de R$ 1.000,00).')
  expect(textOf('d0', 'd1', 'd2')).toMatch(/^2 respostas vão esperar uma segunda pessoa/)
})

test('without all amounts nothing is counted', () => {
  for (const id of ['d3', 'never seen'])
    expect(textOf('d1', id)).toBe('As respostas a partir de R$ 1.000,00 esperam uma segunda pessoa.')
})

test('only final answers and the desacordo want two people', () => {
  expect(nfe.answers.map(({ code }) => mayNeedTwo(nfe, code))).toEqual([false, true, true, true])
  expect(cte.answers.map(({ code }) => mayNeedTwo(cte, code))).toEqual([false, false, true, true])
})
