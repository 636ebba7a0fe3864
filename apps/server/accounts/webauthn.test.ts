import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../tests/support/authenticator.ts'
import { onOneServer } from '../../../tests/support/database.ts'
import { shareAccount } from './accounts.ts'
import { type Accounts, openAccounts } from './testing.ts'
import { hasPasskeys } from './webauthn.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())
beforeEach(() => accounts.rows('truncate mail'))

const origin = 'https://vigia.exemplo.com.br'
const path = '/v1/api/Usuarios/passkeys'
type Authenticator = ReturnType<typeof createAuthenticator>

async function begin(token: string) {
  const { envelope } = await accounts.call('POST', `${path}/desafio`, { token })
  return envelope.data as { challenge: string; rp: { id: string }; excludeCredentials: { id: string }[] }
}
const add = (token: string, resposta: object, nome = 'Celular da Ana') =>
  accounts.call('POST', path, { token, json: { nome, resposta } })
const challenge = async () => {
  const { envelope } = await accounts.call('POST', '/v1/api/Auth/desafio')
  return envelope.data as { challenge: string; rpId: string; userVerification: string }
}
const enterWith = (resposta: object, address?: string) =>
  accounts.call('POST', '/v1/api/Auth/passkey', { json: { resposta }, ...(address && { address }) })

/** A person whose account has a passkey. */
async function personWithPasskey(): Promise<{ ana: Awaited<ReturnType<Accounts['enter']>>; device: Authenticator }> {
  const ana = await accounts.enter()
  const device = createAuthenticator({ origin })
  expect((await add(ana.token, device.register(await begin(ana.token)))).status).toBe(200)
  return { ana, device }
}
const passkeysOf = async (token: string) => {
  const { envelope } = await accounts.call('GET', '/v1/api/Usuarios/conta', { token })
  return envelope.data.passkeys as { idPasskey: string; nome: string; usadaEm: string | null }[]
}

describe('a passkey', () => {
  test('opens a session alone, is told of in letter and audit, and no more when it was removed', async () => {
    const { ana, device } = await personWithPasskey()
    expect((await accounts.letter('duas-etapas', ana.email))?.subject).toMatch(/^Uma passkey foi cadastrada/)
    const asked = await challenge()
    expect(asked).toMatchObject({ rpId: 'vigia.exemplo.com.br', userVerification: 'required' })
    const entered = await enterWith(device.sign(asked))
    expect([entered.status, entered.envelope.data.email]).toEqual([200, ana.email])
    const token = entered.envelope.data.token as string
    const [kept] = await passkeysOf(token)
    expect(kept).toMatchObject({ nome: 'Celular da Ana', usadaEm: expect.stringMatching(/Z$/) })
    expect((await accounts.auditEntries(ana.email)).map(({ description }) => description)).toEqual(
      expect.arrayContaining(['Cadastrou a passkey “Celular da Ana”.', 'Entrou com uma passkey.']),
    )
    const remove = () => accounts.call('POST', `${path}/remover`, { token, json: { idPasskey: kept!.idPasskey } })
    expect([(await remove()).status, (await remove()).status]).toEqual([200, 404])
    const refused = await enterWith(device.sign(await challenge()))
    expect([refused.status, refused.envelope.message]).toEqual([401, expect.stringMatching(/não abre nenhuma conta/)])
    // The same device may make one again.
    expect((await begin(token)).excludeCredentials).toEqual([])
  })

  // It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
  onOneServer('that is removed while somebody enters with it opens nothing', async () => {
    const { ana, device } = await personWithPasskey()
    const signed = device.sign(await challenge())
    await accounts.rows('begin')
    await accounts.rows('delete from passkey where account_id = (select id from account where email = $1)', ana.email)
    const entering = enterWith(signed)
    // It has found the passkey, and waits to note its use.
    const waiting = () => accounts.rows('select from pg_locks where not granted')
    await expect.poll(async () => (await waiting()).length).toBe(1)
    await accounts.rows('commit')
    expect((await entering).status).toBe(401)
  })

  test('is not made for the account of another person with a challenge of one’s own', async () => {
    const [ana, bia] = [await accounts.enter(), await accounts.enter()]
    const answer = createAuthenticator({ origin }).register(await begin(bia.token))
    expect(await add(ana.token, answer)).toMatchObject({
      status: 400,
      envelope: { message: expect.stringMatching(/expirou ou já foi usado/) },
    })
    expect((await add(bia.token, answer)).status).toBe(200)
  })

  test('proves who uses a session, of its own account only', async () => {
    const { ana, device } = await personWithPasskey()
    const { device: other } = await personWithPasskey()
    const prove = async (by: Authenticator) =>
      accounts.call('POST', '/v1/api/Auth/confirmar', {
        token: ana.token,
        json: { passkey: by.sign(await challenge()) },
      })
    await accounts.rows(`update session set proved_at = now() - interval '11 minutes'`)
    const asks = () => accounts.call('POST', `${path}/desafio`, { token: ana.token })
    expect((await asks()).status).toBe(403)
    expect((await prove(other)).status).toBe(400)
    expect((await prove(createAuthenticator({ origin }))).status).toBe(400)
    expect((await asks()).status).toBe(403)
    expect((await prove(device)).status).toBe(200)
    expect((await asks()).status).toBe(200)
  })

  test('is worth as much as the code of a second factor', async () => {
    const { ana, device } = await personWithPasskey()
    await accounts.rows(
      `insert into second_factor (workspace_id, account_id, secret, confirmed_at) select workspace_id, id, '', now() from account where email = $1`,
      ana.email,
    )
    expect((await accounts.logIn(ana)).status).toBe(403)
    expect((await enterWith(device.sign(await challenge()))).status).toBe(200)
  })

  test('is asked for by nobody where many know the password, and goes when an account becomes such a one', async () => {
    const { ana, device } = await personWithPasskey()
    await shareAccount(accounts.ctx, ana.email)
    expect((await enterWith(device.sign(await challenge()))).status).toBe(401)
    expect((await accounts.call('POST', `${path}/desafio`, { token: ana.token })).status).toBe(409)
  })
})

