import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig, start } from '@vigia/server/start'
import { startInstallation } from '../tests/support/installation.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { createAccount, enter, registerCompany, waitForCapture } from '../tests/support/stage.ts'
import { median, report } from './measure.ts'

// The list of a neighbour and /health beside sixteen connections of a stranger at another address, who sends one kind of
// request as fast as it is taken: medians of three runs, each against a quiet moment before it. Then forty people behind
// one address, each with a page of six calls just after a start: all of them have to be served.

interface Attack {
  method?: string
  path: string
  headers?: () => Record<string, string>
  body?: string | Buffer
  connections?: number
}

const random = () => crypto.randomUUID().replaceAll('-', '').repeat(2)
const json = (value: unknown) => ({
  body: JSON.stringify(value),
  headers: () => ({ 'content-type': 'application/json' }),
})
const fields = Object.fromEntries(Array.from({ length: 18_000 }, (_, n) => [`f${n}`, 1]))
const login = { method: 'POST', path: '/v1/api/Auth' }
const list = '/v1/api/DocumentosFiscais?TipoDFe=0'
const bearer = (token: () => string) => () => ({ authorization: `Bearer ${token()}` })
const large = { body: Buffer.alloc(11e6, 'x'), headers: () => ({ 'content-type': 'application/json' }) }
const form = Buffer.from(
  `--x\r\nContent-Disposition: form-data; name="Certificado"; filename="a.pfx"\r\n\r\n${'x'.repeat(30_000)}\r\n--x\r\nContent-Disposition: form-data; name="Senha"\r\n\r\nsegredo\r\n--x--\r\n`,
)
const attacks: Record<string, (tokens: string[]) => Attack> = {
  fields: () => ({ ...login, ...json(fields) }),
  email: () => ({ ...login, ...json({ email: `${'a'.repeat(240_000)}@x.br`, senha: 'x' }) }),
  login: () => ({ ...login, ...json({ email: 'ninguem@exemplo.com.br', senha: 'errada-sempre' }) }),
  bodiesOpen: () => ({ ...login, ...large }),
  bodiesClosed: () => ({ method: 'POST', path: '/v1/api/DocumentosFiscais/exportar', ...large }),
  tokens: () => ({ path: list, headers: bearer(random), connections: 128 }),
  keys: () => ({ path: list, headers: bearer(() => `vigia_${random()}`) }),
  hub: () => ({ method: 'POST', path: '/notification-hub/negotiate?negotiateVersion=1', headers: bearer(random) }),
  tickets: () => ({ path: `/v1/api/DocumentosFiscais/exportacao/${random()}` }),
  passkeys: () => ({ method: 'POST', path: '/v1/api/Auth/desafio' }),
  docs: () => ({ path: '/docs/static/swagger-ui-bundle.js', headers: () => ({ 'accept-encoding': 'br' }) }),
  newcomers: (tokens) => {
    let n = 0
    const headers = () => ({
      'content-type': 'multipart/form-data; boundary=x',
      ...bearer(() => tokens[n++ % tokens.length]!)(),
    })
    return { method: 'POST', path: '/v1/api/Empresas', body: form, headers }
  },
}

interface Order {
  url: string
  name: string
  from: string
  tokens: string[]
}

const order = process.argv[2]?.startsWith('attack:') ? (JSON.parse(process.argv[2].slice(7)) as Order) : null
await (order ? attack(order) : measure())

async function attack({ url, name, from, tokens }: Order): Promise<void> {
  const { method = 'GET', path, headers, body, connections = 16 } = attacks[name]!(tokens)
  const agent = new Agent({ keepAlive: true, maxSockets: connections, localAddress: from })
  const { hostname, port } = new URL(url)
  const statuses: Record<string, number> = {}
  const send = () =>
    new Promise<void>((resolve) => {
      const length: Record<string, string> = body ? { 'content-length': String(body.length) } : {}
      const call = request(
        { hostname, port, method, path, agent, headers: { ...headers?.(), ...length } },
        (response) => {
          statuses[response.statusCode!] = (statuses[response.statusCode!] ?? 0) + 1
          response.resume().once('close', resolve)
        },
      )
      call.once('error', () => {
        statuses.cut = (statuses.cut ?? 0) + 1
        resolve()
      })
      call.end(body)
    })
  process.once('message', () => process.send!(statuses, () => process.exit()))
  process.send!('begun')
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (;;) await send()
    }),
  )
}

