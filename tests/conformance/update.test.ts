import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrateOnly, readConfig } from '@vigia/server/start'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { control, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { dropDatabase } from '../support/database.ts'
import { withTestKeys } from '../support/keys.ts'
import { lastRelease } from '../support/last-release.ts'
import { thorough } from '../support/seed.ts'

// The last release and this version side by side on one database, under traffic: an update without a pause. Minutes, so only with RUNS=full, and only
// where the history of the repository is there: a clone without it has no last release to run.

const root = fileURLToPath(new URL('../..', import.meta.url))

function hasHistory(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${lastRelease.commit}^{commit}`], { cwd: root, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
const hourMs = 2_000
const patience = { timeout: 240_000, interval: 300 }
const name = `update_${randomBytes(4).toString('hex')}`
const running: ChildProcess[] = []
let directory: string
let simulator: Simulator

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-update-'))
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await simulator?.[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 })
  await dropDatabase(inject('postgresUrl'), name)
})

/** The code of the last release, with the libraries of this one. */
async function unpackRelease(): Promise<string> {
  const tree = join(directory, 'release')
  await mkdir(join(tree, 'node_modules', '@vigia'), { recursive: true })
  const archive = execFileSync('git', ['archive', lastRelease.commit], { cwd: root, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', tree], { input: archive })
  const modules = join(root, 'node_modules')
  for (const entry of await readdir(modules))
    if (entry !== '@vigia') await symlink(join(modules, entry), join(tree, 'node_modules', entry))
  for (const entry of await readdir(join(modules, '@vigia'))) {
    const target = relative(root, resolve(modules, '@vigia', await readlink(join(modules, '@vigia', entry))))
    await symlink(join(tree, target), join(tree, 'node_modules', '@vigia', entry))
  }
  return tree
}

interface Role {
  url: string
  complaints: string[]
  stop(): Promise<void>
}

async function startRole(tree: string, role: 'api' | 'worker', url: string): Promise<Role> {
  const order = {
    role,
    directory,
    environment: {
      PORT: '0',
      DATA_DIR: directory,
      DATABASE_URL: url,
      SIMULATOR_PORT: String(simulator.port),
      LOG_LEVEL: 'error',
    },
    times: { hourMs, pagePauseMs: 20, marginMs: hourMs / 12, answerMs: 20_000 },
  }
  const child = fork(join(tree, 'scripts/chaos/role.ts'), [JSON.stringify(order)], {
    cwd: tree,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  running.push(child)
  const complaints: string[] = []
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => complaints.push(`${role}: ${chunk}`))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = await new Promise<{ url: string } | null>((resolve) => {
    child.once('message', (message) => resolve(message as { url: string }))
    void ended.then(() => resolve(null))
  })
  if (!ready) throw new Error(`a ${role} of ${tree} did not start: ${complaints.join('')}`)
  return {
    url: ready.url,
    complaints,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Reads and answers as people do, until disposed; `problems` gets what was no answer. */
function makeTraffic(client: Client, problems: string[]): AsyncDisposable & { calls: () => number } {
  let over = false
  let calls = 0
  const call = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await client.call<{ items?: { idDfe: string }[] }>(method, path, body)
    calls++
    if (status >= 400) problems.push(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer.data
  }
  const work = (async () => {
    while (!over) {
      await call('GET', '/v1/api/Dashboard')
      await call('GET', '/v1/api/Empresas/obter-empresas')
      const list = await call('GET', '/v1/api/DocumentosFiscais?TipoDFe=0&PaginaAtual=1')
      const [row] = list?.items ?? []
      if (row) await call('GET', `/v1/api/DocumentosFiscais/detalhes/${row.idDfe}`)
    }
  })().catch((error: unknown) => problems.push(String(error)))
  return {
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      over = true
      await work
    },
  }
}

const acknowledge = (client: Client, idDfe: string) =>
  client.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
    idsDFe: [idDfe],
    tipoManifestacao: 1,
    justificativa: 'A pedido do departamento fiscal',
  })

const openAuthority = (port: number, liveEveryMs: number) =>
  startSimulator({
    port,
    directory: join(directory, 'simulator'),
    hourMs,
    since: Date.now() - 5 * 86_400_000,
    companies: [company],
    documentsEach: 40,
    liveEveryMs,
  })

test.skipIf(!thorough || !hasHistory())(
  'the last release and this version work side by side, and nothing fails or is lost',
  async () => {
    const tree = await unpackRelease()
    withTestKeys(join(directory, 'simulator'))
    simulator = await openAuthority(0, 800)
    const server = inject('postgresUrl')
    const url = new URL(`/${name}`, server).href
    const admin = new pg.Client({ connectionString: server })
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.end()

    const [oldApi, oldWorker] = [await startRole(tree, 'api', url), await startRole(tree, 'worker', url)]
    const before = await newClient({ url: oldApi.url, simulator }, account)
    await before.register(company.cnpj, company.nome)
    await expect.poll(async () => (await before.list('TipoDFe=0')).length, patience).toBeGreaterThan(5)
    const problems: string[] = []
    const answered: string[] = []
    const answer = async (client: Client) => {
      const row = (await client.list('TipoDFe=0&Status=1')).find(({ chave }) => !answered.includes(chave))!
      expect((await acknowledge(client, row.idDfe)).status).toBeLessThan(500)
      answered.push(row.chave)
    }
    const database = new pg.Client({ connectionString: url })
    await database.connect()
    await using _ = { [Symbol.asyncDispose]: () => database.end() }
    const receipts = async () =>
      Number((await database.query<{ count: string }>('select count(*) from receipt')).rows[0]!.count)

    let traffic = makeTraffic(before, problems)
    await answer(before)
    const applied = await migrateOnly(readConfig({ DATABASE_URL: url, DATA_DIR: directory }, directory))
    await database.query('create index concurrently update_ix on document (workspace_id, issued_at, id)')
    // The old ones go on with what they find now.
    const migrated = await receipts()
    await expect.poll(receipts, patience).toBeGreaterThan(migrated)
    await answer(before)

    const [api, worker] = [await startRole(root, 'api', url), await startRole(root, 'worker', url)]
    const after = await newClient({ url: api.url, simulator }, account)
    const both = makeTraffic(after, problems)
    const together = await receipts()
    await expect.poll(receipts, patience).toBeGreaterThan(together + 3)
    await Promise.all([answer(before), (async () => void (await after.list('TipoDFe=0')))()])
    await answer(after)
    await traffic[Symbol.asyncDispose]()
    const callsBefore = traffic.calls()
    await Promise.all([oldApi.stop(), oldWorker.stop()])
    traffic = both
    const alone = await receipts()
    await expect.poll(receipts, patience).toBeGreaterThan(alone)
    await answer(after)
    await traffic[Symbol.asyncDispose]()

    // Nothing new any more: all that the authority has is here.
    await simulator[Symbol.asyncDispose]()
    simulator = await openAuthority(simulator.port, 0)
    const truth = (await truthOf(simulator, company.cnpj)).map(({ service, nsu }) => `${service} ${Number(nsu)}`).sort()
    const mine = async () =>
      (
        await database.query<{ key: string }>(
          "select case service when 0 then 'nfe' else 'cte' end || ' ' || nsu as key from receipt where nsu > 0",
        )
      ).rows
        .map(({ key }) => key)
        .sort()
    await expect.poll(mine, patience).toEqual(truth)
    const { events } = await control<{ events: { chave: string; sendings: { cStat: number }[] }[] }>(
      simulator,
      `events?cnpj=${company.cnpj}`,
    )
    const registered = events.flatMap(({ chave, sendings }) =>
      sendings.filter(({ cStat }) => [135, 136].includes(cStat)).map(() => chave),
    )
    expect(registered.sort()).toEqual([...answered].sort())
    await Promise.all([api.stop(), worker.stop()])
    console.log(
      `${applied.length} migrations beside ${lastRelease.commit.slice(0, 8)}; ${callsBefore} calls of the old API, ${both.calls()} of the new`,
    )
    expect(problems).toEqual([])
    const complaints = [oldApi, oldWorker, api, worker].flatMap((role) => role.complaints)
    expect(complaints.filter((line) => !/ECONNREFUSED|socket hang up/.test(line))).toEqual([])
  },
  900_000,
)
