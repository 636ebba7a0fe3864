import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { hashPassword, matchesPassword, unknownHash } from './passwords.ts'
import { type Accounts, newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())

const change = (token: string, senhaAtual: string, senha = 'senha-escolhida', senhaNovamente = senha) =>
  accounts.call('PUT', '/v1/api/Usuarios/senha', { token, json: { senhaAtual, senha, senhaNovamente } })
const status = async (token: string) => (await accounts.call('GET', '/v1/api/Usuarios/conta', { token })).status

const updateByLink = async (accounts: Accounts, email: string) => {
  await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email } })
  const urlAcesso = (await accounts.letter('recuperar-senha', email))!.button!.url.split('/').at(-1)
  return (senha: string) =>
    accounts.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', {
      json: { urlAcesso, senha, senhaNovamente: senha },
    })
}

test('with the simulated authority no password of the right length is refused', async () => {
  const person = newPerson({ email: 'contabilidade@exemplo.com.br', senha: '123456' })
  expect((await accounts.signUp(person)).status).toBe(200)
  const { token } = (await accounts.logIn(person)).envelope.data
  expect((await change(token, person.senha, 'VigiaFiscal2026')).status).toBe(200)
  expect((await change(token, 'VigiaFiscal2026', person.email)).status).toBe(200)
  const update = await updateByLink(accounts, person.email)
  expect((await update(person.email.split('@')[0]!)).status).toBe(200)
  expect((await accounts.signUp(newPerson({ senha: '12345' }))).status).toBe(400)
})

describe('a password that somebody would try first, with the real authority,', () => {
  let real: Accounts
  beforeAll(async () => {
    real = await openAccounts({ ambiente: 'homologacao' })
  })
  afterAll(() => real[Symbol.asyncDispose]())
  const changeReal = (token: string, senhaAtual: string, senha: string) =>
    real.call('PUT', '/v1/api/Usuarios/senha', { token, json: { senhaAtual, senha, senhaNovamente: senha } })
  const common = /^Essa senha está entre as 100 mil mais usadas/
  const own = /^A senha não pode ser o seu e-mail nem o começo dele/
  const refusal = (message: RegExp) => ({ status: 400, envelope: { message: expect.stringMatching(message) } })

  test.each(['123456', 'SENHA123', 'password'])('is no password of a new account: %s', async (senha) => {
    const person = newPerson({ senha })
    expect(await real.signUp(person)).toMatchObject(refusal(common))
    expect((await real.logIn(person)).status).toBe(401)
  })

  test.each(['VigiaFiscal2026', 'nota-fiscal', 'vigia#1', 'Fiscal!!', 'sefaz 2026'])(
    'nor is one made of the words of the product: %s',
    async (senha) => {
      expect(await real.signUp(newPerson({ senha }))).toMatchObject(refusal(/palavras do assunto dele/))
      const person = await real.enter()
      expect(await changeReal(person.token, person.senha, senha)).toMatchObject(refusal(/palavras do assunto dele/))
    },
  )

  test('but a sentence with such words is one', async () => {
    expect((await real.signUp(newPerson({ senha: 'minha nota chega cedo' }))).status).toBe(200)
  })

  test('nor is the own e-mail, nor its beginning', async () => {
    const email = 'ana.de.souza@exemplo.com.br'
    for (const senha of [email.toUpperCase(), email.split('@')[0]!])
      expect(await real.signUp(newPerson({ email, senha }))).toMatchObject(refusal(own))
  })

  test('is refused at a change and by a link, which stays good', async () => {
    const person = await real.enter()
    expect(await changeReal(person.token, person.senha, 'dragon')).toMatchObject(refusal(common))
    expect(await changeReal(person.token, person.senha, person.email)).toMatchObject(refusal(own))
    const update = await updateByLink(real, person.email)
    expect(await update('baseball')).toMatchObject(refusal(common))
    expect(await update(person.email)).toMatchObject(refusal(own))
    expect((await real.logIn(person)).status).toBe(200)
    expect((await update('uma senha que ninguém tem')).status).toBe(200)
  })
})

