import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '@vigia/embedded-postgres/port'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Client, newClient } from '../tests/support/client.ts'

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

interface Launched {
  child: ChildProcess
  output: () => string
  ended: Promise<number | null>
}

function start(env: Record<string, string>, ...args: string[]): Launched {
  return run(env, 'scripts/start.ts', ...args)
}

function run(env: Record<string, string>, ...command: string[]): Launched {
  const child = spawn(process.execPath, command, {
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

async function says({ output, ended }: Launched, text: string): Promise<void> {
  let over = false
  void ended.then(() => {
    over = true
  })
  for (let i = 0; i < 1_100 && !output().includes(text) && !over; i++) await sleep(100)
  expect(output()).toContain(text)
}

async function installation(name: string): Promise<Record<string, string>> {
  const [port, simulatorPort] = [await freePort(), await freePort()]
  return { DATA_DIR: path.join(base, name), PORT: String(port), SIMULATOR_PORT: String(simulatorPort) }
}

async function childrenOf({ child }: Launched): Promise<{ pid: number; args: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? []
    return Number(parent) === child.pid ? [{ pid: Number(pid), args }] : []
  })
}

async function workerOf(product: Launched): Promise<number | undefined> {
  return (await childrenOf(product)).find(({ args }) => args.includes('worker-child.ts'))?.pid
}

// On Linux, which alone shows it: what each child of the program was given.
async function environmentsOf(product: Launched): Promise<{ args: string; environment: string }[]> {
  const given = (await childrenOf(product)).map(async ({ pid, args }) => ({
    args,
    // One may have ended since.
    environment: await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
  }))
  return Promise.all(given)
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function processesOf({ DATA_DIR = '' }: Record<string, string>): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args'])
  return stdout.split('\n').filter((line) => line.includes(DATA_DIR))
}

const demo = { nome: 'Demonstração', email: 'demo@vigiafiscal.example', senha: 'notas-em-dia' }

function enter(env: Record<string, string>, account = demo): Promise<Client> {
  const simulator = {
    async issueCertificate(holder: object) {
      const body = JSON.stringify(holder)
      const headers = { 'content-type': 'application/json' }
      const url = `http://localhost:${env.SIMULATOR_PORT}/_control/certificates`
      return new Uint8Array(await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer())
    },
  }
  return newClient({ url: `http://localhost:${env.PORT}`, simulator }, account)
}

async function companiesOf(env: Record<string, string>): Promise<unknown[]> {
  return (await (await enter(env)).call<unknown[]>('GET', '/v1/api/Empresas/obter-empresas')).body.data
}

/** Statuses that a probe gets from the first moment until the product is ready. */
async function probe(env: Record<string, string>, { ended }: Launched): Promise<number[]> {
  const seen: number[] = []
  let over = false
  void ended.then(() => {
    over = true
  })
  while (seen.at(-1) !== 200 && !over) {
    const status = await fetch(`http://localhost:${env.PORT}/health`).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status !== seen.at(-1)) seen.push(status)
    await sleep(20)
  }
  return seen
}

async function isHealthy(env: Record<string, string>): Promise<boolean> {
  const answer = await fetch(`http://localhost:${env.PORT}/health`)
  return answer.ok && ((await answer.json()) as { success: boolean }).success
}

async function stop({ child, ended }: Launched): Promise<void> {
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}

test('one command brings everything up, Ctrl+C takes it down, and a second start finds the same data', async () => {
  const env = await installation('twice')
  for (const word of ['first', 'second']) {
    const product = start(env)
    await says(product, 'Ctrl+C encerra.')
    expect(product.output()).toContain(`http://localhost:${env.PORT}`)
    expect(product.output()).toContain(demo.email)
    expect(product.output().includes('Abrindo o escritório')).toBe(word === 'first')
    expect(await companiesOf(env)).toHaveLength(4)
    // Its password is published: no visitor takes it from the others.
    const taken = { senhaAtual: demo.senha, senha: 'de-um-visitante', senhaNovamente: 'de-um-visitante' }
    expect((await (await enter(env)).call('PUT', '/v1/api/Usuarios/senha', taken)).status).toBe(409)
    const page = await fetch(`http://localhost:${env.PORT}/`)
    expect(await page.text()).toContain('<div id="root"')

    // The whole group, as the terminal does.
    process.kill(-(product.child.pid ?? 0), 'SIGINT')
    expect(await product.ended).toBe(0)
    expect(await processesOf(env)).toEqual([])
  }
})

