import { afterAll, describe, expect, test } from 'vitest'
import type { Letter } from '../platform/mail/mail.ts'
import { newAddress, newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())

const request = (email: string, address?: string) =>
  accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email }, address })
const check = (token: string) => accounts.call('GET', `/v1/api/RecuperarSenha/${token}`)
const update = (urlAcesso: string, senha = 'senha-escolhida', senhaNovamente = senha) =>
  accounts.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', { json: { urlAcesso, senha, senhaNovamente } })
const newLink = async (email: string) => {
  await request(email)
  const { url } = (await accounts.letter('recuperar-senha', email))!.button!
  return { url, token: url.split('/').at(-1)! }
}
const unknown = /^Não reconhecemos este link/
const expired = /^Este link expirou: ele vale por uma hora\./
const used = /^Este link já foi usado/

describe('a request', () => {
  test('gets the same answer whether or not there is an account, and does the same', async () => {
    const person = newPerson()
    await accounts.signUp(person)
    const cost = async (email: string) => {
      accounts.statements.count = 0
      return { answer: await request(email), statements: accounts.statements.count }
    }
    const known = await cost(person.email.toUpperCase())
    expect(await cost('ninguem@exemplo.com.br')).toEqual(known)
    expect(known.answer).toMatchObject({
      status: 200,
      envelope: { success: true, message: 'Iremos enviar um email de recuperação de senha!', data: null },
    })
    const queued = await accounts.rows(
      `select workspace_id, kind, state from mail
        where recipient in ($1, 'ninguem@exemplo.com.br') and kind <> 'confirmar-email'`,
      person.email,
    )
    expect(queued).toEqual(Array(2).fill({ workspace_id: null, kind: 'recuperar-senha', state: 'waiting' }))
  })

  test('of somebody without an account becomes no letter and leaves no trace', async () => {
    await request('nunca-vi@exemplo.com.br')
    const count = () => accounts.rows('select (select count(*) from mail_link), (select count(*) from audit)')
    const before = await count()
    expect(await accounts.letter('recuperar-senha', 'nunca-vi@exemplo.com.br')).toBeNull()
    expect(await count()).toEqual(before)
  })

  test('is refused after five for one e-mail, known or not, and after thirty from one address', async () => {
    const { email } = await accounts.enter()
    for (const whose of [email, 'ninguem-aqui@exemplo.com.br']) {
      const answers = await Promise.all(Array.from({ length: 7 }, () => request(whose)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429])
      expect((await request(whose.toUpperCase())).status).toBe(429)
    }
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 32 }, () => request(newPerson().email, address)))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2)
  })
})

describe('the letter', () => {
  test('carries a link that works for an hour, and nothing that a stranger could have written', async () => {
    const person = newPerson({ nome: 'Ganhe um prêmio em golpe.example' })
    await accounts.signUp(person)
    await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email: person.email }, address: '192.0.2.4' })
    const letter = (await accounts.letter('recuperar-senha', person.email))!
    expect(letter).toMatchObject({
      subject: 'Crie uma senha nova para a sua conta no Vigia Fiscal',
      button: {
        label: 'Criar senha nova',
        url: expect.stringMatching(/^https:\/\/vigia\.exemplo\.com\.br\/atualizar-senha\/[\w-]{43}$/),
      },
      footnote: expect.stringMatching(
        /^Pedido feito em \d\d\/\d\d\/\d{4}, \d\d:\d\d, do endereço de rede 192\.0\.2\.4\.$/,
      ),
    })
    expect(JSON.stringify(letter)).not.toContain('golpe')
    const { status, envelope } = await check(letter.button!.url.split('/').at(-1)!)
    expect(status).toBe(200)
    const [left] = await accounts.rows<{ minutes: number }>(
      'select extract(epoch from $1::timestamptz - now()) / 60 as minutes',
      envelope.data.validoAte,
    )
    expect(Number(left!.minutes)).toBeGreaterThan(55)
    expect(Number(left!.minutes)).toBeLessThanOrEqual(60)
    expect((await accounts.auditEntries(person.email)).at(-1)).toEqual({
      action: 'senha',
      actor: 'Alguém sem login',
      description: `Link de recuperação de senha pedido para ${person.email}.`,
      address: '192.0.2.4',
      account_id: null,
    })
  })
})

