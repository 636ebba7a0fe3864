import { expect, test } from 'vitest'
import { readNotifyOrder } from './notify.ts'

const workspace = '0b9c2f1e-5a70-4c0e-9a53-6f0d8f6c1a2b'
const good = ['--workspace', workspace, '--header', ' Olá ', '--body', 'Manutenção às 22h']

test('what is given is taken, and the rest has its defaults', () => {
  const announcement = { topic: 'aviso', kind: 'sucesso', header: 'Olá', body: 'Manutenção às 22h' }
  expect(readNotifyOrder(good)).toEqual({ workspace, announcement, count: 1 })
  expect(readNotifyOrder([...good, '--kind', 'alert', '--count', '1000'])).toEqual({
    workspace,
    announcement: { ...announcement, kind: 'alert' },
    count: 1000,
  })
})

test.each([
  [[], /^Falta --workspace/],
  [['--workspace', '12'], /^--workspace deve ser um id/],
  [['--workspace', workspace], /^Falta --header/],
  [['--workspace', workspace, '--header', '  '], /^Falta --header/],
  [['--workspace', workspace, '--header', 'x'], /^Falta --body/],
  [[...good, '--kind', 'info'], /^--kind deve ser sucesso, error ou alert\./],
  [[...good, '--count', '0'], /^--count deve ser um número de 1 a 1000\./],
  [[...good, '--count', '1001'], /^--count deve ser/],
  [[...good, '--count', 'dez'], /^--count deve ser/],
  [[...good, '--header', 'outro'], /^--header foi informado mais de uma vez\./],
  [[...good, '--cor', 'azul'], /^Use: npm run admin -- notify/],
  [['--workspace', workspace, '--header', 'x'.repeat(101), '--body', 'x'], /^--header deve ter no máximo 100/],
  [['--workspace', workspace, '--header', 'x', '--body', 'x'.repeat(501)], /^--body deve ter no máximo 500/],
])('refuses %j in words', (args, said) => {
  expect(() => readNotifyOrder(args)).toThrow(said)
  if (args.includes('--cor')) return
  expect(() => readNotifyOrder(args)).toThrow(/Nada foi enviado\. Use: npm run admin -- notify --workspace ID/)
})
