import { byInvitation } from '@vigia/contract/accounts'
import { RecoveryForm } from '@vigia/contract/forms'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { isMailbox } from '../platform/mail/message.ts'
import { createAccount, forgetOld } from './accounts.ts'
import { type Accounts, newAddress, newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())

const counts = () =>
  accounts.rows<{ accounts: number; workspaces: number; mails: number }>(
    `select (select count(*)::int from account) as accounts, (select count(*)::int from workspace) as workspaces,
            (select count(*)::int from mail) as mails`,
  )

describe('where accounts are made by invitation', () => {
  let closed: Accounts
  beforeAll(async () => {
    closed = await openAccounts({ signUp: 'invitation' })
  })
  afterAll(() => closed[Symbol.asyncDispose]())

  test('a sign-up is refused with how to get an account, and leaves nothing', async () => {
    const answer = await closed.signUp(newPerson())
    expect(answer).toMatchObject({ status: 403, envelope: { success: false, message: byInvitation } })
    expect(await closed.rows('select from account')).toEqual([])
  })

  test('the operator makes the first one, whose e-mail needs no proof', async () => {
    const senha = await createAccount(closed.ctx, { name: 'Ana Souza', email: 'Ana@Exemplo.com.br' })
    expect((await closed.logIn({ email: 'ana@exemplo.com.br', senha: senha! })).status).toBe(200)
    expect(await closed.rows('select name, email_proved_at is not null as proved from account')).toEqual([
      { name: 'Ana Souza', proved: true },
    ])
    expect(await createAccount(closed.ctx, { name: 'Outra', email: 'ana@exemplo.com.br' })).toBeNull()
  })
})

