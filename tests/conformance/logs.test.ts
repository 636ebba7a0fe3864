import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import { simpleParser } from 'mailparser'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { weeksAgo } from '../support/authority.ts'
import { createDatabase, endConnections } from '../support/database.ts'

// A whole session at the most talkative level, in a process of its own: whatever it writes, to whichever stream, is looked through for
// everything that was secret in it.

const secrets = {
  name: 'Fulana Recusada',
  mailbox: 'maria.da.silva',
  password: 'senha-primeira-Xq7',
  wrong: 'senha-errada-Kp2',
  chosen: 'senha-escolhida-Wm4',
  pfxPassword: 'senha-do-arquivo-Zt9',
  wrongPfxPassword: 'senha-trocada-Bv3',
  phone: '11987654321',
  cpf: '12345678909',
  maskedCpf: '123.456.789-09',
  smtpPassword: 'senha-do-correio-Hj6',
  metricsToken: 'token-das-metricas-Rf8',
}
const email = `${secrets.mailbox}@empresa.example`
const cnpj = '44555666000181'

let url: string
let simulator: Simulator
let owner: pg.Client
let program: ChildProcess
let output = ''
const letters: string[] = []
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'vigia-logs-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const database = stack.use(await createDatabase())
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  stack.defer(() => owner.end())
  simulator = stack.use(
    await startSimulator({ since: weeksAgo(), port: 0, directory: join(dataDir, 'simulator'), hourMs: 60_000 }),
  )
  const post = await openPost()
  stack.defer(() => new Promise<void>((resolve) => post.close(() => resolve())))
  const { port } = post.server.address() as { port: number }
  await startProgram({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    PUBLIC_URL: 'http://localhost:3000',
    SIMULATOR_PORT: String(simulator.port),
    SMTP_URL: `smtp://correio:${secrets.smtpPassword}@127.0.0.1:${port}`,
    MAIL_FROM: 'vigia@vigia.example',
    METRICS_TOKEN: secrets.metricsToken,
    LOG_LEVEL: 'debug',
  })
})
afterAll(() => stack.disposeAsync())