describe('is refused:', () => {
  test('what was signed before, at another time, for another site or by somebody who did not unlock it', async () => {
    const { device } = await personWithPasskey()
    const signed = device.sign(await challenge())
    const both = await Promise.all([enterWith(signed), enterWith(signed)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    const foreign = { challenge: Buffer.alloc(40).toString('base64url') }
    expect((await enterWith(device.sign(foreign))).status).toBe(401)
    device.state.origin = 'https://vigia.exemplo.com.br.mal.example'
    expect((await enterWith(device.sign(await challenge()))).status).toBe(401)
    Object.assign(device.state, { origin, verified: false })
    expect((await enterWith(device.sign(await challenge()))).status).toBe(401)
    device.state.verified = true
    expect((await enterWith(device.sign(await challenge()))).status).toBe(200)
  })

  test('a signature of another key, and one over other bytes', async () => {
    const { device } = await personWithPasskey()
    const stranger = createAuthenticator({ origin }).sign(await challenge())
    const stolen = { ...stranger, id: device.credentialId, rawId: device.credentialId }
    expect((await enterWith(stolen)).status).toBe(401)
    const signed = device.sign(await challenge())
    const bent = Buffer.from(signed.response.authenticatorData, 'base64url')
    bent[36]! += 1
    expect(
      (await enterWith({ ...signed, response: { ...signed.response, authenticatorData: bent.toString('base64url') } }))
        .status,
    ).toBe(401)
  })

  test('a challenge of the login for a new passkey, and a passkey that bears the name of another', async () => {
    const { device } = await personWithPasskey()
    const eva = await accounts.enter()
    const own = createAuthenticator({ origin })
    const wrong = await add(eva.token, own.register(await challenge()))
    expect([wrong.status, wrong.envelope.message]).toEqual([400, expect.stringMatching(/expirou ou já foi usado/)])
    expect((await add(eva.token, device.register(await begin(eva.token)))).status).toBe(400)
    expect(await passkeysOf(eva.token)).toEqual([])
    // The owner still enters.
    expect((await enterWith(device.sign(await challenge()))).status).toBe(200)
  })

  test('what a maker of devices says of one, which nobody asked for', async () => {
    const eva = await accounts.enter()
    const device = createAuthenticator({ origin })
    device.state.attestation = 'android-key'
    const refused = await add(eva.token, device.register(await begin(eva.token)))
    expect([refused.status, refused.envelope.message]).toEqual([
      400,
      expect.stringMatching(/^Não conseguimos conferir/),
    ])
  })

  test('a new one without a recent proof, and the twenty-first', async () => {
    const { ana } = await personWithPasskey()
    await accounts.rows(
      `insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name)
       select workspace_id, account_id, sha256(i::text::bytea), i, '', 0, '{}', i from passkey p, generate_series(2, 20) i
        where p.account_id = (select id from account where email = $1)`,
      ana.email,
    )
    const full = await accounts.call('POST', `${path}/desafio`, { token: ana.token })
    expect([full.status, full.envelope.message]).toEqual([409, expect.stringMatching(/já tem 20/)])
    await accounts.rows(`update session set proved_at = now() - interval '11 minutes'`)
    expect((await add(ana.token, createAuthenticator({ origin }).register({ challenge: 'eA' }))).status).toBe(403)
  })

  test('too many of a network', async () => {
    const address = '203.0.113.77'
    const stranger = createAuthenticator({ origin })
    const statuses: number[] = []
    for (let tries = 0; tries < 51; tries++)
      statuses.push((await enterWith(stranger.sign({ challenge: 'eA' }), address)).status)
    expect(new Set(statuses.slice(0, 50))).toEqual(new Set([401]))
    expect(statuses[50]).toBe(429)
  })
})

test.each([
  ['https://vigia.exemplo.com.br', true],
  ['http://localhost:3000', true],
  ['http://vigia.exemplo.com.br', false],
  ['https://10.0.0.5', false],
  ['https://[::1]:3000', false],
])('at %s: %s', (publicUrl, offered) => {
  expect(hasPasskeys({ config: { ...accounts.ctx.config, publicUrl } })).toBe(offered)
})
