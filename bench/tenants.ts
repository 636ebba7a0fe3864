import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig, start } from '@vigia/server/start'
import pg from 'pg'
import { type SimulatorProcess, startSimulator } from '../scripts/simulator-process.ts'
import { startWorker } from '../scripts/worker-process.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { fill, type Volume } from '../tests/support/volume.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A running API whose workspaces are full, with a token for each of them. */
export interface Tenants {
  url: string
  /** The login of the schema. */
  owner: pg.Client
  tenants: { token: string; workspaceId: number }[]
  /** Where there is a worker, the authority that it asks: its hour has a second, that of the product an hour. */
  simulator: SimulatorProcess | null
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts the API on a database of its own, and where it is told a worker beside it as `npm start` does; signs up an account for each volume, and fills its
 * workspace.
 */
export async function startTenants(
  volumes: Omit<Volume, 'workspaceId'>[],
  { withWorker = false } = {},
): Promise<Tenants> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabase(directory, { durable: true }))
  const configure = (port: number, hourMs: number) => {
    const environment = { PORT: '0', DATA_DIR: directory, DATABASE_URL: postgres.url, SIMULATOR_PORT: String(port) }
    const config = readConfig({ ...environment, LOG_LEVEL: 'error' }, directory)
    return { ...config, sefaz: { ...config.sefaz, hourMs, marginMs: hourMs / 12 } }
  }
  const simulator = withWorker ? stack.use(await startSimulator(root, configure(0, 1_000), [])) : null
  const config = configure(simulator?.port ?? 0, 3_600_000)
  const server = stack.use(await start(config, { roles: ['api'] }))
  if (withWorker) await stack.use(startWorker(config)).begun
  const owner = new pg.Client({ connectionString: postgres.url })
  await owner.connect()
  stack.defer(() => owner.end())
  const tenants: Tenants['tenants'] = []
  for (const index of volumes.keys()) {
    const account = {
      nome: 'Ana Souza',
      email: `ana${index}@exemplo.com.br`,
      senha: 'notas-da-ana-em-dia',
      tipoPlano: 2,
    }
    await post(server.url, '/v1/api/Usuarios', account)
    const { token, wsId } = await post<{ token: string; wsId: string }>(server.url, '/v1/api/Auth', account)
    const { rows } = await owner.query<{ id: number }>('select id from workspace where public_id = $1', [wsId])
    tenants.push({ token, workspaceId: rows[0]!.id })
  }
  await fill(
    owner,
    volumes.map((volume, index) => ({ ...volume, workspaceId: tenants[index]!.workspaceId })),
  )
  const owned = stack.move()
  return { url: server.url, owner, tenants, simulator, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function post<T>(url: string, path: string, body: object): Promise<T> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const envelope = (await response.json()) as { success: boolean; message: string; data: T }
  if (!envelope.success) throw new Error(`${path}: ${envelope.message}`)
  return envelope.data
}
