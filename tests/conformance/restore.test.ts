import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { joinPostgres } from '@vigia/embedded-postgres/postgres'
import {
  backUp,
  beginCopies,
  type Config,
  listCopies,
  operate,
  readConfig,
  releaseHeld,
  restore,
  type Server,
  start,
  tryRestore,
} from '@vigia/server/start'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { control, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { withTestKeys } from '../support/keys.ts'
import { quickPasswords } from '../support/passwords.ts'

// A drill: an installation with an embedded database captures while it is copied, goes on, loses everything but its copies and its master key,
// and is brought back to the copy.

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
const hourMs = 2_000
const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
const patience = { timeout: 150_000, interval: 200 }

let directory: string
let simulator: Simulator
let config: Config
let server: Server | undefined
let client: Client

const openAuthority = (port: number, liveEveryMs: number) =>
  startSimulator({
    port,
    directory: join(directory, 'simulator'),
    hourMs,
    since: Date.now() - 5 * 86_400_000,
    companies: [company],
    documentsEach: 12,
    liveEveryMs,
  })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-drill-'))
  withTestKeys(join(directory, 'simulator'))
  simulator = await openAuthority(0, 1_500)
  config = configOf(join(directory, 'data'))
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await simulator[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

const [key, masterKey] = [randomBytes(32), randomBytes(32)]

function configOf(dataDir: string): Config {
  const environment = {
    PORT: '0',
    DATA_DIR: dataDir,
    SIMULATOR_PORT: String(simulator.port),
    LOG_LEVEL: 'silent',
    MASTER_KEY: masterKey.toString('base64'),
    BACKUP_DIR: join(directory, 'copies'),
    BACKUP_KEY: key.toString('base64'),
    SEFAZ_CA_FILE: join(directory, 'simulator', 'ca', 'root.pem'),
  }
  const read = readConfig(environment, directory)
  const caFiles = read.sefaz.caFiles.slice(-1)
  const sefaz = { ...read.sefaz, caFiles, hourMs, pagePauseMs: 20, marginMs: hourMs / 12 }
  return { ...read, sefaz, passwordCost: quickPasswords }
}

async function begin(): Promise<void> {
  server = await start(config, { roles: ['api', 'worker'] })
  client = await newClient({ url: server.url, simulator }, account)
}

async function end(): Promise<void> {
  await server?.[Symbol.asyncDispose]()
  server = undefined
}

async function ask<Row extends object>(text: string): Promise<Row[]> {
  await using running = await joinPostgres({ directory: join(config.dataDir, 'postgres') })
  const database = new pg.Client({ connectionString: running!.url })
  await database.connect()
  const { rows } = await database.query<Row>(text)
  await database.end()
  return rows
}
const received = async () => (await client.list('TipoDFe=0')).length

const sent = async () =>
  (
    await control<{ events: { chave: string; tpEvento: number; nProt?: string; sendings: { cStat: number }[] }[] }>(
      simulator,
      `events?cnpj=${company.cnpj}`,
    )
  ).events
const registrations = async () =>
  (await sent()).map(({ chave, sendings }) => ({
    chave,
    times: sendings.filter(({ cStat }) => [135, 136].includes(cStat)).length,
  }))

const acknowledge = (idDfe: string) =>
  client.call<{ documentos: { situacao: string; mensagem: string }[] }>(
    'POST',
    '/v1/api/DocumentosFiscais/manifestar-nfe',
    {
      idsDFe: [idDfe],
      tipoManifestacao: 1,
      justificativa: 'A pedido do departamento fiscal',
    },
  )

test('a database comes back to a copy, and what was done since is neither lost nor done twice', async () => {
  await begin()
  await client.register(company.cnpj, company.nome)
  await expect.poll(received, patience).toBeGreaterThan(3)

  // While documents arrive.
  await expect(backUp(config)).rejects.toThrow('backup iniciar')
  await beginCopies(config, { sameDisk: true })
  const [first, second] = await client.list('TipoDFe=0&Status=1')
  const before = await acknowledge(first!.idDfe)
  expect(before.body.message).toBe('1 documento manifestado.')
  const { copy } = await backUp(config)
  expect(copy.contents).toMatchObject({ companies: 1, workspaces: expect.any(Number) })
  const atThatMoment = await received()

  // Changes after the copy: documents, an event, and a change by a person.
  await acknowledge(second!.idDfe)
  await expect.poll(received, patience).toBeGreaterThan(atThatMoment + 2)
  await end()
  await simulator[Symbol.asyncDispose]()
  simulator = await openAuthority(simulator.port, 0)
  const registered = await registrations()
  expect(registered).toHaveLength(2)

  // The disk is lost, with all that stood beside the database.
  const lost = config
  await expect(restore(lost)).rejects.toThrow('já há um banco de dados')
  config = configOf(join(directory, 'new'))
  const tried = await tryRestore(config)
  expect(tried.contents.receipts).toBeGreaterThanOrEqual(copy.contents.receipts)
  expect(await readdir(config.dataDir)).toEqual([])

  const restored = await restore(config)
  expect(restored).toMatchObject({ copy: { name: copy.name } })
  expect(restored.contents.receipts).toBeGreaterThanOrEqual(copy.contents.receipts)
  expect((await readdir(config.dataDir)).sort()).toEqual(['postgres', 'postgres.password'])

  await begin()
  // People read it, and nothing leaves before somebody has looked.
  const dashboard = await client.call<{ avisos?: { texto: string }[] }>('GET', '/v1/api/Dashboard')
  expect(JSON.stringify(dashboard.body.data)).toMatch(/O sistema voltou de uma cópia de segurança de \d\d\/\d\d\/\d{4}/)
  expect(await registrations()).toEqual(registered)
  await operate(config, (ctx) => releaseHeld(ctx, { withoutAutomatic: false }))

  // Documents that arrived after the copy are fetched again.
  const truth = (await truthOf(simulator, company.cnpj)).map(({ service, nsu }) => `${service} ${Number(nsu)}`).sort()
  const mine = async () =>
    (
      await ask<{ key: string }>(
        "select case service when 0 then 'nfe' else 'cte' end || ' ' || nsu as key from receipt where nsu > 0",
      )
    )
      .map(({ key }) => key)
      .sort()
  await expect.poll(mine, patience).toEqual(truth)

  // Here the second event was never asked for; the authority knows better.
  const again = await client.list(`TipoDFe=0&CampoPesquisa=${second!.chave}`)
  const response = await acknowledge(again[0]!.idDfe)
  expect(response.body).toMatchObject({ data: { documentos: [{ situacao: 'registrada', codigo: 573 }] } })
  expect(await registrations()).toEqual(registered)
}, 400_000)

test('what was restored is copied again', async () => {
  const { copy } = await backUp(config)
  expect((await listCopies(config)).copies).toHaveLength(2)
  expect(await tryRestore(config)).toMatchObject({ copy: { name: copy.name } })
  await end()
}, 120_000)

test('without its master key a restored installation does not start, and makes no other', async () => {
  const dataDir = join(directory, 'keyless')
  const keyless: Config = { ...config, dataDir, masterKey: undefined }
  await restore(keyless)
  await expect(start(keyless, { roles: ['api'] })).rejects.toThrow('Falta a chave mestra')
  expect(await readdir(dataDir)).not.toContain('master.key')
  // Recovered from where it was kept apart.
  await writeFile(join(dataDir, 'master.key'), `${masterKey.toString('base64')}\n`, { mode: 0o600 })
  await using found = await start(keyless, { roles: ['api'] })
  expect((await fetch(`${found.url}/health`)).status).toBe(200)
}, 120_000)
