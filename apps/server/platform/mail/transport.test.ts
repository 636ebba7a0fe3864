import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { newCertificate } from '../../../../tests/support/certificates.ts'
import { useFolder } from '../../../../tests/support/folder.ts'
import { readConfig } from '../../config.ts'
import { openMailServer, refusal } from './testing.ts'
import { forgetOutbox, openTransport, readRefusal } from './transport.ts'

const message = Buffer.from('Subject: =?UTF-8?Q?Ol=C3=A1?=\r\nTo: ana@empresa.example\r\n\r\n.ponto\r\n')
const mail = { id: 7n, recipient: 'ana@empresa.example', createdAt: new Date('2026-07-31T12:00:00.123Z') }
const forever = new AbortController().signal
const usualRoots = getCACertificates('default')
const dataDirs = await useFolder()

afterEach(() => setDefaultCACertificates(usualRoots))

const send = (smtpUrl: string, signal = forever) =>
  openTransport(readConfig({ SMTP_URL: smtpUrl, MAIL_FROM: 'avisos@vigia.example' }, '/')).deliver(
    mail,
    message,
    signal,
  )
const refused = (smtpUrl: string, signal?: AbortSignal) =>
  send(smtpUrl, signal).then(() => {
    throw new Error('it was sent')
  }, readRefusal)

const { key, pem } = newCertificate('localhost')
const identity = { key, cert: pem }

const withLogin = {
  disabledCommands: [],
  authOptional: false,
  onAuth: ({ username, password }, _, done) =>
    username === 'usuario@vigia' && password === 'se:n/ha'
      ? done(null, { user: username })
      : done(refusal(535, 'no such user')),
} satisfies Parameters<typeof openMailServer>[0]

test('a message leaves in plain to a server that has nothing better', async () => {
  await using server = await openMailServer()
  await send(`smtp://localhost:${server.port}`)
  expect(server.received).toMatchObject([
    { from: 'avisos@vigia.example', to: ['ana@empresa.example'], user: null, encrypted: false },
  ])
  expect(server.received[0]?.raw).toContain('\r\n\r\n.ponto\r\n')
})

test('STARTTLS is used when it is offered, and the certificate counts', async () => {
  await using server = await openMailServer({ ...identity, disabledCommands: ['AUTH'] })
  const url = `smtp://localhost:${server.port}`
  expect(await refused(url)).toMatchObject({ final: false, problem: expect.stringContaining('conexão segura') })
  // Parameters of the address cannot weaken TLS.
  expect(await refused(`${url}?tls.rejectUnauthorized=false&ignoreTLS=true`)).toMatchObject({ final: false })
  expect(server.received).toEqual([])
  setDefaultCACertificates([...usualRoots, identity.cert])
  await send(url)
  expect(server.received).toMatchObject([{ encrypted: true, user: null }])
})

test('smtps is TLS from the start, with user and password', async () => {
  await using server = await openMailServer({ ...identity, secure: true, ...withLogin })
  const url = (password: string) => `smtps://usuario%40vigia:${password}@localhost:${server.port}`
  expect(await refused(url('se%3An%2Fha'))).toMatchObject({ final: false, facts: { code: 'ESOCKET' } })
  setDefaultCACertificates([...usualRoots, identity.cert])
  await send(url('se%3An%2Fha'))
  expect(server.received).toMatchObject([{ encrypted: true, user: 'usuario@vigia' }])
  const wrong = await refused(url('errada'))
  expect(wrong).toMatchObject({ final: false, problem: expect.stringContaining('usuário e a senha') })
  expect(wrong.problem).not.toContain('errada')
})

test('a login that is missing is not the fault of the recipient', async () => {
  await using server = await openMailServer({ ...identity, ...withLogin, disabledCommands: ['STARTTLS'] })
  expect(await refused(`smtp://localhost:${server.port}`)).toMatchObject({ final: false, facts: { status: 530 } })
  await send(`smtp://usuario%40vigia:se%3An%2Fha@localhost:${server.port}`)
  expect(server.received).toMatchObject([{ user: 'usuario@vigia' }])
})

test.each([
  [550, '5.1.1 no such mailbox', true],
  [554, '5.7.1 relay access denied', false],
  [530, '5.7.0 authentication required', false],
  [451, '4.7.1 greylisted', false],
  [452, '4.2.2 mailbox full', false],
])('a recipient refused with %i %s: for good: %s', async (code, text, final) => {
  await using server = await openMailServer({ onRcptTo: (_, __, done) => done(refusal(code, text)) })
  expect(await refused(`smtp://localhost:${server.port}`)).toMatchObject({
    final,
    problem: expect.stringContaining(text),
    facts: { status: code, command: 'RCPT TO' },
  })
})

