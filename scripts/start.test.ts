import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
let base: string
let running: ChildProcess[] = []

beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'vigia-start-'))
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running = []
})
afterAll(() => rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 }))

interface Run {
  child: ChildProcess
  output: () => string
  ended: Promise<number | null>
}

function start(env: Record<string, string>, ...args: string[]): Run {
  const child = spawn(process.execPath, ['scripts/start.ts', ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, ...env },
  })
  running.push(child)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, output: () => Buffer.concat(chunks).toString() }
}

async function says({ output, ended }: Run, text: string): Promise<void> {
  let over = false
  void ended.then(() => {
    over = true
  })
  for (let i = 0; i < 600 && !output().includes(text) && !over; i++) await sleep(100)
  expect(output()).toContain(text)
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

async function installation(name: string): Promise<Record<string, string>> {
  const [port, simulatorPort] = [await freePort(), await freePort()]
  return { DATA_DIR: path.join(base, name), PORT: String(port), SIMULATOR_PORT: String(simulatorPort) }
}

async function processesOf({ DATA_DIR = '' }: Record<string, string>): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args'])
  return stdout.split('\n').filter((line) => line.includes(DATA_DIR))
}

async function call(env: Record<string, string>, route: string, init: RequestInit = {}) {
  const response = await fetch(`http://localhost:${env.PORT}${route}`, init)
  return (await response.json()) as { success: boolean; data: Record<string, unknown> & unknown[] }
}

async function token(env: Record<string, string>): Promise<string> {
  const answer = await call(env, '/v1/api/Auth', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'demo@vigiafiscal.example', senha: 'notas-em-dia' }),
  })
  return String(answer.data.token)
}

async function companiesOf(env: Record<string, string>): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${await token(env)}` }
  return (await call(env, '/v1/api/Empresas/obter-empresas', { headers })).data
}

test('one command brings everything up, Ctrl+C takes it down, and a second start finds the same data', async () => {
  const env = await installation('twice')
  for (const word of ['first', 'second']) {
    const run = start(env)
    await says(run, 'Ctrl+C encerra.')
    expect(run.output()).toContain(`http://localhost:${env.PORT}`)
    expect(run.output()).toContain('demo@vigiafiscal.example')
    expect(run.output().includes('Cadastrando as empresas')).toBe(word === 'first')
    expect(await companiesOf(env)).toHaveLength(3)
    const page = await fetch(`http://localhost:${env.PORT}/`)
    expect(await page.text()).toContain('<div id="root"')

    // The whole group, as the terminal does.
    process.kill(-(run.child.pid ?? 0), 'SIGINT')
    expect(await run.ended).toBe(0)
    expect(await processesOf(env)).toEqual([])
  }
})

test('the documents of the month arrive by themselves', async () => {
  const env = await installation('twice')
  const run = start(env)
  await says(run, 'Ctrl+C encerra.')
  const headers = { authorization: `Bearer ${await token(env)}` }
  let items: unknown = []
  for (let i = 0; i < 300 && !(Array.isArray(items) && items.length > 0); i++) {
    items = (await call(env, '/v1/api/DocumentosFiscais?TipoDFe=0', { headers })).data.items
    await sleep(100)
  }
  expect(items).not.toEqual([])
  run.child.kill('SIGTERM')
  expect(await run.ended).toBe(0)
  expect(await processesOf(env)).toEqual([])
})

test('a killed program leaves nothing running and nothing broken', async () => {
  const env = await installation('twice')
  const run = start(env)
  await says(run, 'Ctrl+C encerra.')
  run.child.kill('SIGKILL')
  await run.ended
  const again = start(env)
  await says(again, 'Ctrl+C encerra.')
  expect(await companiesOf(env)).toHaveLength(3)
  again.child.kill('SIGTERM')
  expect(await again.ended).toBe(0)
  for (let i = 0; i < 50 && (await processesOf(env)).length > 0; i++) await sleep(100)
  expect(await processesOf(env)).toEqual([])
})