async function measure(): Promise<void> {
  const [runs, runMs] = [3, 2_000]
  const company = { cnpj: '11222333000181', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabase(directory))
  const { door } = readConfig({}, directory)
  const options = { simulator: { companies: [company] }, config: { door } }
  const product = stack.use(await startInstallation(postgres.url, options))
  const { url } = product
  const neighbour = await createAccount(product, 'vizinha@escritorio.example')
  await registerCompany(product, neighbour, company)
  await waitForCapture(product, neighbour)
  const tokens: string[] = []
  for (const n of [1, 2, 3, 4]) tokens.push((await createAccount(product, `novo${n}@estranho.example`)).token)
  const people = [neighbour.token]

  const time = async (path: string) => {
    const began = performance.now()
    const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${neighbour.token}` } })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`the neighbour got ${response.status}`)
    return performance.now() - began
  }
  const look = async () => {
    const seen: { list: number[]; health: number[] } = { list: [], health: [] }
    for (const until = performance.now() + runMs; performance.now() < until; await setTimeout(20)) {
      seen.list.push(await time(list))
      seen.health.push(await time('/health'))
    }
    return { list: median(seen.list), health: median(seen.health) }
  }
  const memory = () => Math.round(process.memoryUsage().rss / 1024 ** 2)
  const middle = (all: Awaited<ReturnType<typeof look>>[]) => ({
    list: median(all.map((one) => one.list)),
    health: median(all.map((one) => one.health)),
  })
  // Compiles what is measured.
  await look()
  const alone: Awaited<ReturnType<typeof look>>[] = []
  const before = memory()
  let address = 1
  const beside: Record<string, { ratio: number; healthMoreMs: number; statuses: Record<string, number> }> = {}
  for (const name of Object.keys(attacks)) {
    const seen = []
    const statuses: Record<string, number> = {}
    for (let run = 0; run < runs; run++) {
      const quiet = await look()
      alone.push(quiet)
      const from = `127.0.1.${++address}`
      const child = fork(import.meta.filename, [`attack:${JSON.stringify({ url, name, from, tokens })}`])
      await Promise.race([
        once(child, 'message'),
        once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended`))),
      ])
      const disturbed = await look()
      seen.push({ list: disturbed.list / quiet.list, health: disturbed.health - quiet.health })
      child.send('end')
      const [got] = (await once(child, 'message')) as [Record<string, number>]
      for (const [status, n] of Object.entries(got)) statuses[status] = (statuses[status] ?? 0) + n
      await once(child, 'exit')
    }
    const { list, health } = middle(seen)
    beside[name] = { ratio: round(list), healthMoreMs: round(health), statuses }
  }
  // As after a restart: another process of the API knows none of them. Their pages come within a second.
  for (let n = 1; n < 40; n++) people.push((await enter(product, neighbour.email)).token)
  const restarted = stack.use(await start(product.config, { roles: ['api'] }))
  const page = async (token: string, n: number) => {
    await setTimeout(25 * n)
    const calls = Array.from({ length: 6 }, () =>
      fetch(new URL('/v1/api/Empresas/obter-empresas', restarted.url), {
        headers: { authorization: `Bearer ${token}` },
      }),
    )
    return (await Promise.all(calls)).map(({ status }) => status)
  }
  const office = (await Promise.all(people.map(page))).flat()
  const officeRefused = office.filter((status) => status !== 200).length
  report(
    'door',
    {
      goal: { ratio: 5, healthMoreMs: 20, officeRefused: 0 },
      aloneMs: { list: round(middle(alone).list), health: round(middle(alone).health) },
      memoryMB: { before, after: memory() },
      officeRefused,
      beside,
    },
    [
      ...Object.entries(beside).map(([name, { ratio, healthMoreMs }]) => ({
        what: `list of a neighbour beside sixteen connections of a stranger: ${name}`,
        number: `ratio ${ratio}, /health ${healthMoreMs} ms more`,
        against: 'a quiet moment before it',
        goal: 'ratio ≤ 5, 20 ms more',
      })),
      { what: 'office of forty after a restart', number: `${officeRefused} calls refused`, against: '', goal: '0' },
    ],
  )
}

function round(value: number): number {
  return Number(value.toFixed(1))
}
