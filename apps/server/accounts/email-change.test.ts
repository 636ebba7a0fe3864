import { afterAll, describe, expect, test } from 'vitest'
import { newPerson, openAccounts } from './testing.ts'

// An installation from which letters leave.
const accounts = await openAccounts({ smtpUrl: 'smtp://127.0.0.1:1' })
afterAll(() => accounts[Symbol.asyncDispose]())

const ask = (token: string, email: string, senhaAtual: string) =>
  accounts.call('POST', '/v1/api/Usuarios/trocar-email', { token, json: { email, senhaAtual } })
const confirm = (urlAcesso: string) =>
  accounts.call('POST', '/v1/api/Usuarios/confirmar-email', { json: { urlAcesso } })
const read = async (token: string) => (await accounts.call('GET', '/v1/api/Usuarios/conta', { token })).envelope.data
const linkTo = async (email: string) => (await accounts.letter('novo-email', email))!.button!.url

describe('another e-mail of an account', () => {
  test('is asked for with the password, counts when its link is opened, and the old one is told', async () => {
    const person = await accounts.enter()
    const email = newPerson().email
    expect((await ask(person.token, email, 'errada-123')).status).toBe(400)
    expect((await ask(person.token, email.toUpperCase(), person.senha)).status).toBe(200)
    expect(await read(person.token)).toMatchObject({ email: person.email, emailNovo: email })
    await accounts.rows('update account set email_proved_at = now() where email = $1', person.email)
    expect(await confirm(await linkTo(email))).toMatchObject({
      status: 200,
      envelope: { message: `E-mail trocado: a partir de agora você entra com ${email}.` },
    })
    // The session goes on; the old e-mail opens none.
    expect(await read(person.token)).toMatchObject({ email, emailNovo: null, emailConfirmado: true })
    expect((await accounts.logIn(person)).status).toBe(401)
    expect((await accounts.logIn({ ...person, email })).status).toBe(200)
    expect((await accounts.letter('email-trocado', person.email))?.subject).toMatch(
      /^O e-mail da sua conta .* trocado$/,
    )
    expect((await accounts.auditEntries(email)).map(({ description }) => description)).toContain(
      `Trocou o e-mail da conta: de ${person.email} para ${email}.`,
    )
  })

  test('that was asked for again ends the link before, and each works once', async () => {
    const person = await accounts.enter()
    const [first, second] = [newPerson().email, newPerson().email]
    await ask(person.token, first, person.senha)
    const before = await linkTo(first)
    await ask(person.token, second, person.senha)
    expect(await accounts.letter('novo-email', first)).toBeNull()
    expect((await confirm(before)).status).toBe(410)
    const link = await linkTo(second)
    expect((await confirm(link)).status).toBe(200)
    expect((await confirm(link)).status).toBe(410)
  })

  test('which has an account already is told there alone', async () => {
    const [person, other] = [await accounts.enter(), await accounts.enter()]
    const free = await ask(person.token, newPerson().email, person.senha)
    const taken = await ask(person.token, other.email, person.senha)
    expect(taken.status).toBe(free.status)
    const letter = (await accounts.letter('novo-email', other.email))!
    expect(letter.subject).toMatch(/^Este e-mail já tem uma conta/)
    expect(letter.button!.url).toMatch(/\/login$/)
  })

  test('which somebody took in the meantime changes nothing', async () => {
    const person = await accounts.enter()
    const other = newPerson()
    await ask(person.token, other.email, person.senha)
    const link = await linkTo(other.email)
    await accounts.signUp(other)
    expect(await confirm(link)).toMatchObject({
      status: 409,
      envelope: { message: expect.stringMatching(/continua o mesmo\.$/) },
    })
    expect(await read(person.token)).toMatchObject({ email: person.email })
  })

  test('is told to the old one at once, and is not made once the password was changed or it was taken back', async () => {
    const person = await accounts.enter()
    await accounts.rows('update account set email_proved_at = now() where email = $1', person.email)
    const drop = () => accounts.call('POST', '/v1/api/Usuarios/desistir-da-troca-de-email', { token: person.token })
    await ask(person.token, newPerson().email, person.senha)
    expect((await accounts.letter('troca-de-email', person.email))?.subject).toMatch(/^Alguém pediu para trocar/)
    const email = newPerson().email
    await ask(person.token, email, person.senha)
    const taken = await linkTo(email)
    expect((await drop()).envelope.message).toBe('A troca de e-mail não será feita.')
    expect((await confirm(taken)).status).toBe(410)
    expect((await drop()).envelope.message).toMatch(/^Não há troca/)
    await ask(person.token, email, person.senha)
    const link = await linkTo(email)
    const json = { senhaAtual: person.senha, senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
    await accounts.call('PUT', '/v1/api/Usuarios/senha', { token: person.token, json })
    expect((await confirm(link)).status).toBe(410)
    expect(await accounts.letter('novo-email', email)).toBeNull()
    expect(await read(person.token)).toMatchObject({ email: person.email, emailNovo: null })
  })

  test('is asked for five times a day, and not the one that it has', async () => {
    const person = await accounts.enter()
    expect((await ask(person.token, person.email, person.senha)).envelope.message).toMatch(/^Este já é o e-mail/)
    for (let n = 0; n < 5; n++) expect((await ask(person.token, newPerson().email, person.senha)).status).toBe(200)
    expect((await ask(person.token, newPerson().email, person.senha)).status).toBe(429)
  })
})

test('name and phone are changed, and what changed is in the audit', async () => {
  const person = await accounts.enter()
  const change = (json: object) => accounts.call('PUT', '/v1/api/Usuarios/conta', { token: person.token, json })
  expect((await change({ nome: 'Al', celular: '' })).status).toBe(400)
  expect((await change({ nome: 'Alice Prado', celular: '(11) 98765-4321' })).status).toBe(200)
  expect(await read(person.token)).toMatchObject({ nome: 'Alice Prado', celular: '11987654321' })
  await change({ nome: 'Alice Prado', celular: '11987654321' })
  const told = (await accounts.auditEntries(person.email)).filter(({ description }) =>
    description.startsWith('Alterou'),
  )
  expect(told.map(({ description }) => description)).toEqual([
    expect.stringMatching(
      /^Alterou os dados da conta: nome de “.*” para “Alice Prado”; celular de nenhum para 11987654321\.$/,
    ),
  ])
})
