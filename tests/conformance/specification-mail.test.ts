import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readConfig, start } from '@vigia/server/start'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { newClient } from '../support/client.ts'
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

// But for the one of a sign-up, which is ours.
const mailsTo = (email: string) =>
  inbox.filter(({ to, mail }) => to.includes(email) && !mail.text?.includes('/confirmar-email/'))

async function waitForMails(email: string, count: number): Promise<Received[]> {
  await vi.waitFor(() => expect(mailsTo(email)).toHaveLength(count), { timeout: 25_000, interval: 50 })
  return mailsTo(email)
}

async function signUp(): Promise<Person> {
  const person = somebody()
  await visitor.post('/v1/api/Usuarios', person)
  return person
}

const links = (text: string) => [...text.matchAll(/\/atualizar-senha\/([^\s"'<>]+)/g)].map((match) => match[1]!)

/** The token of the recovery mail that somebody asks for. */
async function recover(person: Person): Promise<string> {
  await visitor.post(path, { email: person.email })
  const { mail } = (await waitForMails(person.email, 1)).at(-1)!
  return links(mail.text ?? '')[0]!
}

const update = (urlAcesso: string, senha: string) =>
  visitor.call('POST', `${path}/atualizar-senha`, { json: { urlAcesso, senha, senhaNovamente: senha } })
const check = (token: string) => visitor.call('GET', `${path}/${token}`)

it('the mail of a recovery comes from the configured sender, in Portuguese, with one link and until when it is valid', async () => {
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

it('is not written to an e-mail without an account', async () => {
  await visitor.post(path, { email: 'ninguem@escritorio.example' })
  await recover(await signUp())
  expect(mailsTo('ninguem@escritorio.example')).toEqual([])
})

it('carries a link that works once, in every process, and ends every session and the old password', async () => {
  const person = await signUp()
  const sessions = [await logIn(url, person), await logIn(product.url, person)]
  const token = await recover(person)
  expect(await check(token)).toMatchObject({ success: true })
  for (const session of sessions) await session.get('/v1/api/Dashboard')
  expect(await update(token, 'nova-2026')).toMatchObject({
    success: true,
    message: 'Senha atualizada com sucesso! Faça o login com sua nova senha.',
  })
  for (const session of sessions) expect((await session.call('GET', '/v1/api/Dashboard')).status).toBe(401)
  const old = await visitor.call('POST', '/v1/api/Auth', { json: { email: person.email, senha: person.senha } })
  expect(old).toMatchObject({ status: 401, message: 'Credenciais inválidas.' })
  expect(await update(token, 'outra-2026')).toMatchObject({ success: false })
  await (await logIn(url, { ...person, senha: 'nova-2026' })).get('/v1/api/Dashboard')
})

it('of a sign-up with the address of somebody else carry no word of whoever signed up, who keeps no certificate', async () => {
  const bait = 'GANHE UM PREMIO EM GOLPE.EXAMPLE'
  const person = { ...somebody(), nome: bait }
  const attacker = await newClient({ url, simulator: product.simulator }, person)
  await expect(attacker.register('11222333000181', bait)).rejects.toThrow(/confirme o e-mail desta conta/)
  const { body } = await attacker.call<unknown[]>('GET', '/v1/api/Empresas/obter-empresas')
  expect(body.data).toEqual([])
  await recover(person)
  // Letters that wait at the same time may leave in any order.
  const letters = () =>
    inbox
      .filter(({ to }) => to.includes(person.email))
      .toSorted((a, b) => String(a.mail.subject).localeCompare(String(b.mail.subject)))
  await vi.waitFor(() => expect(letters()).toHaveLength(2), { timeout: 20_000 })
  const received = letters()
  expect(received.map(({ mail }) => mail.subject)).toEqual([
    expect.stringContaining('Confirme'),
    expect.stringContaining('senha'),
  ])
  expect(JSON.stringify(received)).not.toMatch(/golpe/i)
  const [link] = /\/confirmar-email\/[\w-]{43}/.exec(received[0]!.mail.text ?? '')!
  const urlAcesso = `https://vigia.example${link}`
  await visitor.post('/v1/api/Usuarios/confirmar-email', { urlAcesso })
  await attacker.register('11222333000181', bait)
})
