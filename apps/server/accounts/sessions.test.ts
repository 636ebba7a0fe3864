import pg from 'pg'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { onOneServer } from '../../../tests/support/database.ts'
import { newAddress, newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())

const ownAccount = (token: string) => accounts.call('GET', '/v1/api/Usuarios/conta', { token })
const sessionsOf = async (token: string) =>
  (await accounts.call('GET', '/v1/api/Auth/sessoes', { token })).envelope.data as {
    idSessao: string
    atual: boolean
    vistaEm: string
    endereco: string | null
    navegador: string | null
  }[]
const end = (token: string, idSessao?: string) =>
  accounts.call('POST', '/v1/api/Auth/encerrar-sessoes', { token, json: { idSessao } })
const wrong = 'um-palpite-errado'

describe('a login', () => {
  test('opens a session that ends after seven days without use and is written down with its address', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    const { status, envelope } = await accounts.logIn(person, { address: '192.0.2.9', agent: 'Navegador' })
    expect(status).toBe(200)
    expect(envelope).toMatchObject({ success: true, message: 'Login realizado com sucesso!', errors: [] })
    expect(Object.keys(envelope.data).sort()).toEqual(['token', 'wsId'])
    const [own] = await accounts.rows<{ days: number }>(
      `select round(extract(epoch from expires_at - created_at) / 86400)::int as days from session where address = '192.0.2.9'`,
    )
    expect(own).toEqual({ days: 7 })
    const entry = { action: 'login', actor: 'Ana Souza', description: 'Entrou.', address: '192.0.2.9' }
    expect((await accounts.auditEntries(person.email)).at(-1)).toMatchObject(entry)
  })

  test.each([
    [6, 13],
    [20, 27],
    [29, 30],
  ])('that is used after %i days lasts until day %i', async (used, end) => {
    const { token } = await accounts.enter(newPerson(), { address: '192.0.2.8' })
    const own = `address = '192.0.2.8'`
    await accounts.rows(
      `update session set created_at = now() - interval '${used} days', seen_at = now() - interval '2 days' where ${own}`,
    )
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token, address: '192.0.2.8' })).status).toBe(200)
    const ends = await accounts.rows<{ days: number }>(
      `delete from session where ${own} returning round(extract(epoch from expires_at - created_at) / 86400)::int as days`,
    )
    expect(ends).toEqual([{ days: end }])
  })

  test('from a device that the account has not used is told by mail, once', async () => {
    const chrome = (version: number) =>
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`
    const person = newPerson()
    await accounts.signUp(person)
    const letters = () => accounts.attempts('aparelho-novo', person.email)
    for (const agent of [chrome(140), chrome(141)]) await accounts.logIn(person, { agent })
    expect(await letters()).toHaveLength(0)
    for (let times = 0; times < 2; times++) await accounts.logIn(person, { agent: 'curl/8.1', address: '192.0.2.77' })
    expect(await letters()).toHaveLength(1)
    const letter = (await accounts.letter('aparelho-novo', person.email))!
    expect(letter.paragraphs[0]).toMatch(/por um programa que esta conta não usou nos últimos dias: curl\.$/)
    expect(letter.footnote).toBe('A entrada veio do endereço de rede 192.0.2.77.')
  })

  test('that fails gets the same answer whether or not there is an account', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    const known = await accounts.logIn({ ...person, senha: wrong })
    const unknown = await accounts.logIn({ email: 'ninguem@exemplo.com.br', senha: wrong })
    expect(known).toEqual(unknown)
    expect(known).toMatchObject({ status: 401, envelope: { message: 'Credenciais inválidas.' } })
    const entry = {
      action: 'login-recusado',
      actor: 'Alguém sem login',
      description: `Login de ${person.email} recusado: a senha não conferiu.`,
      account_id: null,
    }
    await vi.waitFor(async () => expect((await accounts.auditEntries(person.email)).at(-1)).toMatchObject(entry), {
      timeout: 20_000,
    })
  })

  // It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
  onOneServer('with a password that is replaced while it is being checked opens nothing', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    const other = new pg.Client({ connectionString: accounts.database.url })
    await other.connect()
    await using _ = { [Symbol.asyncDispose]: () => other.end() }
    await other.query('begin')
    await other.query(`update account set password_hash = 'another' where email = $1`, [person.email])
    const answer = accounts.logIn(person)
    // The password has been found right by then, and the account is waited for.
    await vi.waitFor(
      async () => {
        const waiting = await accounts.rows(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        expect(waiting).toHaveLength(1)
      },
      { timeout: 9_000 },
    )
    await other.query('commit')
    expect((await answer).status).toBe(401)
    const open = `select 1 from session where workspace_id = (select workspace_id from account where email = $1)`
    expect(await accounts.rows(open, person.email)).toEqual([])
  })
})

describe('guesses', () => {
  test('fail ten times and then wait, and a login that succeeds begins anew', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    const statusOf = async (senha: string) => (await accounts.logIn({ ...person, senha })).status
    for (let n = 0; n < 9; n++) expect(await statusOf(wrong)).toBe(401)
    expect(await statusOf(person.senha)).toBe(200)
    for (let n = 0; n < 10; n++) expect(await statusOf(wrong)).toBe(401)
    expect(await statusOf(wrong)).toBe(429)
    expect(await statusOf(person.senha)).toBe(429)
  })

  test.each(['an account', 'nobody'])('sent all at once at %s count like guesses in a row', async (whose) => {
    const person = newPerson()
    if (whose === 'an account') await accounts.signUp(person)
    const answers = await Promise.all(Array.from({ length: 30 }, () => accounts.logIn({ ...person, senha: wrong })))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(20)
    expect(refused[0]!.envelope.message).toMatch(/espere \d+ minutos e tente de novo/)
    expect((await accounts.logIn({ ...person, email: person.email.toUpperCase() })).status).toBe(429)
    await accounts.rows(`update throttle set until = now() - interval '1 second'`)
    expect((await accounts.logIn(person)).status).toBe(whose === 'an account' ? 200 : 401)
  })

  test('sent at once from one address fail fifty times; the right password waits there too, and nowhere else', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    // IPv6 networks of /56 count as one, because each customer gets a whole one.
    const address = (i: number) => `2001:db8:0:7${i.toString(16).padStart(2, '0')}::${i + 1}`
    const guess = (i: number) => accounts.logIn({ ...newPerson(), senha: wrong }, { address: address(i) })
    const statuses: number[] = []
    for (let i = 0; i < 60; i += 20)
      for (const { status } of await Promise.all(Array.from({ length: 20 }, (_, j) => guess(i + j))))
        statuses.push(status)
    expect(statuses.sort()).toEqual([...Array(50).fill(401), ...Array(10).fill(429)])
    expect((await accounts.logIn(person, { address: address(99) })).status).toBe(429)
    expect((await accounts.logIn(person)).status).toBe(200)
  })

  test('do not keep people of one address with the right password from entering at once', async () => {
    const people = Array.from({ length: 20 }, () => newPerson())
    await Promise.all(people.map((person) => accounts.signUp(person)))
    const address = newAddress()
    const answers = await Promise.all(people.map((person) => accounts.logIn(person, { address })))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  })
})

describe('a session', () => {
  test('ends with the logout', async () => {
    const { token, email } = await accounts.enter()
    expect((await accounts.call('POST', '/v1/api/Auth/sair', { token })).envelope.message).toBe('Sessão encerrada.')
    expect((await ownAccount(token)).status).toBe(401)
    expect((await accounts.call('POST', '/v1/api/Auth/sair', { token })).status).toBe(401)
    expect((await accounts.auditEntries(email)).filter(({ action }) => action === 'sessao')).toHaveLength(1)
  })

  test('ends by itself', async () => {
    const { token, email } = await accounts.enter()
    await accounts.rows(
      `update session set expires_at = now() where workspace_id = (select workspace_id from account where email = $1)`,
      email,
    )
    expect(await ownAccount(token)).toMatchObject({
      status: 401,
      envelope: { message: 'Sessão expirada. Faça login novamente.' },
    })
  })

  test('says from where it was opened, and once an hour from where it is used', async () => {
    const { token, ...person } = await accounts.enter(newPerson(), { address: '192.0.2.1', agent: 'Um navegador' })
    const moved = { token, address: '192.0.2.2', agent: 'Outro navegador' }
    const seen = async () => {
      await accounts.call('GET', '/v1/api/Usuarios/conta', moved)
      const [own] = await sessionsOf((await accounts.logIn(person)).envelope.data.token).then((list) =>
        list.filter(({ endereco }) => endereco?.startsWith('192.0.2.')),
      )
      return own!
    }
    const before = await seen()
    expect(before).toMatchObject({ endereco: '192.0.2.1', navegador: 'Um navegador' })
    await accounts.rows(`update session set seen_at = now() - interval '59 minutes' where address = '192.0.2.1'`)
    expect(await seen()).toMatchObject({ endereco: '192.0.2.1' })
    await accounts.rows(`update session set seen_at = now() - interval '60 minutes' where address = '192.0.2.1'`)
    const after = await seen()
    expect(after).toMatchObject({ endereco: '192.0.2.2', navegador: 'Outro navegador' })
    expect(after.vistaEm > before.vistaEm).toBe(true)
  })

  test('is listed, the newest first and expired ones not; one that says nothing of itself too', async () => {
    const { token, ...person } = await accounts.enter()
    await accounts.enter()
    const second = (await accounts.logIn(person, { agent: '' })).envelope.data.token
    const third = (await accounts.logIn(person)).envelope.data.token
    const list = await sessionsOf(second)
    expect(list.map(({ atual }) => atual)).toEqual([false, true, false])
    expect(list[1]!.navegador).toBeNull()
    const mine = (await sessionsOf(third)).find(({ atual }) => atual)!
    await accounts.rows('update session set expires_at = now() where public_id = $1', mine.idSessao)
    expect((await sessionsOf(token)).map(({ atual }) => atual)).toEqual([false, true])
  })

  test('can be ended from another one, and all others at once', async () => {
    const { token, ...person } = await accounts.enter()
    const others = await Promise.all([1, 2, 3].map(async () => (await accounts.logIn(person)).envelope.data.token))
    const target = (await sessionsOf(others[0]!)).find(({ atual }) => atual)!
    expect((await end(token, target.idSessao)).envelope).toMatchObject({
      message: 'Uma sessão foi encerrada.',
      data: { encerradas: 1 },
    })
    expect((await ownAccount(others[0]!)).status).toBe(401)
    expect((await end(token)).envelope).toMatchObject({
      message: '2 sessões foram encerradas.',
      data: { encerradas: 2 },
    })
    for (const other of others) expect((await ownAccount(other)).status).toBe(401)
    expect((await ownAccount(token)).status).toBe(200)
    expect((await end(token)).envelope).toMatchObject({
      message: 'Não há outras sessões abertas.',
      data: { encerradas: 0 },
    })
    const told = (await accounts.auditEntries(person.email)).filter(({ action }) => action === 'sessao')
    expect(told.map(({ description }) => description)).toEqual([
      expect.stringMatching(/^Encerrou uma sessão \(10\.[\d.]+, teste\)\.$/),
      'Encerrou 2 outras sessões.',
    ])
  })

  test('of somebody else, one that ended and one that never was are not found', async () => {
    const { token } = await accounts.enter()
    const stranger = await accounts.enter()
    const [theirs] = await sessionsOf(stranger.token)
    for (const id of [theirs!.idSessao, crypto.randomUUID(), 'x', '']) {
      expect(await end(token, id)).toMatchObject({
        status: 404,
        envelope: { message: 'Essa sessão não existe ou já terminou.' },
      })
    }
    expect((await ownAccount(stranger.token)).status).toBe(200)
  })
})

describe('logins that succeed', () => {
  test('are three hundred in fifteen minutes, for each account', async () => {
    const [person, other] = [newPerson(), newPerson()]
    for (const someone of [person, other]) await accounts.signUp(someone)
    expect((await accounts.logIn(person)).status).toBe(200)
    await accounts.rows("update throttle set count = 299 where count = 1 and until < now() + interval '16 minutes'")
    const answers = [await accounts.logIn(person), await accounts.logIn(person)]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers[1]!.envelope.message).toMatch(/^Muitas tentativas em pouco tempo\. .*espere \d+ minutos e tente/)
    // The password was right each time: none of them counts as a guess.
    for (let i = 0; i < 11; i++) expect((await accounts.logIn(person)).status).toBe(429)
    expect((await accounts.logIn(other)).status).toBe(200)
    await accounts.rows(`update throttle set until = now() - interval '1 second' where count >= 300`)
    expect((await accounts.logIn(person)).status).toBe(200)
  })

  test('leave the fifty sessions of the account open that were seen last, also when they come at once', async () => {
    const person = await accounts.enter()
    const bystander = await accounts.enter()
    await accounts.rows(
      `insert into session (token_hash, workspace_id, account_id, created_at, seen_at, expires_at)
       select sha256(n::text::bytea), workspace_id, account_id, created_at, seen_at - n * interval '1 minute', expires_at
         from session, generate_series(1, 49) n where account_id = (select id from account where email = $1)`,
      person.email,
    )
    // The one in use was opened long before all others.
    await accounts.rows("update session set created_at = now() - interval '20 days' where seen_at = created_at")
    const opened = await Promise.all(Array.from({ length: 10 }, () => accounts.logIn(person)))
    expect(opened.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const left = await accounts.rows<{ old: boolean }>(
      `select token_hash in (select sha256(n::text::bytea) from generate_series(40, 49) n) as old
         from session where account_id = (select id from account where email = $1)`,
      person.email,
    )
    expect(left).toEqual(Array(50).fill({ old: false }))
    for (const token of [person.token, bystander.token, ...opened.map(({ envelope }) => envelope.data.token)])
      expect((await ownAccount(token)).status).toBe(200)
  })
})
