import { expect, test } from 'vitest'
import { describeCheck } from './audit.ts'

const whole = { publicId: '0b9c2f1e', entries: 2, unchained: 0, broken: [], digest: 'ab12' }

test('a workspace is told with its last digest, and each entry that is not as it was written', () => {
  expect(describeCheck(whole)).toBe('0b9c2f1e  2 registros · último resumo ab12')
  expect(describeCheck({ ...whole, entries: 1, digest: null })).toBe('0b9c2f1e  1 registro')
  const text = describeCheck({ ...whole, unchained: 1, broken: [{ id: 7n, at: new Date('2026-07-31T13:12:00Z') }] })
  expect(text).toContain('1 de antes de os registros serem encadeados')
  expect(text).toContain('registro 7, de 31/07/2026 10:12: foi alterado')
})
