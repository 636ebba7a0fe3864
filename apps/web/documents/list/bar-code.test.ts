import { chaveCheckDigit } from '@vigia/dfe/chave'
import { expect, test } from 'vitest'
import { documentAddress } from '../../lib/addresses.ts'
import { cameraProblem, chaveIn } from './bar-code.ts'

const chaveOf = (model: string) => {
  const first43 = `352603112223330001${'81'}${model}001${'000000101'}1${'12345678'}`
  return first43 + chaveCheckDigit(first43)
}

test('a chave is read among other codes, and only with its check digit', () => {
  const chave = chaveOf('55')
  const wrong = chave.slice(0, 43) + ((Number(chave[43]) + 1) % 10)
  const codes = (...texts: string[]) => texts.map((rawValue) => ({ rawValue }))
  // A DANFE in contingency has a second code of 36 digits.
  expect(chaveIn(codes('1'.repeat(36), ` ${chave}\n`))).toBe(chave)
  expect(chaveIn(codes(wrong))).toBeNull()
  expect(chaveIn(codes(chave.slice(1), '7891000100103'))).toBeNull()
  expect(chaveIn([])).toBeNull()
})

test.each([
  ['55', '/notas-fiscais'],
  ['57', '/cte'],
  ['64', '/cte'],
  ['67', '/cte'],
])('model %s is looked for in %s, in any month', (model, path) => {
  const chave = chaveOf(model)
  expect(documentAddress({ chave })).toBe(`${path}?busca=${chave}&periodo=todos`)
  expect(documentAddress({ chave, idDFe: 'a/b' })).toBe(`${path}?busca=${chave}&periodo=todos&documento=a%2Fb`)
})

test('whoever cannot use the camera is told why', () => {
  expect(cameraProblem(new DOMException('', 'NotAllowedError'))).toMatch(/^O navegador não deixou/)
  expect(cameraProblem(new DOMException('', 'NotReadableError'))).toMatch(/em uso por outro programa/)
  expect(cameraProblem(new Error('?'))).toMatch(/^A câmera não pôde ser aberta/)
})
