import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readConfig, start as startServer } from '@vigia/server/start'
import { start as startSimulator } from '@vigia/simulator/start'
import { truthOf, weeksAgo } from '../tests/support/authority.ts'
import { type List, newClient } from '../tests/support/client.ts'
import { report } from './measure.ts'

// The whole way: simulator → mutual TLS → SOAP → bytes, rows and counters committed. A page pause of two seconds is the rule against
// the real authority; here it is scaled away as in every simulated ambiente, and what remains is the work.
const withDigits = (first12: string) => first12 + cnpjCheckDigits(first12)
const companies = Array.from({ length: 10 }, (_, index) => ({
  cnpj: withDigits(`4455566${index}0001`),
  nome: `EMPRESA ${index} LTDA`,
  uf: 'SP',
}))
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
try {
  await using simulator = await startSimulator({
    port: 0,
    directory: join(directory, 'simulator'),
    seed: 1,
    since: weeksAgo(),
    companies,
    hourMs: 60_000,
  })
  const config = readConfig(
    { PORT: '0', DATA_DIR: directory, SIMULATOR_PORT: String(simulator.port), LOG_LEVEL: 'error' },
    directory,
  )
  await using server = await startServer(config, { roles: ['api', 'worker'] })
  const client = await newClient({ url: server.url, simulator })
  const began = performance.now()
  await Promise.all(companies.map(({ cnpj, nome }) => client.register(cnpj, nome)))
  const registeredMs = performance.now() - began
  const deliveries = (await Promise.all(companies.map(({ cnpj }) => truthOf(simulator, cnpj)))).flat().length
  await client.captured({ timeoutMs: 600_000, everyMs: 20 })
  const seconds = (performance.now() - began) / 1000
  const lists = await Promise.all(
    [0, 2].map((type) => client.call<List>('GET', `/v1/api/DocumentosFiscais?TipoDFe=${type}`)),
  )
  report('capture', {
    companies: companies.length,
    deliveries,
    documents: lists.reduce((sum, { body }) => sum + body.data.totalDeItens, 0),
    registeredMs: Math.round(registeredMs),
    deliveriesPerSecond: Math.round(deliveries / seconds),
  })
} finally {
  await rm(directory, { recursive: true, force: true })
}