describe('a letter that leaves at the third attempt', () => {
  const attemptsOf = async () => {
    const person = newPerson()
    await accounts.signUp(person)
    await request(person.email)
    await request(person.email)
    const [write, other] = await accounts.attempts('recuperar-senha', person.email)
    const tokenOf = async (write: () => Promise<Letter | null>) => (await write())!.button!.url.split('/').at(-1)!
    return { person, attempt: () => tokenOf(write!), another: () => tokenOf(other!) }
  }
  const links = `select used_at is not null as used from mail_link r
                  join account a on (a.workspace_id, a.id) = (r.workspace_id, r.account_id) where a.email = $1`

  test('brings one link, and the audit tells once that it was asked for', async () => {
    const { person, attempt, another } = await attemptsOf()
    const [token, ...again] = [await attempt(), await attempt(), await attempt()]
    expect(again).toEqual([token, token])
    expect(await accounts.rows(links, person.email)).toEqual([{ used: false }])
    const asked = (await accounts.auditEntries(person.email)).filter(({ action }) => action === 'senha')
    expect(asked.map(({ description }) => description)).toEqual([
      `Link de recuperação de senha pedido para ${person.email}.`,
    ])
    // Another mail has a link of its own.
    const other = await another()
    expect(other).not.toBe(token)
    expect((await check(other)).status).toBe(200)
    expect(await accounts.rows(links, person.email)).toHaveLength(2)
    expect((await update(token!)).status).toBe(200)
  })

  test('and is written by two at once brings one link that works', async () => {
    const { person, attempt } = await attemptsOf()
    const tokens = await Promise.all([attempt(), attempt(), attempt()])
    expect(new Set(tokens).size).toBe(1)
    expect((await check(tokens[0]!)).status).toBe(200)
    expect((await accounts.auditEntries(person.email)).filter(({ action }) => action === 'senha')).toHaveLength(1)
  })
})

