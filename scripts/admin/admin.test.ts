import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeMessages } from './contacts.ts'
import { describeMails } from './mails.ts'

const at = new Date('2026-07-31T13:12:00Z')
const message = {
  at,
  name: 'Conceição',
  email: 'conceicao@x.example',
  phone: null,
  company: null,
  message: 'Um\r\ndois',
  suspect: false,
}
const mail = {
  id: 12n,
  kind: 'certificado',
  recipient: 'ana@x.example',
  state: 'waiting' as const,
  failures: 0,
  problem: null,
  createdAt: at,
  nextAt: new Date('2026-07-31T14:12:00Z'),
}

const program = fileURLToPath(new URL('../admin.ts', import.meta.url))
const run = (line: string) =>
  new Promise<{ code: unknown; out: string; said: string }>((resolve) => {
    execFile(process.execPath, [program, ...line.split(' ').filter(Boolean)], (error, out, said) =>
      resolve({ code: error?.code ?? 0, out, said }),
    )
  })

test.each(['--help', 'plano ativar --help'])('"%s" shows the help', async (line) => {
  const { code, out, said } = await run(line)
  expect([code, said]).toEqual([0, ''])
  expect(out).toMatch(/^Tarefas de quem cuida do servidor:[\s\S]*plano ativar --email/)
})

test.each(['', '__proto__', 'toString --help', 'contatos todos'])('"%s" is no task', async (line) => {
  const { code, said } = await run(line)
  expect(code).toBe(1)
  expect(said).toMatch(
    /^\nUse: npm run admin -- backup, restore, rotate-key, rebuild, plano, conta, contatos, emails, jobs, notify, restauracao ou wake\./,
  )
})

test('messages are shown with who wrote them, the suspects marked', () => {
  expect(describeMessages([])).toContain('Nenhuma mensagem')
  expect(describeMessages([message])).toBe('\n31/07/2026 10:12  Conceição\n  conceicao@x.example\n  | Um\n  | dois')
  const full = describeMessages([{ ...message, phone: '11987654321', company: 'Sol', suspect: true }])
  expect(full).toContain('[suspeita')
  expect(full).toContain('  conceicao@x.example · celular 11987654321 · Sol')
})

test('what a visitor wrote moves no cursor and fakes no line', () => {
  const text = describeMessages([{ ...message, name: 'a\n31/07/2026 x', message: '\x1b[2J\u202eoculto\0' }])
  expect(text).not.toMatch(/[^\P{C}\n]/u)
  expect(text.split('\n')[1]).toMatch(/^31.* a 31\/07\/2026 x$/)
})

test('mails are shown with why they did not leave and when they are tried again', () => {
  expect(describeMails([])).toContain('Tudo o que devia sair saiu')
  expect(describeMails([mail])).toBe(
    '\nespera  certificado para ana@x.example (12)\n  pedido em 31/07/2026 10:12 · sai a partir de 31/07/2026 11:12',
  )
  const failed = describeMails([{ ...mail, state: 'failed', failures: 2, problem: 'O servidor recusou: 550' }])
  expect(failed).toContain('2 tentativas falharam')
  expect(failed).toContain('O servidor recusou: 550')
  expect(failed).toContain('emails tentar')
})
