import { Secret, TOTP, URI } from 'otpauth'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createVault } from '../platform/vault.ts'
import { dropSecondFactorOf } from './accounts.ts'
import { newPerson, openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())
beforeEach(() => accounts.rows('truncate mail'))

const path = '/v1/api/Usuarios/duas-etapas'
const prove = (token: string, json: object) => accounts.call('POST', '/v1/api/Auth/confirmar', { token, json })
// Steps of the program's clock: a code is taken once only, and each of these is another.
const codeOf = (secret: string, step = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + step * 30_000 })
const forgetProofs = () => accounts.rows(`update session set proved_at = now() - interval '11 minutes'`)
const forgetSteps = () => accounts.rows('update second_factor set last_step = 0')

/** A person whose account asks for a code: what their program and their drawer have. */
async function protectedPerson() {
  const ana = await accounts.enter()
  const begun = await accounts.call('POST', path, { token: ana.token })
  const { segredo } = begun.envelope.data as { segredo: string }
  const confirmed = await accounts.call('PUT', path, { token: ana.token, json: { codigo: codeOf(segredo) } })
  const { codigos } = confirmed.envelope.data as { codigos: string[] }
  await forgetSteps()
  return { ...ana, segredo, codigos }
}

describe('switching it on', () => {
  test('takes a code of the secret that was shown, in the name of the product and the account', async () => {
    const ana = await accounts.enter()
    const { envelope } = await accounts.call('POST', path, { token: ana.token })
    const { segredo, endereco } = envelope.data
    const read = URI.parse(endereco) as TOTP
    expect([read.issuer, read.label, read.secret.base32]).toEqual(['Vigia Fiscal', ana.email, segredo])
    expect((await accounts.logIn(ana)).status).toBe(200)
    const wrong = await accounts.call('PUT', path, { token: ana.token, json: { codigo: codeOf(segredo, 40) } })
    expect([wrong.status, wrong.envelope.message]).toEqual([400, expect.stringMatching(/^O código não confere/)])
    const right = await accounts.call('PUT', path, { token: ana.token, json: { codigo: codeOf(segredo) } })
    expect(right.envelope.data.codigos).toHaveLength(10)
    expect(new Set(right.envelope.data.codigos).size).toBe(10)
    const { envelope: account } = await accounts.call('GET', '/v1/api/Usuarios/conta', { token: ana.token })
    expect(account.data.duasEtapas).toEqual({ desde: expect.stringMatching(/Z$/), codigosRestantes: 10 })
    expect((await accounts.call('POST', path, { token: ana.token })).status).toBe(409)
    expect((await accounts.letter('duas-etapas', ana.email))?.subject).toMatch(
      /^A verificação em duas etapas foi ligada/,
    )
  })

  test('keeps neither the secret nor the codes in plain', async () => {
    const { segredo, codigos } = await protectedPerson()
    const kept = JSON.stringify(
      await accounts.rows(
        `select encode(secret, 'escape') as text from second_factor union all select encode(code_hash, 'escape') from recovery_code`,
      ),
    )
    for (const secret of [segredo, ...codigos, ...codigos.map((code) => code.replaceAll('-', ''))])
      expect(kept).not.toContain(secret)
  })
})

