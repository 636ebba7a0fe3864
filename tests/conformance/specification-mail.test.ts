import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readConfig, start } from '@vigia/server/start'
import { type ParsedMail, simpleParser } from 'mailparser'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import { logIn, openClient, type Person, type SpecificationClient, somebody } from '../support/specification.ts'

interface Received {
  to: string[]
  from: string
  mail: ParsedMail
}

const from = 'avisos@vigia.example'
const path = '/v1/api/RecuperarSenha'
const inbox: Received[] = []
const stack = new AsyncDisposableStack()
let product: Product
let url: string
let visitor: SpecificationClient

vi.setConfig({ testTimeout: 120_000 })

// The first process only answers; the second one, on the same database, has the mail server and does the work.
beforeAll(async () => {
  const smtpUrl = await startMailServer()
  product = stack.use(await startProduct({ roles: ['api'], simulator: { companies: [] } }))
  const { mail } = readConfig({ SMTP_URL: smtpUrl, MAIL_FROM: from }, product.config.dataDir)
  const config = { ...product.config, mail }
  url = stack.use(await start(config, { roles: ['api', 'worker'] })).url
  visitor = openClient(url)
})
afterAll(() => stack.disposeAsync())

async function startMailServer(): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const { mailFrom, rcptTo } = session.envelope
      const read = async () => {
        const mail = await simpleParser(stream)
        inbox.push({
          to: rcptTo.map((recipient) => recipient.address),
          from: mailFrom ? mailFrom.address : '',
          mail,
        })
      }
      read().then(() => done(), done)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  stack.defer(() => new Promise<void>((resolve) => server.close(resolve)))
  return `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

const mailsTo = (email: string) => inbox.filter((received) => received.to.includes(email))

async function waitForMails(email: string, count: number): Promise<Received[]> {
  await vi.waitFor(() => expect(mailsTo(email)).toHaveLength(count), { timeout: 60_000, interval: 200 })
  return mailsTo(email)
}

async function signUp(): Promise<Person> {
  const person = somebody()
  await visitor.post('/v1/api/Usuarios', person)
  return person
}

const links = (text: string) => [...text.matchAll(/\/atualizar-senha\/([^\s"'<>]+)/g)].map((match) => match[1]!)

/** The token of the newest recovery mail; `count` is how many there must be. */
async function recover(person: Person, count = 1): Promise<string> {
  await visitor.post(path, { email: person.email })
  const { mail } = (await waitForMails(person.email, count)).at(-1)!
  return links(mail.text ?? '')[0]!
}

const update = (urlAcesso: string, senha: string, senhaNovamente = senha) =>
  visitor.call('POST', `${path}/atualizar-senha`, { json: { urlAcesso, senha, senhaNovamente } })
const check = (token: string) => visitor.call('GET', `${path}/${token}`)

describe('the mail of a recovery', () => {
  it('comes from the configured sender, in Portuguese, with one link and until when it is valid', async () => {
    const person = await signUp()
    const token = await recover(person)
    const received = mailsTo(person.email)[0]!
    const { mail } = received
    expect(received.to).toEqual([person.email])
    expect(mail.from?.value[0]).toMatchObject({ address: from, name: product.config.productName })
    expect(received.from).toBe(from)
    expect(mail.subject).toMatch(/senha/i)
    expect(mail.text).toMatch(/\d hora|\d minutos|até \d\d\/\d\d\/\d{4}/)
    expect(token).toMatch(/^[\w-]{40,}$/)
    const addresses = new Set([...links(mail.text ?? ''), ...links(mail.html || '')])
    expect([...addresses]).toEqual([token])
    expect(mail.text).not.toContain(person.senha)
    expect(mail.messageId).toMatch(/@/)
    expect(mail.date?.getTime()).toBeGreaterThan(Date.now() - 600_000)
  })

  it('reaches who writes the e-mail in capitals', async () => {
    const person = await signUp()
    await visitor.post(path, { email: person.email.toUpperCase() })
    await waitForMails(person.email, 1)
  })

  it('is not written to who has no account', async () => {
    await visitor.post(path, { email: 'ninguem@escritorio.example' })
    await recover(await signUp())
    await recover(await signUp())
    expect(mailsTo('ninguem@escritorio.example')).toEqual([])
  })

  it('is written to the owner of an e-mail that somebody signs up again', async () => {
    const person = await signUp()
    await visitor.post('/v1/api/Usuarios', { ...person, nome: 'Outra Pessoa', senha: 'tomada-2026' })
    const [received] = await waitForMails(person.email, 1)
    expect(received?.mail.text).toMatch(/conta/i)
    expect(received?.mail.text).not.toContain('tomada-2026')
    await logIn(url, person)
  })
})

describe('the link of a recovery', () => {
  it('is valid until it is used, whatever is checked or mistyped before', async () => {
    const person = await signUp()
    const token = await recover(person)
    for (const answer of [await check(token), await check(token)]) expect(answer).toMatchObject({ success: true })
    const refusals = [
      [await update(token, ''), 'Nova senha é obrigatória'],
      [await update(token, '12345'), 'A senha deve ter pelo menos 6 caracteres'],
      [await update(token, 'nova-2026', 'nova-2027'), 'As senhas não coincidem'],
    ] as const
    for (const [answer, message] of refusals) {
      expect(answer.status).toBe(400)
      expect(answer.errors).toContain(message)
    }
    expect(await update(token, 'x'.repeat(101))).toMatchObject({ success: false, status: 400 })
    await logIn(url, person)
    expect(await check(token)).toMatchObject({ success: true })
    expect(await update(token, 'nova-2026')).toMatchObject({
      success: true,
      message: 'Senha atualizada com sucesso! Faça o login com sua nova senha.',
    })
  })

  it('may come back as a whole', async () => {
    const person = await signUp()
    const token = await recover(person)
    expect(await update(`http://localhost/atualizar-senha/${token}`, 'nova-2026')).toMatchObject({ success: true })
    await logIn(url, { ...person, senha: 'nova-2026' })
  })

  it('works once, ends every session and the old password', async () => {
    const person = await signUp()
    const sessions = [await logIn(url, person), await logIn(product.url, person)]
    const token = await recover(person)
    for (const session of sessions) await session.get('/v1/api/Dashboard')
    expect(await update(token, 'nova-2026')).toMatchObject({ success: true })
    for (const session of sessions) expect((await session.call('GET', '/v1/api/Dashboard')).status).toBe(401)
    const old = await visitor.call('POST', '/v1/api/Auth', { json: { email: person.email, senha: person.senha } })
    expect(old).toMatchObject({ status: 401, message: 'Credenciais inválidas.' })
    const again = await update(token, 'outra-2026')
    expect(again.success).toBe(false)
    await (await logIn(url, { ...person, senha: 'nova-2026' })).get('/v1/api/Dashboard')
  })

  it('tells used from expired from unknown', async () => {
    const used = await recover(await signUp())
    await update(used, 'nova-2026')
    const expired = await recover(await signUp())
    expect(await check(expired)).toMatchObject({ success: true })
    await letRecoveriesExpire()
    const answers = [await check(used), await check(expired), await check('A'.repeat(used.length))]
    for (const answer of answers) expect(answer).toMatchObject({ success: false })
    expect(new Set(answers.map((answer) => answer.message)).size).toBe(3)
    for (const token of [used, expired, 'A'.repeat(used.length)]) {
      expect(await update(token, 'outra-2026')).toMatchObject({ success: false })
    }
  })

  it('makes the other links of the account useless once it is used', async () => {
    const person = await signUp()
    const first = await recover(person)
    const second = await recover(person, 2)
    expect(second).not.toBe(first)
    expect(await update(second, 'nova-2026')).toMatchObject({ success: true })
    for (const answer of [await check(first), await update(first, 'outra-2026')]) expect(answer.success).toBe(false)
    await logIn(url, { ...person, senha: 'nova-2026' })
  })

  it('is used by one of ten that come at the same time', async () => {
    const person = await signUp()
    const token = await recover(person)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => update(token, `nova-202${i}`)))
    expect(answers.filter((answer) => answer.success)).toHaveLength(1)
    const winner = answers.findIndex((answer) => answer.success)
    await logIn(url, { ...person, senha: `nova-202${winner}` })
  })

  it('opens only its own account', async () => {
    const [person, other] = [await signUp(), await signUp()]
    const session = await logIn(url, other)
    await update(await recover(person), 'nova-2026')
    await session.get('/v1/api/Dashboard')
    await logIn(url, other)
  })
})

it('limits the mails that one address of e-mail receives', async () => {
  const person = await signUp()
  const answers = []
  for (let i = 0; i < 8; i += 1) answers.push(await visitor.call('POST', path, { json: { email: person.email } }))
  const last = answers.at(-1)!
  expect(last).toMatchObject({ success: false, status: 429, message: expect.stringMatching(/minuto|hora/) })
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
})

// Time moves by changing the rows: every moment of every recovery lies two days back.
async function letRecoveriesExpire(): Promise<void> {
  const database = new pg.Client({ connectionString: product.databaseUrl })
  await database.connect()
  try {
    const columns = await database.query<{ column_name: string }>(
      "select column_name from information_schema.columns where table_name = 'password_recovery' and data_type like 'timestamp%'",
    )
    const changes = columns.rows.map(({ column_name: name }) => `${name} = ${name} - interval '2 days'`)
    const { rowCount } = await database.query(`update password_recovery set ${changes.join(', ')}`)
    expect(rowCount).toBeGreaterThan(0)
  } finally {
    await database.end()
  }
}
