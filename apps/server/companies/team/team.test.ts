import { PassThrough } from 'node:stream'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAuthenticator } from '../../../../tests/support/authenticator.ts'
import { removeAccounts } from '../../accounts/accounts.ts'
import { endWithHolder, requireHolder } from '../../accounts/link-holder.ts'
import { sessionChannel } from '../../accounts/session-ends.ts'
import { findSession } from '../../accounts/sessions.ts'
import { newPerson, openAccounts, type TestPerson } from '../../accounts/testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertCompany } from '../../platform/testing.ts'
import { findPublicIds } from '../chosen-companies.ts'
import { teamMails } from './mails.ts'
import { teamRoutes } from './routes.ts'
import { changeMember } from './team.ts'

const accounts = await openAccounts({ findPublicIds, routes: teamRoutes, mails: teamMails })
afterAll(() => accounts[Symbol.asyncDispose]())
beforeEach(() => accounts.rows('truncate mail, throttle'))

type Entered = TestPerson & { token: string }

const post = (path: string, token: string | undefined, json: object = {}) =>
  accounts.call('POST', path, { json, ...(token && { token }) })
const team = async (token: string) => (await accounts.call('GET', '/v1/api/Equipe', { token })).envelope.data
const conta = async (token: string) => (await accounts.call('GET', '/v1/api/Usuarios/conta', { token })).envelope.data
const workspaces = async (token: string) =>
  (await accounts.call('GET', '/v1/api/Auth/workspaces', { token })).envelope.data as {
    wsId: string
    nome: string
    papel: string
    atual: boolean
  }[]
const invite = (token: string, email: string, rights: object = { papel: 'leitura' }) =>
  post('/v1/api/Equipe/convites', token, { email, ...rights })
const linkTo = async (email: string) => (await accounts.letter('convite', email))!.button!.url.split('/').at(-1)!
const accept = async (person: TestPerson, link?: string) => {
  const { nome, senha } = person
  return post('/v1/api/Convites/aceitar', undefined, {
    convite: link ?? (await linkTo(person.email)),
    nome,
    senha,
    senhaNovamente: senha,
  })
}
const join = async (person: Entered, link?: string) =>
  post('/v1/api/Convites/entrar', person.token, { convite: link ?? (await linkTo(person.email)) })
const enterAgain = async (person: TestPerson, codigo?: string) =>
  accounts.logIn({ email: person.email, senha: person.senha, ...(codigo && { codigo }) })
const workspaceOf = async (email: string) =>
  (await accounts.rows<{ id: number }>('select workspace_id as id from account where email = $1 order by 1', email))[0]!
    .id
const sentences = async (email: string) => (await accounts.auditEntries(email)).map(({ description }) => description)

/** An administrator, and a person who has joined their workspace from one of their own. */
async function two(rights?: object) {
  const ana = await accounts.enter()
  const bia = await accounts.enter(newPerson({ nome: 'Bia Lima' }))
  expect((await invite(ana.token, bia.email, rights)).status).toBe(200)
  const joined = await join(bia)
  expect(joined.status, joined.envelope.message).toBe(200)
  return { ana, bia: { ...bia, token: joined.envelope.data.token as string } }
}
const idOf = async (token: string, email: string) =>
  ((await team(token)).pessoas as { idPessoa: string; email: string }[]).find((one) => one.email === email)!.idPessoa

