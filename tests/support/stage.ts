import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { login, signUp } from '@vigia/contract/accounts'
import { createCompany, listCompanies } from '@vigia/contract/companies'
import type { RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { caller, openDemo } from '../../scripts/demo.ts'
import type { SimulatedCompany } from '../../scripts/simulator-process.ts'
import { buildWeb } from '../../scripts/web-build.ts'
import { order } from './authority.ts'
import { type Installation, startInstallation } from './installation.ts'
import { startDatabase } from './postgres.ts'

/** Login that the site keeps in the storage of the browser. */
export interface StoredSession {
  token: string
  wsId: string
  email: string
}

/** The product with its site and the demonstration, for programs that look at it. */
export interface Stage extends Installation {
  /** Session of the demonstration, whose documents have all arrived. */
  session: StoredSession
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Starts everything on free ports and data of its own, the simulated authority knowing `others` besides the companies of the demonstration. */
export async function startStage(others: readonly SimulatedCompany[] = []): Promise<Stage> {
  await using stack = new AsyncDisposableStack()
  await buildWeb(root, () => {})
  const directory = await mkdtemp(join(tmpdir(), 'vigia-stage-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabase(directory))
  const product = stack.use(
    await startInstallation(postgres.url, { simulator: { story: true, companies: [...others] } }),
  )
  const { demo } = product.config
  if (!demo) throw new Error('the configuration has no demonstration')
  const simulator = {
    issueCertificate: (company: SimulatedCompany, senha: string) => certificateOf(product, company, senha),
    control: <T>(method: 'GET' | 'POST', path: string) => order<T>(product.simulator, path, undefined, method),
  }
  const options = { apiUrl: product.url, config: product.config, login: demo, simulator, say: () => {} }
  await (await openDemo(options))!.goOn(AbortSignal.timeout(300_000))
  const session = await openSession(product, { email: demo.email, senha: demo.password })
  const owned = stack.move()
  return { ...product, session, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const senha = 'notas-em-dia-2026'

/** Signs up `email` and enters. */
export async function createAccount(stage: Pick<Installation, 'url'>, email: string): Promise<StoredSession> {
  await callApi(stage, signUp, { body: { nome: 'Ana Souza', email, senha, tipoPlano: 2 } })
  return enter(stage, email)
}

/** Enters as somebody who signed up here. */
export async function enter(stage: Pick<Installation, 'url'>, email: string): Promise<StoredSession> {
  return openSession(stage, { email, senha })
}

/** Registers `company` with a certificate of the simulated authority, as any client would. */
export async function registerCompany(
  stage: Pick<Installation, 'url' | 'simulator'>,
  session: StoredSession,
  company: SimulatedCompany,
): Promise<void> {
  const senha = 'senha do arquivo'
  const form = new FormData()
  form.append('Certificado', await certificateOf(stage, company, senha), `${company.cnpj}.pfx`)
  form.append('Senha', senha)
  await callApi(stage, createCompany, { session, form })
}

/** Waits until everything that the authority has for the companies of the session is here. */
export async function waitForCapture(stage: Pick<Installation, 'url'>, session: StoredSession): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await setTimeout(200)) {
    const known = await callApi(stage, listCompanies, { session })
    const services = known.flatMap(({ captura }) => captura!)
    if (services.every(({ estado, ultimoNsu, maxNsu }) => estado === 'aguardando' && ultimoNsu === maxNsu)) return
  }
  throw new Error('the documents of the companies do not arrive')
}

async function openSession(
  stage: Pick<Installation, 'url'>,
  body: { email: string; senha: string },
): Promise<StoredSession> {
  return { ...(await callApi(stage, login, { body })), email: body.email }
}

async function certificateOf(
  { simulator }: Pick<Installation, 'simulator'>,
  company: SimulatedCompany,
  senha: string,
): Promise<Blob> {
  return new Blob([new Uint8Array(await simulator.issueCertificate({ ...company, senha, sharedKey: true }))])
}

async function callApi<R extends RouteDefinition>(
  { url }: Pick<Installation, 'url'>,
  route: R,
  { session, body, form }: { session?: StoredSession; body?: RouteRequest<R>['body']; form?: FormData },
): Promise<RouteData<R>> {
  return caller(url, session?.token)(route, { ...(body && { body }), ...(form && { form }) })
}