test('probes are told when it is ready, documents arrive by themselves, and no child but the signer is given the key', async () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const env: Record<string, string> = { ...(await installation('arrivals')), MASTER_KEY: key }
  const product = start(env)
  const statuses = probe(env, product)
  await says(product, 'Ctrl+C encerra.')
  expect((await statuses).filter((status) => status !== 0)).toEqual([503, 200])
  if (existsSync('/proc/self/environ')) {
    const children = await environmentsOf(product)
    expect(children.length).toBeGreaterThan(2)
    const withKey = children.filter(({ environment }) => environment.includes(key))
    expect(withKey.map(({ args }) => args)).toEqual([expect.stringContaining('apps/server/main.ts --child')])
  }
  const client = await enter(env)
  await expect.poll(() => client.list('TipoDFe=0'), { timeout: 60_000 }).not.toEqual([])
  await stop(product)
  expect(await processesOf(env)).toEqual([])
})

test('a killed program leaves nothing running and nothing broken', async () => {
  const env = await installation('killed')
  const killed = start(env)
  await says(killed, 'Ctrl+C encerra.')
  const children = await childrenOf(killed)
  expect(children.length).toBeGreaterThan(3)
  killed.child.kill('SIGKILL')
  await killed.ended
  const again = start(env)
  await says(again, 'Ctrl+C encerra.')
  expect(await companiesOf(env)).toHaveLength(4)
  await stop(again)
  for (let i = 0; i < 300 && (await processesOf(env)).length > 0; i++) await sleep(100)
  expect(await processesOf(env)).toEqual([])
  await expect.poll(() => children.filter(({ pid }) => exists(pid)), { timeout: 30_000 }).toEqual([])
})

test('the process that captures is started again when it is killed, and /ready says when it is away', async () => {
  const probe = String(await freePort())
  const env: Record<string, string> = { ...(await installation('worker')), PROBE_PORT: probe }
  const product = start(env)
  await says(product, 'Ctrl+C encerra.')
  const ready = async () => (await fetch(`http://127.0.0.1:${probe}/ready`)).json()
  // A check that takes three seconds counts as failed.
  const becomes = (state: unknown) => expect.poll(ready, { timeout: 30_000 }).toEqual(state)
  await becomes({ ready: true, roles: { api: 'ready', worker: 'ready' } })
  const worker = (await workerOf(product))!
  process.kill(worker, 'SIGSTOP')
  await becomes({ ready: false, roles: { api: 'ready', worker: 'not-ready' } })
  process.kill(worker, 'SIGKILL')
  await says(product, 'O processo que captura parou (SIGKILL) e é iniciado de novo.')
  await expect.poll(ready, { timeout: 30_000 }).toMatchObject({ ready: true })
  expect(await workerOf(product)).not.toBe(worker)
  await stop(product)
  expect(await processesOf(env)).toEqual([])
})

test('an interrupt while it is still starting stops it too', async () => {
  const env = await installation('early')
  const product = start(env)
  await says(product, 'Preparando o PostgreSQL')
  product.child.kill('SIGINT')
  expect(await product.ended).toBe(0)
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
  expect(await isHealthy(env)).toBe(true)
  await stop(api)
})