test.each([
  [554, 'looks like spam', true],
  [451, 'try again later', false],
])('a message refused with %i %s: for good: %s', async (code, text, final) => {
  await using server = await openMailServer()
  server.refuse = () => {
    throw refusal(code, text)
  }
  expect(await refused(`smtp://localhost:${server.port}`)).toMatchObject({ final, facts: { status: code } })
})

test('a sender that the server does not take is not the fault of the recipient', async () => {
  await using server = await openMailServer({ onMailFrom: (_, __, done) => done(refusal(550, 'not you')) })
  expect(await refused(`smtp://localhost:${server.port}`)).toMatchObject({ final: false, facts: { status: 550 } })
})

test('nobody there, and nobody who answers, are tried again', async () => {
  const { port } = await openMailServer().then(async (server) => {
    await server[Symbol.asyncDispose]()
    return server
  })
  expect(await refused(`smtp://localhost:${port}`)).toMatchObject({ final: false })
  await using server = await openMailServer({ onConnect: () => {} })
  const limit = new AbortController()
  const answer = refused(`smtp://localhost:${server.port}`, limit.signal)
  limit.abort()
  expect(await answer).toMatchObject({ final: false, facts: { code: 'EABORT' } })
})

test('only a name that is not ASCII asks for a server that takes such names', async () => {
  const wide: boolean[] = []
  await using server = await openMailServer({
    onMailFrom: ({ args }, _, done) => {
      wide.push(typeof args === 'object' && 'SMTPUTF8' in args)
      done()
    },
  })
  const transport = openTransport(
    readConfig({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'avisos@vigia.example' }, '/'),
  )
  const recipients = ['ana@açaí.example', 'Ana.B@empresa.example', 'josé@açaí.example']
  for (const recipient of recipients) await transport.deliver({ ...mail, recipient }, message, forever)
  expect(wide).toEqual([false, false, true])
  expect(server.received.map(({ to }) => to[0])).toEqual(recipients)
})

test('a password leaves this machine encrypted or not at all', async () => {
  await using plain = await openMailServer({ ...withLogin, disabledCommands: ['STARTTLS'] })
  // It is this machine under a name that does not say so.
  const url = `smtp://usuario%40vigia:se%3An%2Fha@0.0.0.0:${plain.port}`
  expect(await refused(url)).toMatchObject({ final: false, facts: { code: 'ETLS' } })
  await using other = await openMailServer({ ...identity, ...withLogin })
  expect(await refused(url.replace(/\d+$/, String(other.port)))).toMatchObject({ final: false })
  expect([plain.received, other.received]).toEqual([[], []])
})

test('without a server each message becomes a file that only we can read', async () => {
  const folder = join(dataDirs, 'without-server')
  const transport = openTransport(readConfig({ DATA_DIR: folder }, '/'))
  const path = await transport.deliver(mail, message, forever)
  // The same mail once more, after an attempt whose end nobody learned of.
  expect(await transport.deliver(mail, message, forever)).toBe(path)
  expect(path).toBe(join(folder, 'outbox', '2026-07-31T12-00-00-123Z-7.eml'))
  expect(await readdir(join(folder, 'outbox'))).toEqual(['2026-07-31T12-00-00-123Z-7.eml'])
  expect(await readFile(path!)).toEqual(message)
  expect((await stat(path!)).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'outbox'))).mode & 0o777).toBe(0o700)
})

test('letters that became files are deleted after ninety days, and nothing else of the folder', async () => {
  const dataDir = join(dataDirs, 'old')
  await forgetOutbox({ dataDir })
  const { deliver } = openTransport(readConfig({ DATA_DIR: dataDir }, '/'))
  const old = (await deliver({ ...mail, id: 1n }, message, forever))!
  const recent = (await deliver(mail, message, forever))!
  const [draft, note] = [`${old}.draft`, join(dataDir, 'outbox', 'leia.txt')]
  const day = 24 * 3_600
  for (const path of [draft, note]) await writeFile(path, 'x')
  const at = Date.now() / 1_000
  for (const path of [old, draft, note]) await utimes(path, at, at - 91 * day)
  await utimes(recent, at, at - 89 * day)
  await forgetOutbox({ dataDir })
  expect((await readdir(join(dataDir, 'outbox'))).sort()).toEqual([basename(recent), 'leia.txt'].sort())
})
