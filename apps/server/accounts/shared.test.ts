import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shareAccount } from './accounts.ts'
import { newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
const person = newPerson()
beforeAll(async () => {
  await accounts.signUp(person)
  await shareAccount(accounts.ctx, person.email.toUpperCase())
})
afterAll(() => accounts[Symbol.asyncDispose]())

const visit = async (address: string, agent: string) =>
  (await accounts.logIn(person, { address, agent })).envelope.data.token as string
const seen = async (token: string) =>
  (await accounts.call('GET', '/v1/api/Auth/sessoes', { token })).envelope.data as Record<string, unknown>[]
const everything = async () => {
  let text = ''
  for (const table of ['session', 'audit', 'account', 'mail', 'mail_link', 'workspace'])
    for (const { row } of await accounts.rows<{ row: string }>(`select t::text as row from ${table} t`))
      text += `${row}\n`
  return text
}

describe('an account that many share', () => {
  test('shows each visitor his own session only, and ends no other', async () => {
    const [one, other] = [await visit('192.0.2.11', 'Navegador'), await visit('192.0.2.12', 'Outro')]
    const [mine, theirs] = [await seen(one), await seen(other)]
    expect(mine).toEqual([expect.objectContaining({ atual: true, endereco: null, navegador: null })])
    expect(theirs).toHaveLength(1)
    for (const idSessao of [undefined, theirs[0]!.idSessao, crypto.randomUUID(), 'x'])
      expect(
        await accounts.call('POST', '/v1/api/Auth/encerrar-sessoes', { token: one, json: { idSessao } }),
      ).toMatchObject({
        status: 409,
        envelope: { message: expect.stringMatching(/^Esta conta é compartilhada, .*use "Sair"\.$/) },
      })
    expect(await seen(other)).toHaveLength(1)
    expect((await accounts.call('POST', '/v1/api/Auth/sair', { token: one })).status).toBe(200)
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: one })).status).toBe(401)
    expect(await seen(other)).toHaveLength(1)
  })

  test('gets no letter by which a person could take it, and the client learns nothing of that', async () => {
    const recover = (email: string) => accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email } })
    expect(await recover(person.email)).toEqual(await recover('ninguem@exemplo.com.br'))
    expect(await accounts.letter('recuperar-senha', person.email)).toBeNull()
    const fresh = await accounts.signUp(newPerson())
    expect(await accounts.signUp(person)).toEqual(fresh)
    expect(await accounts.letter('conta-existente', person.email)).toBeNull()
    expect(await accounts.rows('select 1 from mail_link')).toEqual([])
  })

  test('tells nobody from where the others came, nor with what', async () => {
    const token = await visit('198.51.100.7', 'NavegadorDeAlguem')
    await accounts.rows(`update session set seen_at = now() - interval '2 hours'`)
    const again = { token, address: '198.51.100.8', agent: 'NavegadorDeAlguem' }
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', again)).status).toBe(200)
    expect(await everything()).not.toContain('198.51.100')
    await accounts.call('POST', '/v1/api/Auth/sair', again)
    await accounts.logIn(
      { ...person, senha: 'um-palpite-errado' },
      { address: '198.51.100.9', agent: 'NavegadorDeAlguem' },
    )
    const actions = (await accounts.auditEntries(person.email)).map(({ action }) => action)
    expect(actions.filter((action) => ['sessao', 'login-recusado'].includes(action))).toEqual([])
    expect(await everything()).toContain(person.email)
    expect(await everything()).not.toMatch(/198\.51\.100|NavegadorDeAlguem/)
  })

  test('is locked by wrong passwords for the network of who guesses only', async () => {
    const guess = { ...person, senha: 'um-palpite-errado' }
    for (let n = 0; n < 10; n++) expect((await accounts.logIn(guess, { address: '203.0.113.9' })).status).toBe(401)
    expect((await accounts.logIn(person, { address: '203.0.113.9' })).status).toBe(429)
    const { status, envelope } = await accounts.logIn(person, { address: '203.0.113.10' })
    expect(status).toBe(200)
    const prove = (token: string, senha: string) =>
      accounts.call('POST', '/v1/api/Auth/confirmar', { token, json: { senha } })
    const { token } = envelope.data
    for (let n = 0; n < 11; n++) await prove(token, 'um-palpite-errado')
    expect((await prove(token, person.senha)).status).toBe(429)
    expect((await prove(await visit('203.0.113.11', 'x'), person.senha)).status).toBe(200)
  })

  test('is kept open by one visitor for the others', async () => {
    await visit('203.0.113.1', 'x')
    await accounts.rows(`update throttle set count = 300 where count = 1 and until < now() + interval '16 minutes'`)
    expect((await accounts.logIn(person, { address: '203.0.113.1' })).status).toBe(429)
    expect((await accounts.logIn(person, { address: '203.0.113.2' })).status).toBe(200)
    const first = await visit('203.0.113.3', 'x')
    await accounts.rows(
      `insert into session (token_hash, workspace_id, account_id, created_at, expires_at)
       select sha256(n::text::bytea), workspace_id, id, now() + interval '1 minute', now() + interval '1 day'
         from account, generate_series(1, 60) n where shared`,
    )
    await visit('203.0.113.4', 'x')
    expect(await seen(first)).toHaveLength(1)
  })
})

test('sharing an account takes along what was kept of it, ends its links, and leaves others as they are', async () => {
  const [own, other] = [await accounts.enter(), await accounts.enter()]
  const links: string[] = []
  for (const { email } of [own, other]) {
    await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email } })
    links.push((await accounts.letter('recuperar-senha', email))!.button!.url.split('/').at(-1)!)
  }
  expect(await shareAccount(accounts.ctx, own.email)).toBe(true)
  expect(await shareAccount(accounts.ctx, own.email)).toBe(true)
  expect(await shareAccount(accounts.ctx, 'ninguem@exemplo.com.br')).toBe(false)
  expect(await seen(own.token)).toMatchObject([{ endereco: null, navegador: null }])
  expect(await seen(other.token)).toMatchObject([{ endereco: expect.stringMatching(/^10\./), navegador: 'teste' }])
  const statuses = await Promise.all(links.map((link) => accounts.call('GET', `/v1/api/RecuperarSenha/${link}`)))
  expect(statuses.map(({ status }) => status)).toEqual([410, 200])
  const json = { senhaAtual: other.senha, senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
  expect((await accounts.call('PUT', '/v1/api/Usuarios/senha', { token: other.token, json })).status).toBe(200)
  // A password that everybody knows opens no workspace of others.
  await accounts.rows(
    `insert into membership (workspace_id, account_id, home_workspace_id, home_account_id)
     select b.workspace_id, b.id, a.workspace_id, a.id
       from (select * from account where email = $1 offset 0) a, (select * from account where email = $2 offset 0) b`,
    other.email,
    own.email,
  )
  await expect(shareAccount(accounts.ctx, other.email)).rejects.toMatchObject({ code: 'conflict' })
})