test('api, worker and simulator as programs of their own capture together', async () => {
  const copies = { BACKUP_DIR: path.join(base, 'copies'), BACKUP_KEY: Buffer.alloc(32, 1).toString('base64') }
  const env: Record<string, string> = { ...(await installation('apart')), ...copies }
  const probe = String(await freePort())
  expect(await refusal(env, 'worker')).toContain('Falta o certificado da SEFAZ simulada')
  const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA EXEMPLO LTDA' }
  // As `npm run simulator`: port and folder come from the same environment, and its hour is the worker's.
  const simulator = run(env, 'apps/simulator/main.ts', '--company', `${company.cnpj}:${company.nome}:SP`)
  await says(simulator, '"ready":true')
  const api = start(env, 'api')
  await says(api, 'Ctrl+C encerra.')
  const client = await enter(env, { ...demo, email: 'ana@exemplo.com.br' })
  await client.register(company.cnpj, company.nome)

  const worker = start({ ...env, PROBE_PORT: probe }, 'worker')
  await says(worker, 'Ctrl+C encerra.')
  expect(await (await fetch(`http://127.0.0.1:${probe}/ready`)).json()).toEqual({
    ready: true,
    roles: { worker: 'ready' },
  })
  await client.captured({ timeoutMs: 60_000 })
  expect(await client.list('TipoDFe=0')).not.toEqual([])
  expect(await client.list('TipoDFe=2')).not.toEqual([])
  const admin = async (...words: string[]) => {
    const task = run(env, 'scripts/admin.ts', ...words)
    return { code: await task.ended, output: task.output() }
  }
  expect(await admin('backup')).toEqual({ code: 1, output: expect.stringContaining('backup iniciar') })
  expect(await admin('backup', 'iniciar')).toEqual({ code: 1, output: expect.stringContaining('--mesmo-disco') })
  expect(await admin('backup', 'iniciar', '--mesmo-disco')).toEqual({
    code: 0,
    output: expect.stringContaining('Cópia feita: '),
  })
  for (const program of [worker, api, simulator]) await stop(program)
  expect(await processesOf(env)).toEqual([])

  // Nothing takes the place of a database; where there is none it comes back.
  expect(await admin('restore')).toEqual({
    code: 0,
    output: expect.stringMatching(/1 empresa,[\s\S]*Nada foi alterado/),
  })
  expect(await admin('restore', '--fazer')).toEqual({
    code: 1,
    output: expect.stringContaining('não substitui nenhum'),
  })
  const database = path.join(env.DATA_DIR!, 'postgres')
  await rename(database, `${database}-antes`)
  const { code, output } = await admin('restore', '--fazer')
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/O banco de dados foi restaurado[\s\S]*precisa da chave mestra que estava em uso/),
  ])
  expect(output).not.toContain(copies.BACKUP_KEY)
})

async function refusal(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { ended, output } = start(env, ...args)
  expect(await ended).toBe(1)
  expect(output()).not.toMatch(/\n\s+at /)
  return output()
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
  const first = start(busy, 'api')
  await says(first, 'Ctrl+C encerra.')
  const other = { ...(await installation('in-use')), DATA_DIR: busy.DATA_DIR ?? '' }
  expect(await refusal(other)).toMatch(/já está usando a pasta/)
  expect(await isHealthy(busy)).toBe(true)
  await stop(first)
})

test('a wrong configuration is told in one go', async () => {
  const output = await refusal({ PORT: 'tres', SEFAZ_AMBIENTE: 'nenhum', DATA_DIR: path.join(base, 'never') })
  expect(output).toContain('PORT deve ser')
  expect(output).toContain('SEFAZ_AMBIENTE deve ser')
})

test.each(['serve', 'migrate'])('%s says that a database server does not answer', async (mode) => {
  const env = { ...(await installation('no-server')), DATABASE_URL: 'postgres://a:b@127.0.0.1:1/vigia' }
  expect(await refusal(env, mode)).toMatch(/DATABASE_URL \(127\.0\.0\.1:1\) não pôde ser usado/)
})

test('a damaged master key, and the data of another ambiente, are told', async () => {
  const env = await installation('other')
  expect(await start(env, 'migrate').ended).toBe(0)
  const key = path.join(env.DATA_DIR ?? '', 'master.key')
  await writeFile(key, 'metade')
  expect(await refusal(env, 'api')).toContain(`${key} não é uma chave`)
  await rm(key)

  const first = start(env, 'api')
  await says(first, 'Ctrl+C encerra.')
  await stop(first)
  const output = await refusal({ ...env, SEFAZ_AMBIENTE: 'homologacao', CADASTRO: 'aberto', PLANOS: 'ligados' }, 'api')
  expect(output).toContain('Este banco de dados guarda documentos do ambiente "simulado"')
})

test('the data folder is closed to other accounts, also one that was not', async () => {
  const modeAfter = async (name: string, before?: number) => {
    const env = { ...(await installation(name)), DATABASE_URL: 'postgres://a:b@127.0.0.1:1/vigia' }
    const folder = path.join(base, name)
    if (before !== undefined) {
      await mkdir(folder)
      await chmod(folder, before)
    }
    await refusal(env, 'api')
    return (await stat(folder)).mode & 0o777
  }
  expect(await modeAfter('new-folder')).toBe(0o700)
  // Root's may be passed through by the account that runs the database.
  expect(await modeAfter('open-folder', 0o777)).toBe(process.getuid?.() === 0 ? 0o711 : 0o700)
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
