import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { readConfig } from '../../config.ts'
import { type Letter, withoutLinks } from './mail.ts'
import { isMailbox, writeMessage } from './message.ts'

const config = readConfig(
  { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'avisos@vigia.example', PUBLIC_URL: 'https://app.vigia.example' },
  '/',
)
const stamp = { recipient: 'ana@empresa.example', messageId: '6f1c1e0e-4d0b-4b86-9a0b-0c3c0f7f1a11' }
const letter: Letter = {
  subject: 'Ação necessária: São João & Irmãos',
  paragraphs: ['Olá, João.', 'Linha um\nlinha dois <b>não é negrito</b> & "aspas".'],
  button: { label: 'Abrir a página', url: 'https://app.vigia.example/x?a=1&b=2' },
  footnote: 'Você recebe este aviso porque tem uma conta.',
}
const write = async (change: Partial<Letter> = {}, about = stamp) => {
  const bytes = await writeMessage(config, { ...letter, ...change }, about)
  return { raw: bytes.toString('latin1'), mail: await simpleParser(bytes) }
}
const html = (text: string | false) => {
  if (text === false) throw new Error('no HTML')
  return text
}

// Names of the headers of the message itself, before its parts.
function headerNames(raw: string): string[] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'))
  return head
    .split('\r\n')
    .filter((line) => !/^[ \t]/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
    .sort()
}
const usual = [
  'auto-submitted',
  'content-language',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

test('a letter is text and HTML, with the same words in both', async () => {
  const { raw, mail } = await write()
  expect(headerNames(raw)).toEqual(usual)
  expect(mail.subject).toBe('Ação necessária: São João & Irmãos')
  expect(mail.from?.value).toEqual([{ name: 'Vigia Fiscal', address: 'avisos@vigia.example' }])
  expect(mail.to).toMatchObject({ value: [{ name: '', address: 'ana@empresa.example' }] })
  expect(mail.messageId).toBe(`<${stamp.messageId}@vigia.example>`)
  expect(mail.headers.get('auto-submitted')).toBe('auto-generated')
  expect(mail.headers.get('content-language')).toBe('pt-BR')
  expect(Math.abs(Date.now() - mail.date!.getTime())).toBeLessThan(60_000)
  expect(raw).toContain('multipart/alternative')
  for (const line of ['Olá, João.', 'linha dois <b>não é negrito</b> & "aspas".', letter.button!.url, letter.footnote!])
    expect(mail.text).toContain(line)
  expect(mail.text).toContain('Vigia Fiscal · https://app.vigia.example')
  const page = html(mail.html)
  expect(page).toContain('<html lang="pt-BR">')
  expect(page).toContain('Linha um<br>linha dois &#60;b&#62;não é negrito&#60;/b&#62; &#38; &#34;aspas&#34;.')
  expect(page.match(/href="https:\/\/app\.vigia\.example\/x\?a=1&#38;b=2"/g)).toHaveLength(2)
  expect(page).toContain('color-scheme')
  expect(page).not.toMatch(/<(script|img|link|style)/)
})

test('a letter has its list and its end in text and HTML, and one click in a mail program ends it', async () => {
  const stopUrl = `https://app.vigia.example/avisos/${'x'.repeat(100)}`
  const lines = [
    { title: 'NF-e 1 <i>', detail: 'Um motivo.\nOutro.', url: 'https://app.vigia.example/alertas?documento=a' },
  ]
  const { raw, mail } = await write({ lines, stopUrl })
  expect(headerNames(raw)).toEqual([...usual, 'list-unsubscribe', 'list-unsubscribe-post'].sort())
  expect(raw.replace(/\r\n[ \t]/g, '')).toMatch(new RegExp(`^List-Unsubscribe: ?<${stopUrl}>\r$`, 'm'))
  expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  expect(mail.text).toContain('• NF-e 1 <i>\n  Um motivo.\nOutro.\n  https://app.vigia.example/alertas?documento=a')
  expect(mail.text).toContain(`Deixar de receber e-mails como este:\n${stopUrl}`)
  const page = html(mail.html)
  expect(page).toMatch(
    /href="https:\/\/app\.vigia\.example\/alertas\?documento=a"[^>]*>NF-e 1 &#60;i&#62;<\/a><br>Um motivo\.<br>Outro\./,
  )
  expect(page).toContain(`<a href="${stopUrl}" style="color:inherit">Deixar de receber`)
})

test('everything that leaves is ASCII in short lines', async () => {
  const { raw } = await write({ subject: 'Ç'.repeat(300), paragraphs: ['ã'.repeat(5_000), 'x'.repeat(5_000)] })
  expect(/^[\x20-\x7e\r\n\t]*$/.test(raw)).toBe(true)
  expect(Math.max(...raw.split('\r\n').map(({ length }) => length))).toBeLessThan(998)
  expect(/[\r\n]/.test(raw.replaceAll('\r\n', ''))).toBe(false)
})

test('a long subject is folded and arrives whole; one without end is cut between characters', async () => {
  const subject = `Certificado digital vence em 7 dias: ${'AÇÚCAR E CAFÉ DO SERTÃO '.repeat(12)}LTDA`
  expect((await write({ subject })).mail.subject).toBe(subject)
  const cut = (await write({ subject: `x${'🧾'.repeat(400)}` })).mail.subject!
  expect(cut.length).toBeLessThanOrEqual(500)
  expect(cut).toMatch(/^x(🧾)+\uFFFD?$/u)
})

test('an answer goes to whom the letter names, when that is an address', async () => {
  const { mail, raw } = await write({ replyTo: { name: 'José, o Antônio', address: 'jose@cliente.example' } })
  expect(mail.replyTo?.value).toEqual([{ name: 'José, o Antônio', address: 'jose@cliente.example' }])
  expect(headerNames(raw)).toEqual([...usual, 'reply-to'].sort())
  const other = await write({ replyTo: { name: 'x', address: 'a@b.example,c@d.example' } })
  expect(headerNames(other.raw)).toEqual(usual)
})

test('an address is one mailbox or none', () => {
  for (const address of ['ana@empresa.example', 'ana+nfe@empresa.com.br', "o'hara@x.example", 'josé@açaí.example'])
    expect(isMailbox(address), address).toBe(true)
  for (const address of [
    'a,b@c.example',
    'a;b@c.example',
    'a@b.example>',
    'a@b@c.example',
    '<a@b.example',
    'a:b@c.example',
    '"a"@b.example',
    'a@b.example\r\nRCPT TO:x',
    'a(b)@c.example',
    'a\u202eb@c.example',
    'a@[127.0.0.1]',
    '@b.example',
    'a@',
  ])
    expect(isMailbox(address), address).toBe(false)
})

test('no text of a letter adds a header or another recipient', async () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\r\n', '\n', '\r', '\u2028', '\0', '\ud800'),
    fc.constantFrom(
      '\r\nBcc: mallory@evil.example\r\n',
      '\r\n\r\n<html>',
      '=?utf-8?Q?=0D=0ABcc:_x?=',
      '<x@y.example>',
      ',',
    ),
  )
  const text = fc.array(nasty, { maxLength: 6 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(text, text, text, text, async (subject, paragraph, name, address) => {
      const replyTo = { name, address: `${address}@cliente.example` }
      const { raw, mail } = await write({ subject, paragraphs: [paragraph], footnote: name, replyTo })
      const names = headerNames(raw).filter((header) => header !== 'reply-to')
      expect(names.filter((header) => header !== 'subject')).toEqual(usual.filter((header) => header !== 'subject'))
      expect(names.filter((header) => header === 'subject').length).toBeLessThanOrEqual(1)
      expect(mail.to).toMatchObject({ value: [{ address: 'ana@empresa.example' }] })
      expect([mail.cc, mail.bcc]).toEqual([undefined, undefined])
      expect(mail.replyTo?.value.length ?? 1).toBe(1)
      expect(mail.attachments).toEqual([])
    }),
    { numRuns: runs(300) },
  )
}, 120_000)

test('words of others become no links, and stay readable', () => {
  for (const [text, safe] of [
    ['Veja www.golpe.com/x', 'Veja www. golpe. com/ x'],
    ['https://golpe.com', 'https: golpe. com'],
    ['golpe。com golpe．com golpe｡com', 'golpe. com golpe. com golpe. com'],
    ['ｇｏｌｐｅ．ｃｏｍ／ｘ ana＠golpe.com', 'golpe. com/ x ana@ golpe. com'],
    [
      'SOL S/A, nº 5, c/c, R$\u00a01.200,00, 12.345.678/0001-90',
      'SOL S/A, nº 5, c/c, R$\u00a01.200,00, 12.345.678/0001-90',
    ],
  ] as const)
    expect(withoutLinks(text)).toBe(safe)
})
