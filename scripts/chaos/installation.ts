import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { weeksAgo } from '../../tests/support/authority.ts'
import { type Client, newClient } from '../../tests/support/client.ts'
import { startDatabase } from '../../tests/support/postgres.ts'
import { type AuthorityCall, createAuthority, type Remote } from './authority.ts'
import { type Door, openDoor } from './door.ts'
import type { ChaosPlan, PlannedCompany } from './plan.ts'
import { type RoleProcess, startRole } from './processes.ts'
import type { RoleOrder } from './role.ts'

/** A company as one workspace has it. */
export interface RegisteredCompany extends PlannedCompany {
  id: string
  client: Client
  workspace: number
}

/** The whole product, with the authority that it talks to. */
export interface Installation {
  authority: Remote
  database: pg.Pool
  companies: RegisteredCompany[]
  /** When the last company was registered. */
  installedAt: number
  /** What the processes of the product wrote. */
  complaints: string[]
  startWorker(signal?: AbortSignal): Promise<RoleProcess | null>
  /** Starts a worker that reaches its database through a door. */
  startWorkerBehindDoor(): Promise<AsyncDisposable & { door: Door }>
  /** Replaces the authority by one that remembers everything, and to which no new documents come. Nobody may be calling it. */
  calmAuthority(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts everything but the workers, with the companies of the plan registered. */
export async function install(plan: ChaosPlan): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-chaos-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabase(directory))
  const named = new Map(plan.workspaces.flat().map((company) => [company.cnpj, company]))
  const options = { directory: join(directory, 'simulator'), seed: plan.seed, hourMs: plan.hourMs }
  let simulator: Simulator = await startSimulator({
    ...options,
    port: 0,
    companies: [...named.values()],
    since: weeksAgo(),
    liveEveryMs: plan.liveEveryMs,
  })
  stack.defer(() => simulator[Symbol.asyncDispose]())
  const before: AuthorityCall[] = []
  const authority = createAuthority(simulator.port, before)

  const order: Omit<RoleOrder, 'role'> = {
    directory,
    environment: {
      PORT: '0',
      DATA_DIR: directory,
      DATABASE_URL: postgres.url,
      SIMULATOR_PORT: String(simulator.port),
      LOG_LEVEL: 'error',
    },
    times: {
      hourMs: plan.hourMs,
      pagePauseMs: plan.hourMs / 1800,
      marginMs: plan.marginMs,
      answerMs: plan.answerMs,
    },
  }
  const complaints: string[] = []
  const startProcess = (role: RoleOrder['role'], signal?: AbortSignal, environment = order.environment) =>
    startRole({ ...order, environment, role }, (line) => complaints.push(line), signal)
  const api = (await startProcess('api'))!
  stack.defer(() => api.stop())
  const database = new pg.Pool({ connectionString: postgres.url, max: 4 })
  database.on('error', () => {})
  stack.defer(() => database.end())

  const companies: RegisteredCompany[] = []
  for (const [index, workspace] of plan.workspaces.entries()) {
    const client = await newClient({ url: api.url, simulator })
    for (const company of workspace) {
      const id = await register(client, simulator, company)
      companies.push({ ...company, id, client, workspace: index })
    }
  }
  const installedAt = Date.now()
  const owned = stack.move()
  return {
    authority,
    database,
    companies,
    installedAt,
    complaints,
    startWorker: (signal) => startProcess('worker', signal),
    async startWorkerBehindDoor() {
      await using stack = new AsyncDisposableStack()
      const url = new URL(postgres.url)
      const door = stack.use(await openDoor(Number(url.port)))
      url.port = String(door.port)
      const worker = (await startProcess('worker', undefined, { ...order.environment, DATABASE_URL: url.href }))!
      stack.defer(() => worker.kill())
      const owned = stack.move()
      return { door, [Symbol.asyncDispose]: () => owned.disposeAsync() }
    },
    async calmAuthority() {
      before.push(...(await authority.calls()))
      const { port } = simulator
      await simulator[Symbol.asyncDispose]()
      simulator = await startSimulator({ ...options, port })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function register(client: Client, simulator: Simulator, company: PlannedCompany): Promise<string> {
  const { cnpj, nome, uf, certificateOf, acknowledges } = company
  const pfx = await simulator.issueCertificate({ cnpj: certificateOf ?? cnpj, nome, uf, senha: 'segredo' })
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
  form.append('Senha', 'segredo')
  if (certificateOf) form.append('Cnpj', cnpj)
  const { body } = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', form)
  if (!body.success) throw new Error(`${cnpj}: ${body.message}`)
  if (acknowledges) await acknowledge(client, body.data.idEmpresa, nome)
  return body.data.idEmpresa
}

async function acknowledge(client: Client, id: string, nome: string): Promise<void> {
  const form = new FormData()
  form.append('IdEmpresa', id)
  form.append('RazaoSocial', nome)
  form.append('ConfiguracoesNfe.ManifestarCienciaAutomaticamente', 'true')
  const { body } = await client.call('PUT', '/v1/api/Empresas', form)
  if (!body.success) throw new Error(`${nome}: ${body.message}`)
}