test('an interrupt while it is still starting stops it too', async () => {
  const env = await installation('early')
  const run = start(env)
  await says(run, 'Preparando o PostgreSQL')
  run.child.kill('SIGINT')
  expect(await run.ended).toBe(0)
  expect(await processesOf(env)).toEqual([])
})

test('one role alone migrates, and roles share one database', async () => {
  const env = await installation('roles')
  const first = start(env, 'migrate')
  expect(await first.ended).toBe(0)
  expect(first.output()).toContain('Aplicado: 0001-')
  const second = start(env, 'migrate')
  expect(await second.ended).toBe(0)
  expect(second.output()).toContain('já estava em dia')

  const api = start(env, 'api')
  await says(api, 'Ctrl+C encerra.')
  const migrate = start(env, 'migrate')
  expect(await migrate.ended).toBe(0)
  expect((await call(env, '/health')).success).toBe(true)
  const worker = start({ ...env, SEFAZ_AMBIENTE: 'simulado' }, 'worker')
  expect(await worker.ended).toBe(1)
  expect(worker.output()).toContain('Falta o certificado da SEFAZ simulada')
  api.child.kill('SIGTERM')
  expect(await api.ended).toBe(0)
})

async function refusal(env: Record<string, string>, ...args: string[]): Promise<string> {
  const run = start(env, ...args)
  expect(await run.ended).toBe(1)
  expect(run.output()).not.toMatch(/\n\s+at /)
  return run.output()
}

test.each(['PORT', 'SIMULATOR_PORT'])('a busy %s is told before anything is created', async (variable) => {
  const env = await installation('busy')
  const server = createServer().listen(Number(env[variable]), '127.0.0.1')
  await once(server, 'listening')
  try {
    const output = await refusal(env)
    expect(output).toContain(`A porta ${env[variable]} já está em uso`)
    expect(output).toContain(variable)
    expect(existsSync(env.DATA_DIR ?? '')).toBe(false)
  } finally {
    server.close()
  }
})

test('a data directory that is a file, or is in use, is told', async () => {
  const env = await installation('file')
  await writeFile(env.DATA_DIR ?? '', 'something of mine')
  expect(await refusal(env)).toMatch(/há um arquivo onde devia haver uma pasta/)
  expect(await readFile(env.DATA_DIR ?? '', 'utf8')).toBe('something of mine')

  const busy = await installation('in-use')
  const first = start(busy)
  await says(first, 'Ctrl+C encerra.')
  const other = { ...(await installation('in-use')), DATA_DIR: busy.DATA_DIR ?? '' }
  expect(await refusal(other)).toMatch(/já está usando a pasta/)
  expect((await call(busy, '/health')).success).toBe(true)
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
})

test('a wrong configuration is told in one go', async () => {
  const output = await refusal({ PORT: 'tres', SEFAZ_AMBIENTE: 'nenhum', DATA_DIR: path.join(base, 'never') })
  expect(output).toContain('PORT deve ser')
  expect(output).toContain('SEFAZ_AMBIENTE deve ser')
})

test('a database server that does not answer is told', async () => {
  const env = { ...(await installation('no-server')), DATABASE_URL: 'postgres://a:b@127.0.0.1:1/vigia' }
  expect(await refusal(env)).toMatch(/DATABASE_URL \(127\.0\.0\.1:1\) não pôde ser usado/)
})

test('an archive that is no folder is told', async () => {
  const env: Record<string, string> = {
    ...(await installation('archive')),
    SIMULATOR_ARCHIVE: path.join(base, 'nowhere'),
  }
  expect(await refusal(env)).toMatch(/SIMULATOR_ARCHIVE aponta para .*nowhere/)
  expect(existsSync(env.DATA_DIR ?? '')).toBe(false)
})

test('an unknown role is told', async () => {
  expect(await refusal(await installation('role'), 'everything')).toContain('npm start -- worker')
})