describe('a change of password', () => {
  test('ends the other sessions and every link, tells by mail, and is written down', async () => {
    const person = await accounts.enter()
    const other = (await accounts.logIn(person)).envelope.data.token
    await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email: person.email } })
    const link = (await accounts.letter('recuperar-senha', person.email))!.button!.url.split('/').at(-1)
    expect(await change(person.token, person.senha)).toMatchObject({
      status: 200,
      envelope: { message: 'Senha atualizada com sucesso! As outras sessões foram encerradas.', data: null },
    })
    expect(await status(person.token)).toBe(200)
    expect(await status(other)).toBe(401)
    expect((await accounts.call('GET', `/v1/api/RecuperarSenha/${link}`)).status).toBe(410)
    expect((await accounts.logIn(person)).status).toBe(401)
    expect((await accounts.logIn({ ...person, senha: 'senha-escolhida' })).status).toBe(200)
    const letter = await accounts.letter('senha-alterada', person.email)
    expect(letter!.paragraphs[0]).toMatch(
      /^A senha foi trocada em \d\d\/\d\d\/\d{4}, \d\d:\d\d, no horário de Brasília, por quem estava com a conta aberta/,
    )
    expect(await accounts.auditEntries(person.email)).toContainEqual(
      expect.objectContaining({
        action: 'senha',
        actor: 'Ana Souza',
        description: 'Senha trocada com a senha atual; as outras sessões foram encerradas.',
      }),
    )
  })

  test('needs the current one, and changes nothing without it', async () => {
    const person = await accounts.enter()
    expect(await change(person.token, 'um-palpite-errado')).toMatchObject({
      status: 400,
      envelope: { message: 'A senha atual não confere.', errors: ['A senha atual não confere.'] },
    })
    expect((await accounts.logIn(person)).status).toBe(200)
    expect((await accounts.auditEntries(person.email)).map(({ description }) => description)).toContain(
      'Troca de senha recusada: a senha atual não conferiu.',
    )
  })

  test('guessed at all at once fails ten times and then waits, for this account only', async () => {
    const [person, other] = [await accounts.enter(), await accounts.enter()]
    const answers = await Promise.all(Array.from({ length: 15 }, () => change(person.token, 'um-palpite-errado')))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(400), ...Array(5).fill(429)])
    expect((await change(person.token, person.senha)).status).toBe(429)
    expect((await change(other.token, other.senha)).status).toBe(200)
    await accounts.rows(`update throttle set until = now() - interval '1 second'`)
    expect((await change(person.token, person.senha)).status).toBe(200)
  })

  test('raced by two calls happens once', async () => {
    const person = await accounts.enter()
    const answers = await Promise.all(
      ['primeira', 'segunda'].map((word) => change(person.token, person.senha, `senha-${word}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const won = answers[0]!.status === 200 ? 'primeira' : 'segunda'
    expect((await accounts.logIn({ ...person, senha: `senha-${won}` })).status).toBe(200)
  })
})

describe('checking a password', () => {
  const parameters = (stored: string) => stored.slice(0, stored.lastIndexOf('$', stored.lastIndexOf('$') - 1))

  test('checks a hash as costly for an unknown e-mail as for a known one', async () => {
    const { passwordCost } = accounts.ctx.config
    expect(parameters(unknownHash(passwordCost))).toBe(parameters(await hashPassword(accounts.ctx, 'outra-senha')))
    expect(await matchesPassword(accounts.ctx, undefined, 'senha')).toBe(false)
  })

  test('costs what OWASP recommends unless the configuration says otherwise', async () => {
    const config = readConfig({}, process.cwd())
    expect(parameters(await hashPassword({ config }, 'segredo'))).toBe('$argon2id$v=19$m=19456,t=2,p=1')
  })
})

describe('a password with accents', () => {
  const typed = 'avó-e-vovô'
  const [together, apart] = [typed.normalize('NFC'), typed.normalize('NFD')]

  test.each([
    ['together', together, apart],
    ['apart', apart, together],
  ])('that one keyboard sends %s is the same from another', async (_, senha, other) => {
    const person = await accounts.enter(newPerson({ senha }))
    expect((await accounts.logIn({ ...person, senha: other })).status).toBe(200)
    expect((await change(person.token, other, together, apart)).status).toBe(200)
    for (const written of [together, apart])
      expect((await accounts.logIn({ ...person, senha: written })).status).toBe(200)
    expect((await accounts.logIn({ ...person, senha: 'avo-e-vovo' })).status).toBe(401)
  })
})
