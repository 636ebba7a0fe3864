import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readConfig, start as startServer } from '@vigia/server/start'
import { start as startSimulator } from '@vigia/simulator/start'
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
    companies,
    hourMs: 60_000,
  })
  const config = readConfig(
    { PORT: '0', DATA_DIR: directory, SIMULATOR_PORT: String(simulator.port), LOG_LEVEL: 'error' },
    directory,
  )
  await using server = await startServer(config, { roles: ['api', 'worker'] })
  const token = await signUp(server.url)
  const began = performance.now()
  await Promise.all(
    companies.map(async (company) => {
      const form = new FormData()
      form.append(
        'Certificado',
        new File([new Uint8Array(await simulator.issueCertificate({ ...company, senha: 'bench' }))], 'empresa.pfx'),
      )
      form.append('Senha', 'bench')
      const response = await fetch(`${server.url}/v1/api/Empresas`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${token}` },
      })
      if (!response.ok) throw new Error(await response.text())
    }),
  )
  const registeredMs = performance.now() - began
  const expected = (await Promise.all(companies.map((company) => truth(simulator.origin, company.cnpj)))).flat().length
  const documents = await settled(server.url, token)
  const seconds = (performance.now() - began) / 1000
  report('capture', {
    companies: companies.length,
    deliveries: expected,
    documents,
    registeredMs: Math.round(registeredMs),
    deliveriesPerSecond: Math.round(expected / seconds),
  })
} finally {
  await rm(directory, { recursive: true, force: true })
}

async function signUp(url: string): Promise<string> {
  const account = { nome: 'Bench', email: 'bench@exemplo.com.br', senha: 'segredo1' }
  const post = (path: string) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(account),
      headers: { 'content-type': 'application/json' },
    })
  await post('/v1/api/Usuarios')
  return ((await (await post('/v1/api/Auth')).json()) as { data: { token: string } }).data.token
}

async function truth(origin: string, cnpj: string): Promise<unknown[]> {
  const response = await fetch(`${origin.replace('https:', 'http:')}/_control/truth?cnpj=${cnpj}`)
  return ((await response.json()) as { documents: unknown[] }).documents
}

async function settled(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  for (;;) {
    const { data } = (await (await fetch(`${url}/v1/api/Empresas/obter-empresas`, { headers })).json()) as {
      data: { captura: { ultimoNsu: string; maxNsu: string }[] }[]
    }
    const lines = data.flatMap((company) => company.captura)
    if (lines.every((line) => Number(line.maxNsu) > 0 && line.ultimoNsu === line.maxNsu)) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const counts = await Promise.all(
    [0, 2].map(
      async (type) =>
        (await (await fetch(`${url}/v1/api/DocumentosFiscais?TipoDFe=${type}`, { headers })).json()) as {
          data: { totalDeItens: number }
        },
    ),
  )
  return counts.reduce((sum, count) => sum + count.data.totalDeItens, 0)
}
