import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readConfig, start as startServer } from '@vigia/server/start'
import { start as startAuthority } from '@vigia/simulator/start'
import pg from 'pg'
import { startSimulator } from '../scripts/simulator-process.ts'
import { type Client, newClient } from '../tests/support/client.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { median, report } from './measure.ts'

// Two thousand companies of one customer at once, and a newcomer with one company behind them: when it has its first response, when all have,
// what a registration costs the API meanwhile, and the CPU of server and authority. Against it the newcomer alone.

const root = fileURLToPath(new URL('..', import.meta.url))
const companies = 2_000
const registrations = 20
const hourMs = 600_000
const senha = 'segredo'

const cnpjOf = (base: number, index: number) => {
  const first12 = String(base) + String(index + 1).padStart(4, '0')
  return first12 + cnpjCheckDigits(first12)
}
const office = 44_555_666
const newcomer = '11222333000181'
const alone = '12345678000195'

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
// As `npm start` does.
process.env.NODE_COMPILE_CACHE = join(directory, 'compiled')
try {
  await using postgres = await startDatabase(directory, { durable: true })
  const certificates = new Map<string, Uint8Array>()
  {
    await using authority = await startAuthority({ port: 0, directory: join(directory, 'simulator'), seed: 1, hourMs })
    for (const cnpj of [cnpjOf(office, 0), newcomer, alone])
      certificates.set(cnpj, await authority.issueCertificate({ cnpj, nome: 'EMPRESA LTDA', uf: 'SC', senha }))
  }
  await cp(join(directory, 'simulator'), join(directory, 'run', 'simulator'), { recursive: true })
  const configure = (port: number) => {
    const dataDir = join(directory, 'run')
    const env = { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: postgres.url, SIMULATOR_PORT: String(port) }
    const config = readConfig({ ...env, LOG_LEVEL: 'error' }, dataDir)
    return { ...config, sefaz: { ...config.sefaz, hourMs, pagePauseMs: 0, marginMs: hourMs / 12 } }
  }
  await using simulator = await startSimulator(root, configure(0), [])
  const config = configure(simulator.port)
  await using api = await startServer(config, { roles: ['api'] })
  const open = () =>
    newClient({
      url: api.url,
      simulator: {
        issueCertificate: async ({ cnpj = '' }) => certificates.get(cnpj) ?? certificates.get(cnpjOf(office, 0))!,
      },
    })
  const database = new pg.Client({ connectionString: postgres.url })
  database.on('error', () => {})
  await database.connect()
  await using _worker = await startServer(config, { roles: ['worker'] })

  const answered = async (cnpj: string): Promise<number> => {
    const began = performance.now()
    for (;;) {
      const { rows } = await database.query(
        'select from capture_line where cnpj = $1 and service = 0 and last_success_at is not null',
        [cnpj],
      )
      if (rows.length > 0) return performance.now() - began
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const single = await open()
  await single.register(alone)
  const aloneMs = await answered(alone)

  const owner = await open()
  // An office may have as many companies as it likes.
  await database.query('update workspace set plan = 3')
  await owner.register(cnpjOf(office, 0))
  await answered(cnpjOf(office, 0))
  const cpu = process.cpuUsage()
  const began = performance.now()
  await database.query(
    `with first as (select workspace_id, name, search, uf from company where cnpj = $1),
          filial as (insert into company (workspace_id, cnpj, name, search, uf)
                     select workspace_id, unnest($2::text[]), name, search, uf from first returning workspace_id, id, cnpj),
          line as (insert into capture_line (service, cnpj, next_at, first_rank)
                   select service, cnpj, now(), row_number() over (order by cnpj) from filial, (values (0), (2)) v (service) returning id, cnpj)
     insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
     select l.id, f.workspace_id, f.id, now() from line l join filial f using (cnpj)`,
    [cnpjOf(office, 0), Array.from({ length: companies }, (_, index) => cnpjOf(office, index + 1))],
  )
  const guest: Client = await open()
  await guest.register(newcomer)
  const newcomerMs = await answered(newcomer)
  const registering: number[] = []
  for (let index = 0; index < registrations; index++) {
    const at = performance.now()
    await registerFilial(owner, cnpjOf(office, companies + 1 + index), certificates.get(cnpjOf(office, 0))!)
    registering.push(performance.now() - at)
  }
  for (;;) {
    const { rows } = await database.query('select from capture_line where last_success_at is null limit 1')
    if (rows.length === 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  const { rows } = await database.query('select count(*)::int as blocked from capture_line where state <> $1', [
    'waiting',
  ])
  await database.end()
  report('crowd', {
    companies,
    seconds: Math.round(ms / 1000),
    newcomerMs: Math.round(newcomerMs),
    aloneMs: Math.round(aloneMs),
    registerMs: Math.round(median(registering)),
    serverCpuSeconds: Math.round((user + system) / 1e6),
    notWaiting: rows[0].blocked,
  })
} finally {
  await rm(directory, { recursive: true, force: true })
}

async function registerFilial(client: Client, cnpj: string, pfx: Uint8Array): Promise<void> {
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
  form.append('Senha', senha)
  form.append('Cnpj', cnpj)
  const { body } = await client.call('POST', '/v1/api/Empresas', form)
  if (!body.success) throw new Error(`${cnpj}: ${body.message}`)
}
