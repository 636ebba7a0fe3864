import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readConfig, start as startServer } from '@vigia/server/start'
import { start as startAuthority } from '@vigia/simulator/start'
import pg from 'pg'
import { newClient } from '../tests/support/client.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { median, report } from './measure.ts'

// What it costs to register a company with its certificate when nothing else happens: the CPU of the process, threads and the client of
// this program included, and for how long the event loop was held.

const registrations = 100
const senha = 'segredo'
const before = 10
const cnpjs = Array.from({ length: before + registrations }, (_, index) => {
  const first12 = `${44_000_000 + index}0001`
  return first12 + cnpjCheckDigits(first12)
})

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
// As `npm start` does.
process.env.NODE_COMPILE_CACHE = join(directory, 'compiled')
try {
  await using postgres = await startDatabase(directory, { durable: true })
  await using authority = await startAuthority({ port: 0, directory: join(directory, 'simulator'), seed: 1 })
  const certificates = new Map<string, Uint8Array>()
  for (const cnpj of cnpjs) {
    const subject = { cnpj, nome: 'EMPRESA LTDA', uf: 'SC', senha, sharedKey: true }
    certificates.set(cnpj, await authority.issueCertificate(subject))
  }
  const env = { PORT: '0', DATA_DIR: directory, DATABASE_URL: postgres.url, SIMULATOR_PORT: String(authority.port) }
  await using api = await startServer(readConfig({ ...env, LOG_LEVEL: 'error' }, directory), { roles: ['api'] })
  const client = await newClient({
    url: api.url,
    simulator: { issueCertificate: async ({ cnpj = '' }) => certificates.get(cnpj)! },
  })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  // An office may have as many companies as it likes.
  await database.query('update workspace set plan = 3')
  await database.end()
  for (const cnpj of cnpjs.slice(0, before)) await client.register(cnpj)

  const cpu = process.cpuUsage()
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const times: number[] = []
  for (const cnpj of cnpjs.slice(before)) {
    const began = performance.now()
    await client.register(cnpj)
    times.push(performance.now() - began)
  }
  loop.disable()
  const { user, system } = process.cpuUsage(cpu)
  report('register', {
    registrations,
    cpuMs: Number(((user + system) / 1000 / registrations).toFixed(1)),
    ms: Math.round(median(times)),
    loopMsP99: Math.round(loop.percentile(99) / 1e6),
    loopMsMax: Math.round(loop.max / 1e6),
  })
} finally {
  await rm(directory, { recursive: true, force: true })
}
