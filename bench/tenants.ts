import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Role, readConfig, start } from '@vigia/server/start'
import { start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { startDatabase } from '../tests/support/postgres.ts'
import { fill, type Volume } from '../tests/support/volume.ts'

/** A running API whose workspaces are full, with a token for each of them. */
export interface Tenants {
  url: string
  /** The login of the schema. */
  owner: pg.Client
  tenants: { token: string; workspaceId: number }[]
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the product on a database of its own, only the API of it unless told, signs up an account for each volume, and fills its workspace. */
export async function startTenants(
  volumes: Omit<Volume, 'workspaceId'>[],
  { roles = ['api'] }: { roles?: Role[] } = {},
): Promise<Tenants> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabase(directory, { durable: true }))
  // A worker trusts the simulator's authority, though nothing is captured here.
  if (roles.includes('worker'))
    stack.use(await startSimulator({ port: 0, directory: join(directory, 'simulator'), documentsEach: 0 }))
  const environment = { PORT: '0', DATA_DIR: directory, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' }
  const server = stack.use(await start(readConfig(environment, directory), { roles }))
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
  return { url: server.url, owner, tenants, [Symbol.asyncDispose]: () => owned.disposeAsync() }
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
