import { afterAll, describe, expect, test } from 'vitest'
import { confirmEmailOf } from './confirmation.ts'
import { requireProvedEmail } from './email-proof.ts'
import { findSession } from './sessions.ts'
import { newPerson, openAccounts } from './testing.ts'

// An installation from which letters leave.
const accounts = await openAccounts({ smtpUrl: 'smtp://127.0.0.1:1' })
afterAll(() => accounts[Symbol.asyncDispose]())

const kind = 'confirmar-email'
const confirm = (urlAcesso: string) =>
  accounts.call('POST', '/v1/api/Usuarios/confirmar-email', { json: { urlAcesso } })
const resend = (token: string) => accounts.call('POST', '/v1/api/Usuarios/reenviar-confirmacao', { token })
const isConfirmed = async (token: string) =>
  (await accounts.call('GET', '/v1/api/Usuarios/conta', { token })).envelope.data.emailConfirmado as boolean
const linkTo = async (email: string) => (await accounts.letter(kind, email))!.button!.url
const kindsTo = async (email: string) =>
  (await accounts.rows<{ kind: string }>('select kind from mail where recipient = $1 order by id', email)).map(
    (mail) => mail.kind,
  )
const recover = async (email: string, senha: string) => {
  await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email } })
  const urlAcesso = (await accounts.letter('recuperar-senha', email))!.button!.url
  await accounts.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', {
    json: { urlAcesso, senha, senhaNovamente: senha },
  })
  return urlAcesso
}

test('the letter of a sign-up has a link and nothing that a stranger wrote', async () => {
  const person = newPerson({ nome: 'Ganhe um prêmio em golpe.example' })
  await accounts.signUp(person)
  const letter = (await accounts.letter(kind, person.email))!
  expect(letter).toMatchObject({
    subject: 'Confirme o seu e-mail no Vigia Fiscal',
    button: { url: expect.stringMatching(/^https:\/\/vigia\.exemplo\.com\.br\/confirmar-email\/[\w-]{43}$/) },
  })
  expect(JSON.stringify(letter)).not.toContain('golpe')
  // Every attempt to send it brings the same link.
  expect(await linkTo(person.email)).toBe(letter.button!.url)
})

test('who is not confirmed may look around, and keep no certificate before the link was used', async () => {
  const { email, token } = await accounts.enter()
  const session = (await findSession(accounts.ctx, token, { address: '192.0.2.1', agent: 'teste' }))!
  await expect(requireProvedEmail(accounts.ctx, session)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(
      /^Antes de guardar um certificado digital, confirme o e-mail .*Nada foi guardado\.$/,
    ),
  })
  expect(await isConfirmed(token)).toBe(false)
  expect(await confirm(await linkTo(email))).toMatchObject({
    status: 200,
    envelope: { message: 'E-mail confirmado. A conta já pode guardar certificados digitais.' },
  })
  await requireProvedEmail(accounts.ctx, session)
  expect(await isConfirmed(token)).toBe(true)
  expect((await accounts.auditEntries(email)).at(-1)).toMatchObject({
    action: 'conta',
    description: `E-mail ${email} confirmado pelo link enviado a ele.`,
  })
})

describe('a link', () => {
  test('works once, and not together with another one', async () => {
    const { email, token } = await accounts.enter()
    const first = await linkTo(email)
    await resend(token)
    const second = await linkTo(email)
    expect(second).not.toBe(first)
    const answers = await Promise.all([confirm(first), confirm(second), confirm(first)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410])
    expect((await confirm(first)).envelope.message).toMatch(/^Este link já foi usado/)
    expect(await accounts.letter(kind, email)).toBeNull()
  })

  test('tells unknown from expired, and opens only what it was made for', async () => {
    const { email } = await accounts.enter()
    const url = await linkTo(email)
    expect((await confirm('x'.repeat(43))).envelope.message).toMatch(/^Não reconhecemos este link de confirmação/)
    const asRecovery = { urlAcesso: url.split('/').at(-1), senha: 'de-um-estranho', senhaNovamente: 'de-um-estranho' }
    expect((await accounts.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', { json: asRecovery })).status).toBe(
      404,
    )
    await accounts.rows(`update mail_link set expires_at = now() where purpose = 'email'`)
    expect(await confirm(url)).toMatchObject({ status: 410 })
    expect((await confirm(url)).envelope.message).toMatch(/^Este link expirou: ele vale por 24 horas/)
  })

  test('outlives a change of the password by who is logged in', async () => {
    const { email, senha, token } = await accounts.enter()
    const json = { senhaAtual: senha, senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
    expect((await accounts.call('PUT', '/v1/api/Usuarios/senha', { token, json })).status).toBe(200)
    expect((await confirm(await linkTo(email))).status).toBe(200)
  })
})

test('a password replaced by the link of a letter confirms the e-mail, and ends whoever signed up with it', async () => {
  const stranger = await accounts.enter()
  const confirmation = await linkTo(stranger.email)
  await recover(stranger.email, 'da-dona-do-email')
  expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: stranger.token })).status).toBe(401)
  const own = (await accounts.logIn({ ...stranger, senha: 'da-dona-do-email' })).envelope.data.token
  expect(await isConfirmed(own)).toBe(true)
  expect(await accounts.letter(kind, stranger.email)).toBeNull()
  expect((await confirm(confirmation)).status).toBe(410)
})

test('the letter is sent again five times a day', async () => {
  const { email, token } = await accounts.enter()
  const statuses: number[] = []
  for (let time = 0; time < 6; time++) statuses.push((await resend(token)).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  await confirm(await linkTo(email))
  expect((await resend(token)).envelope.message).toBe('Não há e-mail a confirmar nesta conta. Nada foi enviado.')
})

test('to an address that is not confirmed nothing leaves but links and that it has an account', async () => {
  const person = await accounts.enter()
  await accounts.logIn(person, { agent: 'leia.isto.em.golpe.example' })
  const json = { senhaAtual: person.senha, senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
  await accounts.call('PUT', '/v1/api/Usuarios/senha', { token: person.token, json })
  expect(await kindsTo(person.email)).toEqual([kind])
  await confirm(await linkTo(person.email))
  await accounts.logIn({ ...person, senha: 'senha-escolhida' }, { agent: 'outro' })
  expect(await kindsTo(person.email)).toEqual([kind, 'aparelho-novo'])
})

test('the operator confirms in the place of a letter that does not arrive', async () => {
  const { email, token } = await accounts.enter()
  expect(await confirmEmailOf(accounts.ctx, 'ninguem@exemplo.com.br')).toBe(false)
  expect(await confirmEmailOf(accounts.ctx, email.toUpperCase())).toBe(true)
  expect(await isConfirmed(token)).toBe(true)
})

test('where no letter leaves there is nothing to confirm', async () => {
  await using silent = await openAccounts()
  const { email, token } = await silent.enter()
  const { envelope } = await silent.call('GET', '/v1/api/Usuarios/conta', { token })
  expect(envelope.data.emailConfirmado).toBe(true)
  expect(await silent.letter(kind, email)).toBeNull()
})