describe('an invitation', () => {
  test('lets somebody without an account in, once, with what it gives', async () => {
    const ana = await accounts.enter()
    const bia = newPerson({ nome: 'Bia Lima' })
    const sent = await invite(ana.token, bia.email.toUpperCase(), { papel: 'fiscal' })
    expect(sent.envelope.message).toBe(`Convite enviado a ${bia.email.toUpperCase()}. O link vale por sete dias.`)
    const letter = (await accounts.letter('convite', bia.email))!
    expect(letter.subject).toBe('Você foi convidado a entrar em um workspace no Vigia Fiscal')
    // Names typed by others reach no mailbox.
    expect(JSON.stringify(letter)).not.toContain(ana.nome)
    const link = await linkTo(bia.email)
    const shown = await accounts.call('GET', `/v1/api/Convites/${link}`)
    expect(shown.envelope.data).toMatchObject({
      email: bia.email,
      papel: 'fiscal',
      convidadoPor: ana.nome,
      temConta: false,
    })
    expect((await accept(bia, link)).status).toBe(200)
    expect((await accept(bia, link)).status).toBe(404)
    const entered = await enterAgain(bia)
    const token = entered.envelope.data.token as string
    expect(await conta(token)).toMatchObject({
      papel: 'fiscal',
      emailConfirmado: true,
      idsEmpresas: null,
      outrosWorkspaces: false,
    })
    expect((await accounts.call('GET', '/v1/api/Equipe', { token })).status).toBe(403)
    const { pessoas, convites } = await team(ana.token)
    expect(pessoas).toMatchObject([
      { email: ana.email, papel: 'administrador', voce: true },
      { email: bia.email, nome: 'Bia Lima', papel: 'fiscal', voce: false },
    ])
    expect(convites).toEqual([])
    expect(await sentences(ana.email)).toEqual(
      expect.arrayContaining([
        `Convidou ${bia.email}: fiscal, todas as empresas.`,
        `Aceitou o convite enviado a ${bia.email}: fiscal, todas as empresas.`,
      ]),
    )
  })

  test('of somebody with an account takes a session of it, of no other, and the next login leads there', async () => {
    const ana = await accounts.enter()
    const bia = await accounts.enter(newPerson({ nome: 'Bia Lima' }))
    const other = await accounts.enter()
    await invite(ana.token, bia.email)
    const link = await linkTo(bia.email)
    expect((await accounts.call('GET', `/v1/api/Convites/${link}`)).envelope.data.temConta).toBe(true)
    expect((await accept(bia, link)).envelope.message).toMatch(/^Este e-mail já tem uma conta/)
    expect((await join(other, link)).envelope.message).toContain(`Este convite é para ${bia.email}`)
    const { status, envelope } = await join(bia, link)
    expect(status).toBe(200)
    // The session went on elsewhere.
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: bia.token })).status).toBe(401)
    const { token, wsId } = envelope.data
    expect(await conta(token)).toMatchObject({ workspace: ana.nome, papel: 'leitura', outrosWorkspaces: true })
    const entered = (await enterAgain(bia)).envelope.data
    expect(entered.wsId).toBe(wsId)
    const list = await workspaces(entered.token)
    expect(list.map(({ nome, papel, atual }) => [nome, papel, atual])).toEqual([
      [ana.nome, 'leitura', true],
      ['Bia Lima', 'administrador', false],
    ])
    const back = await post('/v1/api/Auth/workspace', entered.token, { wsId: list[1]!.wsId })
    expect(await conta(back.envelope.data.token)).toMatchObject({ workspace: 'Bia Lima', papel: 'administrador' })
    expect((await enterAgain(bia)).envelope.data.wsId).toBe(list[1]!.wsId)
    expect((await post('/v1/api/Auth/workspace', other.token, { wsId })).status).toBe(404)
  })

  test('ends when it is withdrawn, sent again, or a week old, and says so', async () => {
    const ana = await accounts.enter()
    const { email } = newPerson()
    const { idConvite } = (await invite(ana.token, email)).envelope.data
    const first = await linkTo(email)
    expect((await invite(ana.token, email)).status).toBe(409)
    expect((await invite(ana.token, ana.email)).status).toBe(409)
    await post('/v1/api/Equipe/convites/reenviar', ana.token, { idConvite })
    const look = async (link: string) => (await accounts.call('GET', `/v1/api/Convites/${link}`)).status
    const second = await linkTo(email)
    expect([await look(first), await look(second)]).toEqual([404, 200])
    // Each attempt to send the last letter brings the same link, and the letters before bring none.
    expect(
      await Promise.all((await accounts.attempts('convite', email)).map(async (write) => (await write()) !== null)),
    ).toEqual([false, true])
    await accounts.rows('update invitation set expires_at = now()')
    expect(await look(second)).toBe(410)
    expect((await team(ana.token)).convites).toMatchObject([{ email, vencido: true }])
    await post('/v1/api/Equipe/convites/cancelar', ana.token, { idConvite })
    expect([await look(second), (await team(ana.token)).convites]).toEqual([404, []])
  })

  test('that two accept at once lets one in', async () => {
    const ana = await accounts.enter()
    const bia = newPerson({ nome: 'Bia Lima' })
    await invite(ana.token, bia.email)
    const link = await linkTo(bia.email)
    const answers = await Promise.all([accept(bia, link), accept(bia, link)])
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
    expect((await team(ana.token)).pessoas).toHaveLength(2)
  })
})

