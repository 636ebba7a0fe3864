import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { readConfig, start as startServer } from '@vigia/server/start'
import { start as startAuthority } from '@vigia/simulator/start'
import pg from 'pg'
import { newClient } from '../tests/support/client.ts'
import { startDatabase } from '../tests/support/postgres.ts'
import { report } from './measure.ts'

// Three hundred certificates of an office at once, each with a password of its own: two hundred renew a company, one hundred register one. From
// the first call until the last file was decided, and the CPU of API, worker and the client of this program in one process; the captures of
// these companies begin meanwhile. Then the same files again under names that tell no CNPJ, so that many passwords are tried on each.

const files = 300
const known = 200
const day = 86_400_000
const path = '/v1/api/Empresas/certificados-em-lote'

const holders = Array.from({ length: files }, (_, index) => {
  const first12 = `${44_000_000 + index}0001`
  return { cnpj: first12 + cnpjCheckDigits(first12), senha: `segredo ${index}` }
})

interface Batch {
  trocados: number
  cadastrados: number
  semMudanca: number
  encerrado: boolean
}

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
// As `npm start` does.
process.env.NODE_COMPILE_CACHE = join(directory, 'compiled')
try {
  await using postgres = await startDatabase(directory, { durable: true })
  await using authority = await startAuthority({ port: 0, directory: join(directory, 'simulator'), seed: 1 })
  const fileOf = async ({ cnpj, senha }: (typeof holders)[number], name: string, expires?: number) => {
    const holder = { cnpj, nome: 'EMPRESA LTDA', uf: 'SC', senha, sharedKey: true, expires }
    return { nome: name, conteudo: Buffer.from(await authority.issueCertificate(holder)).toString('base64') }
  }
  type SentFile = Awaited<ReturnType<typeof fileOf>>
  const old: SentFile[] = []
  const fresh: SentFile[] = []
  for (const holder of holders.slice(0, known))
    old.push(await fileOf(holder, `${holder.cnpj}.pfx`, Date.now() + 20 * day))
  for (const holder of holders) fresh.push(await fileOf(holder, `${holder.cnpj}.pfx`))

  const env = { PORT: '0', DATA_DIR: directory, DATABASE_URL: postgres.url, SIMULATOR_PORT: String(authority.port) }
  const config = readConfig({ ...env, LOG_LEVEL: 'error' }, directory)
  await using server = await startServer(config, { roles: ['api', 'worker'] })
  const client = await newClient({ url: server.url, simulator: authority })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  await database.query('update workspace set plan = 3')
  await database.end()

  const senhas = holders.map(({ cnpj, senha }) => `${cnpj};${senha}`).join('\n')
  const send = async (all: readonly SentFile[]) => {
    const cpu = process.cpuUsage()
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const began = performance.now()
    const begun = await client.call<{ idLote: string }>('POST', path, { senhas, totalDeArquivos: all.length })
    const { idLote } = begun.body.data
    for (let sent = 0; sent < all.length; sent += 20) {
      const body = { arquivos: all.slice(sent, sent + 20), ultimos: sent + 20 >= all.length }
      const added = await client.call('POST', `${path}/${idLote}/arquivos`, body)
      if (!added.body.success) throw new Error(added.body.message)
    }
    const sentAt = performance.now()
    for (;;) {
      await setTimeout(250)
      const { body } = await client.call<Batch[]>('GET', path)
      const [batch] = body.data
      if (!batch?.encerrado) continue
      const { user, system } = process.cpuUsage(cpu)
      loop.disable()
      const { trocados, cadastrados, semMudanca } = batch
      return {
        seconds: Number(((performance.now() - began) / 1000).toFixed(1)),
        ofSending: Number(((sentAt - began) / 1000).toFixed(1)),
        cpuSeconds: Number(((user + system) / 1e6).toFixed(1)),
        loopMsP99: Math.round(loop.percentile(99) / 1e6),
        replaced: trocados,
        registered: cadastrados,
        unchanged: semMudanca,
      }
    }
  }
  await send(old)
  const renewed = await send(fresh)
  // In another order than that of the list: 137 and the number of files have no common divisor.
  const mixed = fresh.map((_, index) => fresh[(index * 137) % files]!)
  const unnamed = await send(mixed.map((file, index) => ({ ...file, nome: `${index}.pfx` })))
  report('renew', { files, renewed, unnamed })
} finally {
  await rm(directory, { recursive: true, force: true })
}