describe('a link', () => {
  test('replaces the password, ends every session and every other link, and tells by mail', async () => {
    const person = await accounts.enter()
    const bystander = await accounts.enter()
    const second = (await accounts.logIn(person)).envelope.data.token
    const [older, link, newer] = [await newLink(person.email), await newLink(person.email), await newLink(person.email)]
    const theirs = await newLink(bystander.email)
    const answer = await update(link.token)
    expect(answer).toMatchObject({
      status: 200,
      envelope: { message: 'Senha atualizada com sucesso! Faça o login com sua nova senha.', data: null },
    })
    for (const token of [person.token, second])
      expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token })).status).toBe(401)
    for (const { token } of [older, link, newer]) {
      expect(await check(token)).toMatchObject({ status: 410, envelope: { message: expect.stringMatching(used) } })
      expect(await update(token)).toMatchObject({ status: 410, envelope: { message: expect.stringMatching(used) } })
    }
    expect((await accounts.logIn(person)).status).toBe(401)
    expect((await accounts.logIn({ ...person, senha: 'senha-escolhida' })).status).toBe(200)
    expect(await accounts.letter('senha-alterada', person.email)).toMatchObject({
      subject: 'A senha da sua conta no Vigia Fiscal foi trocada',
      button: { url: 'https://vigia.exemplo.com.br/login' },
    })
    expect(await accounts.auditEntries(person.email)).toContainEqual({
      action: 'senha',
      actor: 'Ana Souza',
      description: 'Senha trocada pelo link enviado por e-mail; todas as sessões foram encerradas.',
      address: expect.any(String),
      account_id: expect.any(Number),
    })
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: bystander.token })).status).toBe(200)
    expect((await check(theirs.token)).status).toBe(200)
  })

  const addWays = async (email: string) => {
    await accounts.rows(
      `insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name)
       select workspace_id, id, sha256(email::bytea), email, '', 0, '{}', 'Celular' from account where email = $1`,
      email,
    )
    await accounts.rows(
      `with made as (
         insert into api_key (workspace_id, name, scopes, start, token_hash, created_by, created_at)
         select workspace_id, name, '{documentos:ler}', start, sha256((email || name)::bytea), id, now() - days * interval '1 day'
           from (select a.workspace_id, a.id, a.email, k.* from account a,
                        (values ('ERP', 'vigia_aaaaaaaa', 31), ('Novo', 'vigia_bbbbbbbb', 29)) k (name, start, days)
                  where a.email = $1) a
         returning workspace_id, token_hash)
       insert into token_directory (token_hash, workspace_id, kept_until) select token_hash, workspace_id, 'infinity' from made`,
      email,
    )
  }
  const waysOf = async (email: string) => {
    const [found] = await accounts.rows(
      `select (select count(*)::int from passkey p where p.workspace_id = w.id and p.account_id = a.id) as passkeys,
              array(select name from api_key k where k.workspace_id = w.id and k.created_by = a.id and token_hash is not null) as keys
         from account a join workspace w on w.id = a.workspace_id where email = $1`,
      email,
    )
    const [{ listed } = { listed: 0 }] = await accounts.rows<{ listed: number }>(
      `select count(*)::int as listed from token_directory
        where workspace_id = any (array(select workspace_id from account where email = $1)) and kept_until = 'infinity'`,
      email,
    )
    return { ...found, listed }
  }
  const told = async (email: string) => (await accounts.letter('senha-alterada', email))!.paragraphs.join('\n')

  test('removes the passkeys and the API keys of the last thirty days, and tells of those and of what stays', async () => {
    const { email } = await accounts.enter()
    await accounts.rows('update account set email_proved_at = now() where email = $1', email)
    await addWays(email)
    await update((await newLink(email)).token)
    expect(await waysOf(email)).toEqual({ passkeys: 0, keys: ['ERP'], listed: 1 })
    const letter = await told(email)
    expect(letter).toContain('deixaram de valer: passkeys: “Celular” e chaves de API: “Novo” (vigia_bbbbbbbb…).')
    expect(letter).toContain('Continuam valendo: chaves de API: “ERP” (vigia_aaaaaaaa…).')
    expect((await accounts.auditEntries(email)).map(({ description }) => description)).toContain(
      'Senha trocada pelo link enviado por e-mail; todas as sessões foram encerradas; passkeys removidas: “Celular”; chaves de API apagadas: “Novo” (vigia_bbbbbbbb…).',
    )
  })

  const addSending = (email: string) =>
    accounts.rows(
      `with webhooks as (
         insert into webhook (workspace_id, url, kinds, secret, version, saved_by)
         select workspace_id, url, '{}', '', 0, saved_by from account a,
                lateral (values ('https://dele.example/x', id), ('https://de-outra-pessoa.example/x', id + 1)) w (url, saved_by) where email = $1)
       insert into answer_rule (workspace_id, position, name, active, answer, conditions, saved_by)
       select workspace_id, 0, r.name, true, answer, '{}', saved_by from account a,
              lateral (values ('Dele', 'ciencia', id), ('Pergunta', 'perguntar', id), ('De outra pessoa', 'ciencia', id + 1)) r (name, answer, saved_by)
        where email = $1`,
      email,
    )
  const sendingOf = async (email: string) => {
    const [found] = await accounts.rows(
      `select array(select url from webhook w where w.workspace_id = a.workspace_id and paused_at is null) as webhooks,
              array(select name from answer_rule r where r.workspace_id = a.workspace_id and active order by name) as rules
         from account a where email = $1`,
      email,
    )
    return found
  }

  test('pauses the webhooks and the rules that send, of this account alone, and names them', async () => {
    const { email } = await accounts.enter()
    await accounts.rows('update account set email_proved_at = now() where email = $1', email)
    await addSending(email)
    await update((await newLink(email)).token)
    expect(await sendingOf(email)).toEqual({
      webhooks: ['https://de-outra-pessoa.example/x'],
      rules: ['De outra pessoa', 'Pergunta'],
    })
    expect(await told(email)).toContain(
      'Ficaram em pausa, para você conferir: webhooks para dele.example e regras de resposta: “Dele”.',
    )
    expect((await accounts.auditEntries(email)).map(({ description }) => description)).toContain(
      'Senha trocada pelo link enviado por e-mail; todas as sessões foram encerradas; webhooks pausados: dele.example; regras de resposta desligadas: “Dele”.',
    )
  })

  test('leaves nothing to who signed up with the e-mail of somebody else, and repeats no word of theirs', async () => {
    const { email } = await accounts.enter()
    await addWays(email)
    await update((await newLink(email)).token)
    expect(await waysOf(email)).toEqual({ passkeys: 0, keys: [], listed: 0 })
    expect(await told(email)).not.toMatch(/Celular|ERP|Novo/)
  })

  test('is one thing, a change by who knows the password another: nothing goes, and the letter tells what there is', async () => {
    const person = await accounts.enter()
    await accounts.rows('update account set email_proved_at = now() where email = $1', person.email)
    await addWays(person.email)
    await addSending(person.email)
    const json = { senhaAtual: person.senha, senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
    expect((await accounts.call('PUT', '/v1/api/Usuarios/senha', { token: person.token, json })).status).toBe(200)
    expect(await waysOf(person.email)).toEqual({ passkeys: 1, keys: ['ERP', 'Novo'], listed: 2 })
    const letter = await told(person.email)
    expect(letter).toContain('Continuam valendo: passkeys: “Celular” e chaves de API: “ERP”')
    expect(letter).toContain('Continuam enviando: webhooks para dele.example e regras de resposta: “Dele”.')
  })

  test('tells unknown from expired from used', async () => {
    const { email } = await accounts.enter()
    const { token } = await newLink(email)
    for (const strange of ['x', 'x'.repeat(43), token.slice(1), `${token}x`, 'a%2Fb', '0'])
      expect(await check(strange)).toMatchObject({ status: 404, envelope: { message: expect.stringMatching(unknown) } })
    await accounts.rows('update mail_link set expires_at = now() where used_at is null')
    expect(await check(token)).toMatchObject({ status: 410, envelope: { message: expect.stringMatching(expired) } })
    expect(await update(token)).toMatchObject({ status: 410, envelope: { message: expect.stringMatching(expired) } })
    await accounts.rows('update mail_link set used_at = now()')
    expect(await check(token)).toMatchObject({ status: 410, envelope: { message: expect.stringMatching(used) } })
  })

  test('may be given whole, from wherever the site is reached', async () => {
    const { email } = await accounts.enter()
    const { token } = await newLink(email)
    for (const whole of [
      `/atualizar-senha/${token}#topo`,
      `http://localhost:3000/atualizar-senha/${token}/?a=1#b`,
      ` https://x.br/sub/atualizar-senha/${token}?utm_source=email\n`,
    ]) {
      expect((await update(whole)).status).toBe(200)
      await accounts.rows('update mail_link set used_at = null')
    }
    for (const strange of [`https://x.br/outra/${token}`, `${token}/${token}`, `x${token}`])
      expect((await update(strange)).status).toBe(404)
  })

  test.each(['one link', 'two links'])('raced by two calls with %s replaces the password once', async (which) => {
    for (let round = 0; round < 4; round++) {
      const person = await accounts.enter()
      const first = await newLink(person.email)
      const second = which === 'one link' ? first : await newLink(person.email)
      const answers = await Promise.all([update(first.url, 'senha-primeira'), update(second.token, 'senha-segunda')])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 410])
      const [won, lost] = answers[0]!.status === 200 ? ['primeira', 'segunda'] : ['segunda', 'primeira']
      expect((await accounts.logIn({ ...person, senha: `senha-${won}` })).status).toBe(200)
      expect((await accounts.logIn({ ...person, senha: `senha-${lost}` })).status).toBe(401)
      const mails = `select 1 from mail where kind = 'senha-alterada' and recipient = $1`
      expect(await accounts.rows(mails, person.email)).toHaveLength(1)
    }
  })

  test('opens the way for an owner whom the guesses of others keep out', async () => {
    const person = await accounts.enter()
    for (let i = 0; i < 10; i++) await accounts.logIn({ ...person, senha: 'um-palpite-errado' })
    expect((await accounts.logIn(person)).status).toBe(429)
    await update((await newLink(person.email)).token)
    expect((await accounts.logIn({ ...person, senha: 'senha-escolhida' })).status).toBe(200)
  })
})