describe('what a person may', () => {
  test('changes from the next call on, and open pages are told to ask anew', async () => {
    const { ana, bia } = await two()
    const heard: string[] = []
    accounts.owner.on('notification', ({ payload }) => heard.push(payload ?? ''))
    await accounts.rows(`listen ${sessionChannel}`)
    const idPessoa = await idOf(ana.token, bia.email)
    const company = await insertCompany(accounts.ctx.db, await workspaceOf(ana.email), { cnpj: '11222333000181' })
    const change = (rights: object) =>
      accounts.call('PUT', '/v1/api/Equipe/pessoas', { token: ana.token, json: { idPessoa, ...rights } })
    const chosen = { papel: 'auditor', idsEmpresas: [company.publicId], acessoAte: '2099-12-31' }
    expect((await change(chosen)).status).toBe(200)
    expect(await conta(bia.token)).toMatchObject({ papel: 'auditor', idsEmpresas: [company.publicId] })
    await expect.poll(() => heard.length).toBe(1)
    expect((await sentences(ana.email)).at(-1)).toBe(
      `Mudou o que Bia Lima (${bia.email}) pode: auditor, 1 empresa, até 31/12/2099.`,
    )
    expect((await change({ papel: 'auditor', idsEmpresas: [company.publicId] })).status).toBe(400)
    expect((await change({ papel: 'administrador', acessoAte: '2099-12-31' })).status).toBe(400)
    expect((await change({ ...chosen, acessoAte: '2020-01-01' })).envelope.message).toMatch(
      /^O último dia do acesso já passou/,
    )
    expect((await change({ ...chosen, idsEmpresas: [crypto.randomUUID()] })).status).toBe(404)
    await change({ papel: 'administrador' })
    expect((await team(bia.token)).pessoas).toHaveLength(2)
  })

  test('ends with its last day: nothing works there but what is their own, and the other workspaces go on', async () => {
    const { bia } = await two()
    await accounts.rows(
      `update account set role = 'auditor', access_until = now() where email = $1 and home_account_id is not null`,
      bia.email,
    )
    const refused = await accounts.call('GET', '/v1/api/Equipe', { token: bia.token })
    expect([refused.status, refused.envelope.message]).toEqual([
      403,
      expect.stringMatching(/^O seu acesso .* terminou/),
    ])
    expect(await conta(bia.token)).toMatchObject({ acessoEncerrado: true })
    const { token } = (await enterAgain(bia)).envelope.data
    expect(await conta(token)).toMatchObject({ workspace: 'Bia Lima', acessoEncerrado: false })
    const ended = (await workspaces(token)).find(({ atual }) => !atual)!
    expect((await post('/v1/api/Auth/workspace', token, { wsId: ended.wsId })).status).toBe(409)
  })

  test('that has ended everywhere still lets the person in, to leave or to accept another invitation', async () => {
    const ana = await accounts.enter()
    const bia = newPerson({ nome: 'Bia Lima' })
    await invite(ana.token, bia.email)
    await accept(bia)
    await accounts.rows(`update account set access_until = now() where email = $1`, bia.email)
    const { token } = (await enterAgain(bia)).envelope.data
    expect(await conta(token)).toMatchObject({ acessoEncerrado: true })
    const caio = await accounts.enter()
    await invite(caio.token, bia.email)
    const joined = await join({ ...bia, token })
    expect(await conta(joined.envelope.data.token)).toMatchObject({ acessoEncerrado: false, workspace: caio.nome })
  })

  test('leaves an administrator in the workspace, whoever goes or becomes less', async () => {
    const { ana, bia } = await two()
    const idOfAna = await idOf(ana.token, ana.email)
    const lower = () =>
      accounts.call('PUT', '/v1/api/Equipe/pessoas', {
        token: ana.token,
        json: { idPessoa: idOfAna, papel: 'leitura' },
      })
    const leave = () => post('/v1/api/Equipe/sair', ana.token)
    expect([(await lower()).status, (await leave()).status]).toEqual([409, 409])
    await accounts.call('PUT', '/v1/api/Equipe/pessoas', {
      token: ana.token,
      json: { idPessoa: await idOf(ana.token, bia.email), papel: 'administrador' },
    })
    expect((await lower()).status).toBe(200)
    expect((await leave()).status).toBe(200)
    expect((await team(bia.token)).pessoas).toMatchObject([{ email: bia.email }])
  })

  test('is their own account alone where the workspace asks for a second factor that they lack', async () => {
    const { ana, bia } = await two({ papel: 'administrador' })
    const put = (token: string, exigeSegundoFator: boolean) =>
      accounts.call('PUT', '/v1/api/Equipe', { token, json: { nome: 'Escritório', exigeSegundoFator } })
    const refusal = /^Antes de exigir o segundo fator de todos/
    expect((await put(ana.token, true)).envelope.message).toMatch(refusal)
    // A passkey that this session was not entered with would shut her out.
    await accounts.rows(
      `insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name)
       select workspace_id, id, sha256(email::bytea), email, '', 0, '{}', 'Celular' from account where email = $1`,
      ana.email,
    )
    expect((await put(ana.token, true)).envelope.message).toMatch(refusal)
    await accounts.rows('delete from passkey')
    await switchOn(ana.token)
    expect((await put(ana.token, true)).status).toBe(200)
    expect((await team(ana.token)).nome).toBe('Escritório')
    const refused = await accounts.call('GET', '/v1/api/Equipe', { token: bia.token })
    expect([refused.status, refused.envelope.message]).toEqual([
      403,
      expect.stringMatching(/^Este workspace pede verificação/),
    ])
    expect(await conta(bia.token)).toMatchObject({ faltaSegundoFator: true })
    // A passkey counts where it was shown.
    const device = createAuthenticator({ origin: 'https://vigia.exemplo.com.br' })
    const asked = (await post('/v1/api/Usuarios/passkeys/desafio', bia.token)).envelope.data
    await post('/v1/api/Usuarios/passkeys', bia.token, { nome: 'Celular', resposta: device.register(asked) })
    const byPassword = (await enterAgain(bia)).envelope.data.token as string
    const reads = async (token: string) => (await accounts.call('GET', '/v1/api/Equipe', { token })).status
    expect([await reads(bia.token), await reads(byPassword)]).toEqual([200, 403])
    // The password alone does not suffice to make another one.
    const ways = ['/v1/api/Usuarios/duas-etapas', '/v1/api/Usuarios/passkeys/desafio']
    const statuses = await Promise.all(ways.map(async (path) => (await post(path, byPassword)).status))
    expect([...statuses, await reads(byPassword)]).toEqual([409, 409, 403])
  })

  test('counts a session that was opened by the password alone as one without a factor, whatever is switched on elsewhere', async () => {
    const { ana, bia } = await two({ papel: 'administrador' })
    const secret = await switchOn(bia.token)
    const reads = async (token: string) => (await accounts.call('GET', '/v1/api/Equipe', { token })).status
    await accounts.call('PUT', '/v1/api/Equipe', {
      token: bia.token,
      json: { nome: 'Escritório', exigeSegundoFator: true },
    })
    const byPassword = (await enterAgain(ana)).envelope.data.token as string
    const own = await switchOn(ana.token)
    expect([await reads(bia.token), await reads(ana.token), await reads(byPassword)]).toEqual([200, 200, 403])
    // A code shown now counts, and one at the login.
    expect((await post('/v1/api/Auth/confirmar', byPassword, { codigo: codeOf(own) })).status).toBe(200)
    const byCode = (await enterAgain(bia, codeOf(secret))).envelope.data.token as string
    expect([await reads(byPassword), await reads(byCode)]).toEqual([200, 200])
    // Removing the factor removes its proof.
    await accounts.rows('delete from second_factor')
    expect(await reads(byCode)).toBe(403)
  })

  test('that becomes less ends what is being downloaded with it', async () => {
    const { ana, bia } = await two()
    const [first, second] = await Promise.all(
      ['11222333000181', '11444777000161'].map(async (cnpj) =>
        insertCompany(accounts.ctx.db, await workspaceOf(ana.email), { cnpj }),
      ),
    )
    const { workspaceId, publicId } = await sessionOf(bia.token)
    const holder = { workspaceId, publicId }
    const both = { companies: [first!.id, second!.id] }
    await requireHolder(accounts.ctx, holder, both)
    const file = new PassThrough()
    await using _ = endWithHolder(accounts.ctx, holder, both, file)
    const json = { idPessoa: await idOf(ana.token, bia.email), papel: 'leitura', idsEmpresas: [first!.publicId] }
    expect((await accounts.call('PUT', '/v1/api/Equipe/pessoas', { token: ana.token, json })).status).toBe(200)
    await expect(requireHolder(accounts.ctx, holder, both)).rejects.toMatchObject({ code: 'gone' })
    await requireHolder(accounts.ctx, holder, { companies: [first!.id] })
    await expect(requireHolder(accounts.ctx, holder, { companies: null, whole: true })).rejects.toMatchObject({
      code: 'gone',
    })
    await vi.waitFor(() => expect(file.destroyed).toBe(true), { timeout: 20_000 })
  })

  test('of an administrator is told to all who administer, whoever asked', async () => {
    const { ana, bia } = await two()
    const caio = newPerson()
    await invite(ana.token, caio.email, { papel: 'administrador' })
    const letter = (await accounts.letter('administrador-novo', ana.email))!
    expect(letter.paragraphs[0]).toContain(
      `alguém que estava na conta de ${ana.email} convidou ${caio.email} para administrar o workspace.`,
    )
    await accounts.rows('truncate mail')
    await accounts.call('PUT', '/v1/api/Equipe/pessoas', {
      token: ana.token,
      json: { idPessoa: await idOf(ana.token, bia.email), papel: 'administrador' },
    })
    expect((await accounts.letter('administrador-novo', ana.email))!.paragraphs[0]).toContain(
      `mudou o papel de ${bia.email} para administrador.`,
    )
    // A new password does not end the access of invited people, and its letter says so.
    await accounts.rows(`update account set email_proved_at = now() where email = $1`, ana.email)
    const senhas = { senha: 'senha-escolhida', senhaNovamente: 'senha-escolhida' }
    await accounts.call('PUT', '/v1/api/Usuarios/senha', {
      token: ana.token,
      json: { senhaAtual: ana.senha, ...senhas },
    })
    expect((await accounts.letter('senha-alterada', ana.email))!.paragraphs.join('\n')).toContain(
      `esta conta convidou, e continua com acesso quem aceitou: ${bia.email}.`,
    )
  })

  test('is asked again when the body of a call has arrived', async () => {
    const { ana, bia } = await two({ papel: 'administrador' })
    const [home] = await accounts.rows<{ id: number }>(
      'select workspace_id as id from account where email = $1',
      ana.email,
    )
    const asking = { ...(await sessionOf(bia.token)) }
    const idPessoa = await idOf(ana.token, bia.email)
    await invite(bia.token, newPerson().email, { papel: 'administrador' })
    await accounts.call('PUT', '/v1/api/Equipe/pessoas', { token: ana.token, json: { idPessoa, papel: 'leitura' } })
    // Her session still has the role that she had when the call arrived.
    const choice = { idPessoa, papel: 'administrador', idsEmpresas: null, acessoAte: null } as const
    await expect(changeMember(accounts.ctx, asking, choice)).rejects.toMatchObject({ code: 'forbidden' })
    // Her invitation is withdrawn.
    expect(await accounts.rows('select from invitation where workspace_id = $1', home!.id)).toEqual([])
  })
})