describe('a sign-up', () => {
  test('makes an account in a workspace of its own, and the audit says so', async () => {
    const person = newPerson({ email: 'Ana.Souza@Exemplo.com.br' })
    const answer = await accounts.signUp({ ...person, celular: '(11) 99999-9999', tipoPlano: 2 }, '192.0.2.7')
    expect(answer).toMatchObject({
      status: 200,
      envelope: { success: true, message: 'Conta criada com sucesso! Faça login para continuar.', data: null },
    })
    const found = await accounts.rows(
      `select a.email, a.name, a.phone, w.name as workspace, w.plan, w.trial_until > now() + interval '6 days' as trial
         from account a join workspace w on w.id = a.workspace_id where a.email = $1`,
      'ana.souza@exemplo.com.br',
    )
    const kept = { email: 'ana.souza@exemplo.com.br', name: 'Ana Souza', phone: '11999999999' }
    expect(found).toEqual([{ ...kept, workspace: 'Ana Souza', plan: 2, trial: true }])
    expect(await accounts.auditEntries('ana.souza@exemplo.com.br')).toEqual([
      {
        action: 'conta',
        actor: 'Ana Souza',
        description: 'Conta criada para ana.souza@exemplo.com.br: plano Profissional, com 7 dias de teste.',
        address: '192.0.2.7',
        account_id: expect.any(Number),
      },
    ])
  })

  test('that breaks a rule of the form is refused and leaves nothing', async () => {
    const before = await counts()
    expect(await accounts.signUp({ ...newPerson(), nome: 'An' })).toMatchObject({
      status: 400,
      envelope: { success: false, message: 'Nome deve ter pelo menos 3 caracteres' },
    })
    expect(await counts()).toEqual(before)
  })

  test('is shown to its person, who may write the e-mail in any case', async () => {
    const person = newPerson()
    await accounts.signUp({ ...person, celular: '(11) 99999-9999' })
    const { envelope } = await accounts.logIn({ ...person, email: person.email.toUpperCase() })
    const own = await accounts.call('GET', '/v1/api/Usuarios/conta', { token: envelope.data.token })
    expect(own.envelope.data).toEqual({
      nome: person.nome,
      email: person.email,
      celular: '11999999999',
      compartilhada: false,
      emailConfirmado: true,
      duasEtapas: null,
      passkeys: [],
      emailNovo: null,
      exclusaoEm: null,
      workspace: person.nome,
      papel: 'administrador',
      idsEmpresas: null,
      outrosWorkspaces: false,
      faltaSegundoFator: false,
      acessoEncerrado: false,
      criadaEm: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
  })

  test('with an e-mail that is taken gets the same answer, changes nothing and tells the owner', async () => {
    const person = newPerson()
    const fresh = await accounts.signUp(person)
    const [before] = await counts()
    const again = { nome: 'Outra Pessoa', email: person.email.toUpperCase(), senha: 'outra-senha', tipoPlano: 2 }
    expect(await accounts.signUp(again)).toEqual(fresh)
    expect(await counts()).toEqual([{ ...before!, mails: before!.mails + 1 }])
    expect((await accounts.logIn(again)).status).toBe(401)
    expect((await accounts.logIn(person)).status).toBe(200)
    const letter = await accounts.letter('conta-existente', person.email)
    expect(letter).toMatchObject({
      subject: 'Você já tem uma conta no Vigia Fiscal',
      button: { url: 'https://vigia.exemplo.com.br/login' },
    })
    expect(JSON.stringify(letter)).not.toContain('Outra Pessoa')
  })

  test('costs the same statements whether or not the e-mail is taken', async () => {
    const person = newPerson()
    const cost = async () => {
      accounts.statements.count = 0
      await accounts.signUp(person)
      return accounts.statements.count
    }
    const fresh = await cost()
    expect(await cost()).toBe(fresh)
  })

  test('that arrives eight times at once makes one account', async () => {
    const person = newPerson()
    const [before] = await counts()
    const answers = await Promise.all(Array.from({ length: 8 }, () => accounts.signUp(person)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]!.status).toBe(200)
    const one = { accounts: before!.accounts + 1, workspaces: before!.workspaces + 1 }
    expect(await counts()).toEqual([{ ...one, mails: before!.mails + 8 }])
  })

  test('is refused in words after a hundred from one address within the hour', async () => {
    const address = newAddress()
    await accounts.rows('truncate throttle')
    await accounts.signUp(newPerson(), address)
    await accounts.rows('update throttle set count = 299')
    expect((await accounts.signUp(newPerson(), address)).status).toBe(200)
    const refused = await accounts.signUp(newPerson(), address)
    expect(refused.status).toBe(429)
    expect(Number(refused.retryAfter)).toBeGreaterThan(3_000)
    expect(refused.envelope.message).toMatch(/^Muitas tentativas em pouco tempo\. .*espere \d+ minutos/)
    expect((await accounts.signUp(newPerson())).status).toBe(200)
    await accounts.rows(`update throttle set until = now() - interval '1 second'`)
    expect((await accounts.signUp(newPerson(), address)).status).toBe(200)
  })
})

test('of three thousand sign-ups within the hour no further one is taken, from wherever it comes', async () => {
  await accounts.rows('truncate throttle')
  await accounts.signUp(newPerson())
  await accounts.rows('update throttle set count = 3000')
  const refused = await accounts.signUp(newPerson())
  await accounts.rows('truncate throttle')
  expect(refused.status).toBe(429)
})

describe('the letter about a taken e-mail', () => {
  test('is written to owners of accounts only, and once an hour', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    await accounts.signUp(person)
    await accounts.signUp(person)
    const [first, second] = await accounts.attempts('conta-existente', person.email)
    expect(await first!()).not.toBeNull()
    expect(await second!()).toBeNull()
    // It may have to be sent again.
    expect(await first!()).not.toBeNull()
    await accounts.rows(`update throttle set until = now() - interval '1 second'`)
    await accounts.signUp(person)
    const third = (await accounts.attempts('conta-existente', person.email))[2]
    expect(await third!()).not.toBeNull()
    expect(await second!()).toBeNull()
    await accounts.rows(`insert into mail (kind, recipient) values ('conta-existente', 'ninguem@exemplo.com.br')`)
    expect(await accounts.letter('conta-existente', 'ninguem@exemplo.com.br')).toBeNull()
  })
})

test('an e-mail that a form takes is one that mail is sent to, and the other way round where its domain has a dot', () => {
  const sign = fc.oneof(
    fc.constantFrom(...'aé.-+@,;:<>()[]\\"\' \n'),
    fc.constantFrom('\0', '\u0085', '\u00ad', '\u200b', '\u202e', '\u2028', '\ufeff', '\ud800', '\ue000', '🧾'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const part = fc.array(sign, { maxLength: 4 }).map((signs) => signs.join(''))
  const email = fc.oneof(
    fc.tuple(part, part).map(([local, domain]) => `a${local}@x${domain}y.br`),
    part.map((text) => `ana@x.br${text}`),
    part,
  )
  fc.assert(
    fc.property(email, (text) => {
      const email = text.trim()
      const hasDots = /@[^@.]+(\.[^@.]+)+$/.test(email)
      expect([email, RecoveryForm.safeParse({ email }).success]).toEqual([email, isMailbox(email) && hasDots])
    }),
    { numRuns: runs(3_000) },
  )
})

test('no password and no token is in the database, in any table and in any way of writing it', async () => {
  const person = newPerson({ senha: 'uma-senha-que-so-ela-sabe' })
  const chosen = 'outra-senha-que-so-ela-sabe'
  const { token } = await accounts.enter(person)
  await accounts.logIn({ ...person, senha: 'um-palpite-errado' })
  await accounts.signUp({ ...person, senha: 'senha-de-outra-pessoa' })
  await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email: person.email } })
  const link = (await accounts.letter('recuperar-senha', person.email))!.button!.url
  const changed = { senhaAtual: person.senha, senha: chosen, senhaNovamente: chosen }
  expect((await accounts.call('PUT', '/v1/api/Usuarios/senha', { token, json: changed })).status).toBe(200)
  expect((await accounts.call('POST', '/v1/api/Auth/encerrar-sessoes', { token, json: {} })).status).toBe(200)

  const tables = await accounts.rows<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  )
  let everything = ''
  for (const { name } of tables)
    for (const { row } of await accounts.rows<{ row: string }>(`select t::text as row from ${name} t`))
      everything += `${row}\n`
  expect(everything).toContain(person.email)
  const linkToken = link.split('/').at(-1)!
  const secrets = [person.senha, chosen, 'um-palpite-errado', 'senha-de-outra-pessoa', token, linkToken]
  for (const secret of secrets) {
    const bytes = Buffer.from(secret)
    for (const written of [secret, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')])
      expect(everything.includes(written), secret).toBe(false)
  }
  for (const secret of [token, linkToken])
    expect(everything.includes(Buffer.from(secret, 'base64url').toString('hex')), secret).toBe(false)
})

test('what nobody asks for any more is forgotten, of every workspace', async () => {
  const [first, second] = [await accounts.enter(), await accounts.enter()]
  for (const { email } of [first, second]) {
    await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email } })
    await accounts.letter('recuperar-senha', email)
  }
  await accounts.rows('delete from throttle')
  await accounts.rows(
    `insert into throttle values ('\\x01', 3, now() - interval '1 second'), ('\\x02', 3, now() + interval '1 hour')`,
  )
  const ofSecond = `(workspace_id = (select workspace_id from account where email = '${second.email}'))`
  for (const [isSecond, hours, days] of [
    [true, -1, 31],
    [false, 1, 29],
  ] as const) {
    await accounts.rows(
      `update session set expires_at = now() + $2 * interval '1 hour' where ${ofSecond} = $1`,
      isSecond,
      hours,
    )
    await accounts.rows(
      `update mail_link set created_at = now() - $2 * interval '1 day' where ${ofSecond} = $1`,
      isSecond,
      days,
    )
  }
  await forgetOld(accounts.ctx)
  const left = (table: string) =>
    accounts.rows<{ second: boolean }>(
      `select distinct a.email = '${second.email}' as second from ${table} t join account a on a.workspace_id = t.workspace_id`,
    )
  expect(await left('session')).toEqual([{ second: false }])
  expect(await left('mail_link')).toEqual([{ second: false }])
  expect(await accounts.rows(`select encode(key, 'hex') as key from throttle`)).toEqual([{ key: '02' }])
  expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: first.token })).status).toBe(200)
})
