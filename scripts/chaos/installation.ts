import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '@vigia/server/start'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import type pg from 'pg'
import { weeksAgo } from '../../tests/support/authority.ts'
import { type Client, newClient } from '../../tests/support/client.ts'
import { keepAnnouncements } from './announcements.ts'
import { type AuthorityCall, createAuthority, type Remote } from './authority.ts'
import { createChance } from './chance.ts'
import { type Door, openDoor } from './door.ts'
import { databaseIsDown, giveDisks, whileRowsMove } from './faults.ts'
import { findPort, openFront } from './front.ts'
import type { ChaosPlan, PlannedCompany } from './plan.ts'
import { type RoleProcess, startRole } from './processes.ts'
import type { RoleOrder } from './role.ts'
import { type Servers, startServers } from './servers.ts'

/** A company as one workspace has it. */
export interface RegisteredCompany extends PlannedCompany {
  id: string
  client: Client
  workspace: number
}

/** The whole product, with the authority that it talks to. */
export interface Installation {
  authority: Remote
  /** As somebody who sees all rows. */
  database: pg.Pool
  servers: Servers
  /** That of each process of the product. */
  config: Config
  companies: RegisteredCompany[]
  /** When the last company was registered. */
  installedAt: number
  /** What the processes of the product wrote. */
  complaints: string[]
  /** To the database, of each process of the product; empty unless the plan has several APIs. */
  doors: ReadonlySet<Door>
  startWorker(signal?: AbortSignal): Promise<RoleProcess | null>
  /** Kills an API and starts it again at its address. */
  restartApi(index: number): Promise<void>
  /** Starts a worker that reaches its database through a door. */
  startWorkerBehindDoor(): Promise<AsyncDisposable & { door: Door }>
  /** Replaces the authority by one that remembers everything, to which new documents come or none. Nobody may be calling it. */
  replaceAuthority(how: 'calm' | 'busy'): Promise<void>
  /** Copies the database; with `bringBack` the copy takes its place. No worker may run; the API is started again. */
  copyDatabase(): Promise<{ bringBack(): Promise<void> }>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts everything but the workers, with the companies of the plan registered. */
export async function install(plan: ChaosPlan): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-chaos-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const servers = stack.use(await startServers(directory, plan))
  const named = new Map(plan.workspaces.flat().map((company) => [company.cnpj, company]))
  const options = { directory: join(directory, 'simulator'), seed: plan.seed, hourMs: plan.hourMs }
  const busy = { companies: [...named.values()], since: weeksAgo(), liveEveryMs: plan.liveEveryMs }
  let simulator: Simulator = await startSimulator({ ...options, port: 0, ...busy })
  stack.defer(() => simulator[Symbol.asyncDispose]())
  const before: AuthorityCall[] = []
  const authority = createAuthority(simulator.port, before)