async function sessionOf(token: string) {
  return (await findSession(accounts.ctx, token, { address: '127.0.0.1', agent: 'teste' }))!
}

/** Switches the second factor of a person on, whose telephone has the secret that is returned. */
async function switchOn(token: string): Promise<string> {
  const { segredo } = (await post('/v1/api/Usuarios/duas-etapas', token)).envelope.data
  const json = { codigo: codeOf(segredo) }
  expect((await accounts.call('PUT', '/v1/api/Usuarios/duas-etapas', { token, json })).status).toBe(200)
  await accounts.rows('update second_factor set last_step = 0')
  return segredo
}
const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate()

describe('a person in two workspaces', () => {
  test('has one password, one name and one e-mail, and sees and ends all of their sessions', async () => {
    const { ana, bia } = await two()
    const home = (await workspaces(bia.token)).find(({ atual }) => !atual)!
    const second = (await enterAgain(bia)).envelope.data.token as string
    const atHome = (await post('/v1/api/Auth/workspace', second, { wsId: home.wsId })).envelope.data.token as string
    const sessions = (await accounts.call('GET', '/v1/api/Auth/sessoes', { token: bia.token })).envelope.data
    expect(sessions.map((one: { workspace: string }) => one.workspace).sort()).toEqual(['Ana Souza', 'Bia Lima'])
    await accounts.call('PUT', '/v1/api/Usuarios/conta', { token: bia.token, json: { nome: 'Beatriz Lima' } })
    expect((await team(ana.token)).pessoas).toMatchObject([{}, { nome: 'Beatriz Lima' }])
    expect(await conta(atHome)).toMatchObject({ nome: 'Beatriz Lima' })
    const email = newPerson().email
    await post('/v1/api/Usuarios/trocar-email', bia.token, { email, senhaAtual: bia.senha })
    const link = (await accounts.letter('novo-email', email))!.button!.url.split('/').at(-1)
    expect((await post('/v1/api/Usuarios/confirmar-email', undefined, { urlAcesso: link })).status).toBe(200)
    expect((await team(ana.token)).pessoas).toMatchObject([{}, { email }])
    const json = { senhaAtual: bia.senha, senha: 'outra-senha-dela', senhaNovamente: 'outra-senha-dela' }
    expect((await accounts.call('PUT', '/v1/api/Usuarios/senha', { token: bia.token, json })).status).toBe(200)
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: atHome })).status).toBe(401)
    expect((await accounts.logIn({ email, senha: 'outra-senha-dela' })).status).toBe(200)
  })

  test('who is put out of one keeps the other, and their session there ends at once', async () => {
    const { ana, bia } = await two()
    const idPessoa = await idOf(ana.token, bia.email)
    expect((await post('/v1/api/Equipe/pessoas/remover', ana.token, { idPessoa })).status).toBe(200)
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: bia.token })).status).toBe(401)
    expect(await conta((await enterAgain(bia)).envelope.data.token)).toMatchObject({
      workspace: 'Bia Lima',
      outrosWorkspaces: false,
    })
    expect((await post('/v1/api/Equipe/pessoas/remover', ana.token, { idPessoa })).status).toBe(404)
  })

  test('whose home goes takes password, second factor, codes and passkeys along', async () => {
    const { ana, bia } = await two()
    const segredo = await switchOn(bia.token)
    const device = createAuthenticator({ origin: 'https://vigia.exemplo.com.br' })
    const asked = (await post('/v1/api/Usuarios/passkeys/desafio', bia.token)).envelope.data
    await post('/v1/api/Usuarios/passkeys', bia.token, { nome: 'Celular', resposta: device.register(asked) })
    const third = await accounts.enter(newPerson({ nome: 'Caio Dias' }))
    await invite(third.token, bia.email)
    const inThird = (await join(bia)).envelope.data.token as string
    const [home] = await accounts.rows<{ id: number }>(
      'select workspace_id as id from account where email = $1 and home_account_id is null',
      bia.email,
    )
    await inWorkspace(accounts.ctx, home!.id, ({ db }) => removeAccounts({ ...accounts.ctx, db }, home!.id))
    expect((await workspaces(inThird)).map(({ nome }) => nome)).toEqual([ana.nome, 'Caio Dias'])
    expect((await enterAgain(bia)).status).toBe(403)
    expect((await enterAgain(bia, codeOf(segredo))).status).toBe(200)
    const challenge = (await post('/v1/api/Auth/desafio', undefined)).envelope.data
    expect((await post('/v1/api/Auth/passkey', undefined, { resposta: device.sign(challenge) })).status).toBe(200)
  })

  test('who is let go by two workspaces at once has no account left over', async () => {
    const { ana, bia } = await two()
    const home = (await workspaces(bia.token)).find(({ atual }) => !atual)!
    const other = await accounts.enter(newPerson({ nome: 'Caio Dias' }))
    const second = (await enterAgain(bia)).envelope.data.token as string
    const atHome = (await post('/v1/api/Auth/workspace', second, { wsId: home.wsId })).envelope.data.token as string
    await invite(atHome, other.email, { papel: 'administrador' })
    const inHome = (await join(other)).envelope.data.token as string
    const [fromHome, fromElsewhere] = await Promise.all([
      post('/v1/api/Equipe/pessoas/remover', inHome, { idPessoa: await idOf(inHome, bia.email) }),
      post('/v1/api/Equipe/pessoas/remover', ana.token, { idPessoa: await idOf(ana.token, bia.email) }),
    ])
    expect([fromHome.status, fromElsewhere.status]).toEqual([200, 200])
    for (const table of ['account', 'account_directory'])
      expect(await accounts.rows(`select from ${table} where email = $1`, bia.email)).toEqual([])
    await accounts.signUp(bia)
    expect((await enterAgain(bia)).status).toBe(200)
  })

  test('keeps the age of a session when it changes the workspace, and no session outlives a new password', async () => {
    const { bia } = await two()
    await accounts.rows(`update session set created_at = now() - interval '29 days'`)
    const list = await workspaces(bia.token)
    const [here, there] = [list.find(({ atual }) => atual)!, list.find(({ atual }) => !atual)!]
    expect((await post('/v1/api/Auth/workspace', bia.token, { wsId: here.wsId })).status).toBe(409)
    const moved = (await post('/v1/api/Auth/workspace', bia.token, { wsId: there.wsId })).envelope.data.token as string
    const [row] = (await accounts.call('GET', '/v1/api/Auth/sessoes', { token: moved })).envelope.data
    expect(Date.parse(row.expiraEm) - Date.now()).toBeLessThan(25 * 3_600_000)
    const mine = (await enterAgain(bia)).envelope.data.token as string
    const json = { senhaAtual: bia.senha, senha: 'outra-senha-dela', senhaNovamente: 'outra-senha-dela' }
    const [changed, switched] = await Promise.all([
      accounts.call('PUT', '/v1/api/Usuarios/senha', { token: mine, json }),
      post('/v1/api/Auth/workspace', moved, { wsId: here.wsId }),
    ])
    expect(changed.status).toBe(200)
    const left = switched.status === 200 ? switched.envelope.data.token : moved
    expect((await accounts.call('GET', '/v1/api/Usuarios/conta', { token: left })).status).toBe(401)
  })

  test('who leaves the last one has no account any more, and may sign up again', async () => {
    const ana = await accounts.enter()
    const bia = newPerson({ nome: 'Bia Lima' })
    await invite(ana.token, bia.email)
    await accept(bia)
    const { token } = (await enterAgain(bia)).envelope.data
    expect((await post('/v1/api/Equipe/sair', token)).envelope.message).toMatch(/^Você saiu, e a sua conta foi apagada/)
    expect((await enterAgain(bia)).status).toBe(401)
    expect(await accounts.rows('select from account_directory where email = $1', bia.email)).toEqual([])
    await accounts.signUp(bia)
    expect((await enterAgain(bia)).status).toBe(200)
  })
})