/** A mail server that wants a login, and says no the first time in the way that repeats everything. */
async function openPost(): Promise<SMTPServer> {
  let refused = false
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 500,
    onAuth: ({ password }, _, done) =>
      password === secrets.smtpPassword ? done(null, { user: 'correio' }) : done(new Error('no')),
    onRcptTo({ address }, _, done) {
      if (refused) return done()
      refused = true
      done(Object.assign(new Error(`<${address}> try again later`), { responseCode: 451 }))
    },
    onData(stream, _, done) {
      void text(stream).then((letter) => {
        letters.push(letter)
        done()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return server
}

async function startProgram(environment: Record<string, string>): Promise<void> {
  const code = `
    import { readConfig, start } from ${JSON.stringify(new URL('../../apps/server/start.ts', import.meta.url).href)}
    const server = await start(readConfig(process.env, process.cwd()), { roles: ['api', 'worker'] })
    console.log('listening at ' + server.url)
    process.stdin.resume().once('end', async () => { await server[Symbol.asyncDispose](); process.exit(0) })`
  const file = join(environment.DATA_DIR!, 'program.mjs')
  await writeFile(file, code)
  program = spawn(process.execPath, [file], { env: { ...process.env, ...environment } })
  for (const stream of [program.stdout, program.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      output += part
    })
  stack.defer(async () => {
    if (program.exitCode !== null) return
    const ended = once(program, 'exit')
    program.stdin?.end()
    await ended
  })
  await vi.waitFor(() => expect(output).toContain('listening at '), { timeout: 30_000 })
  url = /listening at (\S+)/.exec(output)![1]!
}

interface Called {
  status: number
  id: string
  data: unknown
}

async function call(
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<Called> {
  const isForm = body instanceof FormData
  const response = await fetch(url + path, {
    method,
    headers: { ...(body && !isForm ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body instanceof FormData || typeof body === 'string' ? body : body && JSON.stringify(body),
  })
  const answer = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    id: response.headers.get('x-request-id') ?? '',
    data: isJson ? (JSON.parse(answer) as { data: unknown }).data : answer,
  }
}

function certificate(pfx: Uint8Array, password: string): FormData {
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
  form.append('Senha', password)
  return form
}

test('nothing secret is ever written to a log', { timeout: 120_000 }, async () => {
  const person = { nome: 'Maria da Silva', email, senha: secrets.password, celular: secrets.phone }
  const status = async (called: Promise<Called>) => (await called).status

  // Accounts.
  expect(await status(call('POST', '/v1/api/Usuarios', person))).toBe(200)
  expect(await status(call('POST', '/v1/api/Usuarios', { ...person, senha: secrets.wrong }))).toBe(200)
  expect(await status(call('POST', '/v1/api/Auth', { email, senha: secrets.wrong }))).toBe(401)
  expect(await status(call('POST', '/v1/api/Auth', `{"email": "${email}", "senha": "${secrets.password}`))).toBe(400)
  expect(await status(call('POST', '/v1/api/Auth', { email: [email], senha: { senha: secrets.password } }))).toBe(400)
  const { token } = (await call('POST', '/v1/api/Auth', person)).data as { token: string }
  const session = { authorization: `Bearer ${token}` }
  const form = { senhaAtual: secrets.wrong, senha: secrets.chosen, senhaNovamente: secrets.chosen }
  expect(await status(call('PUT', '/v1/api/Usuarios/senha', form, session))).toBe(400)

  // A forgotten password; the first try of each mail fails.
  expect(await status(call('POST', '/v1/api/RecuperarSenha', { email }))).toBe(200)
  const link = await receiveLink()
  expect(await status(call('GET', `/v1/api/RecuperarSenha/${link}`))).toBe(200)
  expect(await status(call('GET', `/v1/api/RecuperarSenha/${link}/${link}`))).toBe(404)
  await fetch(`${url}/atualizar-senha/${link}`)
  await fetch(`${url}/atualizar-senha/${link}%`)
  const chosen = { urlAcesso: link, senha: secrets.chosen, senhaNovamente: secrets.chosen }
  expect(await status(call('POST', '/v1/api/RecuperarSenha/atualizar-senha', chosen))).toBe(200)
  expect(await status(call('POST', '/v1/api/RecuperarSenha/atualizar-senha', chosen))).toBe(410)
  expect(await status(call('GET', '/v1/api/Dashboard', undefined, session))).toBe(401)
  const again = (await call('POST', '/v1/api/Auth', { email, senha: secrets.chosen })).data as { token: string }
  const open = { authorization: `Bearer ${again.token}` }

  // Certificates.
  const pfx = await simulator.issueCertificate({ cnpj, nome: 'EMPRESA', senha: secrets.pfxPassword })
  const empresas = '/v1/api/Empresas'
  expect(await status(call('POST', empresas, certificate(pfx, secrets.wrongPfxPassword), open))).toBe(400)
  expect(await status(call('POST', empresas, certificate(pfx.subarray(9), secrets.pfxPassword), open))).toBe(400)
  expect(await status(call('POST', empresas, certificate(Buffer.alloc(200_000, 1), secrets.pfxPassword), open))).toBe(
    413,
  )
  const cut = `--x\r\nContent-Disposition: form-data; name="Senha"\r\n\r\n${secrets.pfxPassword}`
  const multipart = { ...open, 'content-type': 'multipart/form-data; boundary=x' }
  expect(await status(call('POST', empresas, cut, multipart))).toBe(400)
  expect(await status(call('POST', empresas, certificate(pfx, secrets.pfxPassword), open))).toBe(200)
  expect(await status(call('POST', empresas, certificate(pfx, secrets.pfxPassword), open))).toBe(409)
  // The capture writes about the company too, before the database is taken from it below.
  await vi.waitFor(() => expect(output).toContain(cnpj), { timeout: 30_000, interval: 100 })

  // Secrets in input of people and in requests of strangers.
  for (const cpf of [secrets.cpf, secrets.maskedCpf]) {
    await call('GET', `/v1/api/DocumentosFiscais?TipoDFe=0&CampoPesquisa=${cpf}`, undefined, open)
    await call('GET', `/v1/api/Empresas/obter-empresas?busca=${cpf}&busca=${cpf}`, undefined, open)
    await call('GET', `/v1/api/Empresas/obter-empresa?id=${cpf}`, undefined, open)
  }
  await call('GET', `/metrics?token=${secrets.metricsToken}`)
  expect(await status(call('GET', '/metrics', undefined, { authorization: `Bearer ${secrets.metricsToken}` }))).toBe(
    200,
  )
  const basic = Buffer.from(`${email}:${secrets.password}`).toString('base64')
  await call('GET', '/v1/api/Dashboard', undefined, { authorization: `Basic ${basic}`, cookie: `s=${again.token}` })

  // Failures of ours, about which PostgreSQL reports many details.
  await owner.query(`alter table account add constraint no_fulana check (name <> '${secrets.name}')`)
  const refused = await call('POST', '/v1/api/Usuarios', {
    ...person,
    nome: secrets.name,
    email: `outra.${email}`,
  })
  expect(refused.status).toBe(500)
  await owner.query('alter table document rename to away')
  const missing = await call('GET', `/v1/api/DocumentosFiscais?TipoDFe=0&CampoPesquisa=${secrets.cpf}`, undefined, open)
  expect(missing.status).toBe(500)
  await owner.query('alter table away rename to document')
  await endConnections(owner)
  await Promise.all(Array.from({ length: 5 }, () => call('POST', '/v1/api/Auth', { email, senha: secrets.chosen })))
  expect(await status(call('POST', '/v1/api/Auth/sair', undefined, open))).toBeLessThan(600)

  const lines = await endProgram()
  const forbidden = {
    ...secrets,
    token,
    again: again.token,
    link,
    basic,
    pfx: Buffer.from(pfx).toString('base64').slice(0, 40),
    key: 'PRIVATE KEY',
    hash: '$argon2',
  }
  for (const [name, secret] of Object.entries(forbidden)) expect(output.includes(secret), name).toBe(false)

  // It did write, and what it wrote is of use.
  const failures = lines.filter((line) => line.msg === 'request failed')
  expect(failures.map((line) => line.requestId)).toEqual(expect.arrayContaining([refused.id, missing.id]))
  expect(failures.find((line) => line.requestId === refused.id)?.err).toMatchObject({
    code: '23514',
    table: 'account',
    constraint: 'no_fulana',
  })
  expect(lines.filter((line) => line.msg === 'request').length).toBeGreaterThan(25)
  expect(lines.some((line) => line.route === '/v1/api/RecuperarSenha/:token')).toBe(true)
})

interface Line {
  msg: string
  requestId?: string
  route?: string
  err?: object
}

async function receiveLink(): Promise<string> {
  // A mail that could not leave waits a minute.
  const mine = async () => {
    await owner.query(`update job set run_at = now() where kind = 'mail' and lease is null`)
    const parsed = await Promise.all(letters.map((letter) => simpleParser(letter)))
    const links = parsed.map(({ text = '' }) => /atualizar-senha\/([\w-]{43})/.exec(text)?.[1])
    const link = links.find(Boolean)
    expect(link).toBeDefined()
    return link!
  }
  return vi.waitFor(mine, { timeout: 30_000, interval: 300 })
}

async function endProgram(): Promise<Line[]> {
  const ended = once(program, 'exit')
  program.stdin?.end()
  await ended
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}