  const order: Omit<RoleOrder, 'role'> = {
    directory,
    environment: {
      PORT: '0',
      DATA_DIR: directory,
      DATABASE_URL: servers.url,
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
  const doors = new Set<Door>()
  const clocks = createChance(plan.seed + 10)
  const complain = (line: string) =>
    void complaints.push(performance.now() < servers.movingUntil ? `${whileRowsMove}${line}` : line)
  const startProcess = async (
    role: RoleOrder['role'],
    signal?: AbortSignal,
    environment = order.environment,
  ): Promise<RoleProcess | null> => {
    if (!plan.processes) return startRole({ ...order, environment, role }, complain, { signal })
    const url = new URL(environment.DATABASE_URL!)
    const door = await openDoor(Number(url.port))
    url.port = String(door.port)
    const close = async () => {
      doors.delete(door)
      await door[Symbol.asyncDispose]()
    }
    const aheadMs = clocks.pick([0, Math.round(clocks.between(-clockMsMax, clockMsMax))])
    const started = await startRole(
      { ...order, environment: { ...environment, DATABASE_URL: url.href }, role },
      complain,
      {
        signal,
        aheadMs,
      },
    ).catch(async (error: unknown) => {
      await close()
      throw error
    })
    if (!started) {
      await close()
      return null
    }
    doors.add(door)
    void started.ended.then(close)
    return started
  }
  // As its supervisor would. What it failed by is compared with the trouble in the end.
  let isOver = false
  const insistOn = async (start: () => Promise<RoleProcess | null>): Promise<RoleProcess | null> => {
    for (let failures = 0; ; failures++) {
      try {
        return await start()
      } catch (error) {
        if (isOver || (!databaseIsDown.test(String(error)) && failures >= startsMax)) throw error
        complaints.push(String(error))
      }
    }
  }
  const startWorker = (signal?: AbortSignal) => insistOn(() => startProcess('worker', signal))
  const ports = await Promise.all(Array.from({ length: plan.apis }, findPort))
  const apis: RoleProcess[] = []
  stack.defer(async () => void (await Promise.all(apis.map((api) => api.stop()))))
  const startApi = async (index: number) => {
    const environment = () => ({ ...order.environment, PORT: String(ports[index]) })
    apis[index] = (await insistOn(() => startProcess('api', undefined, environment())))!
  }
  const startApis = async () => void (await Promise.all(ports.map((_, index) => startApi(index))))
  const stopApis = async () => void (await Promise.all(apis.splice(0).map((api) => api.stop())))
  await startApi(0)
  // It has migrated the database.
  await stopApis()
  order.environment.DATABASE_URL = await servers.giveClock()
  await keepAnnouncements(servers)
  await giveDisks(servers)
  await startApis()
  const front = plan.processes ? stack.use(await openFront(ports, directory)) : null
  const apiUrl = front?.url ?? apis[0]!.url
  const { database } = servers

  const companies: RegisteredCompany[] = []
  for (const [index, workspace] of plan.workspaces.entries()) {
    const client = orAway(await newClient({ url: apiUrl, simulator }))
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
    servers,
    config: readConfig(order.environment, directory),
    companies,
    installedAt,
    complaints,
    doors,
    startWorker,
    async restartApi(index) {
      await apis[index]!.kill()
      await startApi(index)
    },
    async startWorkerBehindDoor() {
      await using stack = new AsyncDisposableStack()
      const url = new URL(order.environment.DATABASE_URL!)
      const door = stack.use(await openDoor(Number(url.port)))
      url.port = String(door.port)
      const environment = { ...order.environment, DATABASE_URL: url.href }
      const worker = (await startRole({ ...order, environment, role: 'worker' }, complain))!
      stack.defer(() => worker.kill())
      const owned = stack.move()
      return { door, [Symbol.asyncDispose]: () => owned.disposeAsync() }
    },
    async replaceAuthority(how) {
      before.push(...(await authority.calls()))
      const { port } = simulator
      await simulator[Symbol.asyncDispose]()
      simulator = await startSimulator({ ...options, port, ...(how === 'busy' && busy) })
    },
    async copyDatabase() {
      const whileClosed = async (work: () => Promise<void>) => {
        await stopApis()
        await work()
        await startApis()
      }
      await whileClosed(servers.copy)
      return { bringBack: () => whileClosed(servers.bringBack) }
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      await owned.disposeAsync()
    },
  }
}

const startsMax = 5
// Both ways.
const clockMsMax = 180_000

// A process that was killed does not answer: what became of the call nobody knows, as when the database is down.
function orAway(client: Client): Client {
  return {
    ...client,
    call: (method, path, body) =>
      client.call<never>(method, path, body).catch((error: unknown) => {
        if (!(error instanceof TypeError)) throw error
        const message = String(error.cause ?? error)
        return {
          status: 503,
          body: { success: false, message, data: null as never, errors: [] },
          bytes: Buffer.alloc(0),
        }
      }),
  }
}

async function register(client: Client, simulator: Simulator, company: PlannedCompany): Promise<string> {
  const { cnpj, nome, uf, certificateOf, acknowledges } = company
  const pfx = await simulator.issueCertificate({
    cnpj: certificateOf ?? cnpj,
    nome,
    uf,
    senha: 'segredo',
    sharedKey: true,
  })
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