describe('the login', () => {
  test('asks who knows the password for a code, and takes each code once', async () => {
    const ana = await protectedPerson()
    const alone = await accounts.logIn(ana)
    expect([alone.status, alone.envelope.message, alone.envelope.data]).toEqual([
      403,
      'Digite o código do aplicativo autenticador, ou um código de recuperação.',
      null,
    ])
    const codigo = codeOf(ana.segredo)
    expect((await accounts.logIn({ ...ana, codigo: ` ${codigo.slice(0, 3)} ${codigo.slice(3)} ` })).status).toBe(200)
    expect((await accounts.logIn({ ...ana, codigo })).status).toBe(401)
    expect((await accounts.logIn({ ...ana, codigo: codeOf(ana.segredo, 1) })).status).toBe(200)
    // A wrong password reveals nothing about the second factor.
    const stranger = await accounts.logIn({ ...ana, senha: 'outra-senha-qualquer', codigo })
    expect([stranger.status, stranger.envelope.message]).toEqual([401, 'Credenciais inválidas.'])
  })

  test('takes the same code once, however many send it at the same moment', async () => {
    const ana = await protectedPerson()
    const codigo = codeOf(ana.segredo)
    const all = await Promise.all([1, 2, 3, 4].map(() => accounts.logIn({ ...ana, codigo })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('takes a code that was written down instead, once, as it is typed, and says so in a letter', async () => {
    const ana = await protectedPerson()
    const typed = ana.codigos[3]!.toLowerCase().replaceAll('-', ' ').replaceAll('o', '0').replaceAll('b', '8')
    expect((await accounts.logIn({ ...ana, codigo: typed })).status).toBe(200)
    expect((await accounts.logIn({ ...ana, codigo: typed })).status).toBe(401)
    expect((await accounts.letter('duas-etapas', ana.email))?.subject).toMatch(/^Um código de recuperação foi usado/)
    expect((await accounts.auditEntries(ana.email)).map(({ description }) => description)).toContain(
      'Usou um código de recuperação da verificação em duas etapas.',
    )
  })

  test('ten wrong codes are enough, whatever is done with the password meanwhile', async () => {
    const ana = await protectedPerson()
    const wrong = codeOf(ana.segredo, 40)
    for (let tries = 0; tries < 5; tries++) {
      expect((await accounts.logIn({ ...ana, codigo: wrong })).status).toBe(401)
      expect((await prove(ana.token, { codigo: wrong })).status).toBe(200)
    }
    const own = { email: ana.email, senhaAtual: ana.senha }
    await accounts.call('POST', '/v1/api/Usuarios/trocar-email', { token: ana.token, json: own })
    await accounts.rows(`delete from throttle where count < 10`)
    expect((await accounts.logIn({ ...ana, codigo: codeOf(ana.segredo) })).status).toBe(429)
    expect((await prove(ana.token, { codigo: codeOf(ana.segredo) })).status).toBe(429)
  })

  test('after a lost key of the installation the codes that were written down still open it', async () => {
    const ana = await protectedPerson()
    const { vault } = accounts.ctx
    accounts.ctx.vault = createVault(new Uint8Array(32))
    try {
      const refused = await accounts.logIn({ ...ana, codigo: codeOf(ana.segredo) })
      expect([refused.status, refused.envelope.message]).toEqual([
        503,
        expect.stringMatching(/use um código de recuperação/),
      ])
      expect((await accounts.logIn({ ...ana, codigo: ana.codigos[0]! })).status).toBe(200)
    } finally {
      accounts.ctx.vault = vault
    }
  })
})

describe('a proof in a session', () => {
  test('is the password, and counts for ten minutes and that session', async () => {
    const ana = await accounts.enter()
    const other = (await accounts.logIn(ana)).envelope.data.token as string
    await forgetProofs()
    expect((await prove(ana.token, { senha: 'errada' })).status).toBe(400)
    expect((await accounts.call('POST', path, { token: ana.token })).status).toBe(403)
    expect((await prove(ana.token, { senha: ana.senha })).status).toBe(200)
    expect((await accounts.call('POST', path, { token: ana.token })).status).toBe(200)
    expect((await accounts.call('POST', path, { token: other })).status).toBe(403)
  })

  test('is a code where there is a second factor: the password alone is not enough', async () => {
    const ana = await protectedPerson()
    await forgetProofs()
    expect((await prove(ana.token, { senha: ana.senha })).status).toBe(400)
    expect((await prove(ana.token, { senha: ana.senha, codigo: codeOf(ana.segredo, 40) })).status).toBe(400)
    expect((await prove(ana.token, { codigo: codeOf(ana.segredo) })).status).toBe(200)
  })
})

test('whoever knows the password of an account with a second factor changes neither it nor the e-mail without a code', async () => {
  const ana = await protectedPerson()
  await forgetProofs()
  // One after the other: the second changes the password that the first shows.
  const calls = async () => [
    await accounts.call('POST', '/v1/api/Usuarios/trocar-email', {
      token: ana.token,
      json: { email: newPerson().email, senhaAtual: ana.senha },
    }),
    await accounts.call('PUT', '/v1/api/Usuarios/senha', {
      token: ana.token,
      json: { senhaAtual: ana.senha, senha: 'outro-segredo', senhaNovamente: 'outro-segredo' },
    }),
  ]
  expect((await calls()).map(({ status }) => status)).toEqual([403, 403])
  await prove(ana.token, { codigo: codeOf(ana.segredo) })
  expect((await calls()).map(({ status }) => status)).toEqual([200, 200])
})

test('a link of a letter takes it off while nobody had confirmed the e-mail, and leaves it afterwards', async () => {
  for (const [proved, status] of [
    [false, 200],
    [true, 403],
  ] as const) {
    const ana = await protectedPerson()
    await accounts.rows(`update account set email_proved_at = ${proved ? 'now()' : 'null'} where email = $1`, ana.email)
    await accounts.call('POST', '/v1/api/RecuperarSenha', { json: { email: ana.email } })
    const link = (await accounts.letter('recuperar-senha', ana.email))!.button!.url
    const json = { urlAcesso: link, senha: 'outro-segredo', senhaNovamente: 'outro-segredo' }
    expect((await accounts.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', { json })).status).toBe(200)
    expect((await accounts.logIn({ ...ana, senha: 'outro-segredo' })).status).toBe(status)
  }
})

test('of other sessions it ends what the password had proved', async () => {
  const ana = await accounts.enter()
  const other = (await accounts.logIn(ana)).envelope.data.token as string
  const { segredo } = (await accounts.call('POST', path, { token: ana.token })).envelope.data
  await accounts.call('PUT', path, { token: ana.token, json: { codigo: codeOf(segredo) } })
  expect((await accounts.call('POST', `${path}/desligar`, { token: other })).status).toBe(403)
})

test('new codes take the place of the old ones', async () => {
  const ana = await protectedPerson()
  const { envelope } = await accounts.call('POST', `${path}/codigos`, { token: ana.token })
  expect(envelope.data.codigos).toHaveLength(10)
  expect((await accounts.logIn({ ...ana, codigo: ana.codigos[0]! })).status).toBe(401)
  expect((await accounts.logIn({ ...ana, codigo: envelope.data.codigos[0] })).status).toBe(200)
})

test('switched off by its person or by who runs the installation, the password is enough again', async () => {
  const [ana, bia] = [await protectedPerson(), await protectedPerson()]
  expect((await accounts.call('POST', `${path}/desligar`, { token: ana.token })).status).toBe(200)
  expect((await accounts.call('POST', `${path}/desligar`, { token: ana.token })).status).toBe(409)
  expect((await accounts.logIn(ana)).status).toBe(200)
  expect(await dropSecondFactorOf(accounts.ctx, bia.email.toUpperCase())).toBe(true)
  expect(await dropSecondFactorOf(accounts.ctx, bia.email)).toBe(false)
  expect(await dropSecondFactorOf(accounts.ctx, newPerson().email)).toBeNull()
  expect((await accounts.logIn(bia)).status).toBe(200)
  expect((await accounts.letter('duas-etapas', bia.email))?.footnote).toBe(
    'Isso foi feito por quem administra o sistema.',
  )
})
