import { expect, test } from 'vitest'
import { describePlan, readAccountOrder } from './accounts.ts'

const read = (line: string) => readAccountOrder(line.split(' ').filter(Boolean))

test('orders are read', () => {
  expect(read('excluir --email ana@x.example')).toEqual({
    task: 'delete',
    email: 'ana@x.example',
    name: '',
    now: false,
    isDone: false,
  })
  expect(read('excluir --email a@b.example --agora --fazer')).toMatchObject({ now: true, isDone: true })
  expect(read('criar --email a@b.example --nome Ana')).toMatchObject({ task: 'create', name: 'Ana' })
  expect(read('manter --email a@b.example')).toMatchObject({ task: 'keep' })
})

test.each([
  '',
  'excluir',
  'apagar --email a@b.example',
  'criar --email a@b.example',
  'manter --email a@b.example --agora',
  'toString --email a',
])('"%s" is refused in words', (line) => {
  expect(() => read(line)).toThrow(/Use: npm run admin -- conta criar/)
})

test('what would be deleted is told first', () => {
  const listed = { name: 'Ana\x1b[2J', emails: ['ana@x.example'], companies: 1 }
  expect(describePlan(listed, false)).toMatch(
    /Ana\uFFFD\[2J\), 1 empresa\n[\s\S]*em trinta dias[\s\S]*Nada foi alterado/,
  )
  expect(describePlan(listed, true)).toContain('sem volta')
})
