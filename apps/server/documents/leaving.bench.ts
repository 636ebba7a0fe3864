import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { ExportItem } from '@vigia/contract/documents'
import { report } from '../../../bench/measure.ts'
import { startDatabase } from '../../../tests/support/postgres.ts'
import { readConfig } from '../config.ts'
import { serveRoutes } from '../http/http.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, openDatabase, pools } from '../platform/database.ts'
import { createPublicIds } from '../platform/ids.ts'
import { createLogger } from '../platform/log.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { insertCompany, newWorkspace, openTestSession, roomyStorage } from '../platform/testing.ts'
import { createVault } from '../platform/vault.ts'
import { createPrinter } from '../print/printer.ts'
import { testSigner } from '../signer/testing.ts'
import { receive } from './documents.ts'
import { documentRoutes } from './routes.ts'
import { arrive, nfeProc } from './testing.ts'
import { startExportWorker } from './worker.ts'

// "Sair com tudo" of a workspace with 100,000 NF-e of five companies, and a spreadsheet of them, from the call until the file is ready, in one process
// with API and worker: time, memory beyond what the process had before, and how long the event loop stood still. Then the file is fetched over loopback.
const documents = Number(process.env.BENCH_DOCUMENTS ?? 100_000)
const companies = 5
const atOnce = 500

// As many as an NF-e of 7 kB has.
const items = (number: number) =>
  Array.from({ length: 6 }, (_, index) => {
    const code = ((number * 7_919 + index * 104_729) % 1_000_003).toString(36).toUpperCase()
    const amount = ((number * 31 + index * 17) % 90_000) / 100
    return `<det nItem="${index + 1}"><prod><cProd>${code}</cProd><cEAN>SEM GTIN</cEAN><xProd>PRODUTO ${code} ${number}</xProd><NCM>${10_000_000 + ((number * 13 + index) % 89_999_999)}</NCM><CFOP>5102</CFOP><uCom>UN</uCom><qCom>${(number % 90) + 1}.0000</qCom><vUnCom>${amount}</vUnCom><vProd>${amount}</vProd><uTrib>UN</uTrib><indTot>1</indTot></prod><imposto><ICMS><ICMS00><orig>0</orig><CST>00</CST><modBC>3</modBC><vBC>${amount}</vBC><pICMS>18.00</pICMS><vICMS>${amount}</vICMS></ICMS00></ICMS></imposto></det>`
  }).join('')

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
await migrate(postgres.url)
const ctx: Context = {
  db: openDatabase(postgres.url, pools.worker),
  config: readConfig({}, '/'),
  log: createLogger('error'),
  vault: createVault(Buffer.alloc(32, 7)),
  signer: testSigner(postgres.url),
  ids: createPublicIds(Buffer.alloc(16, 7)),
  printer: createPrinter(),
  storage: roomyStorage,
}
const workspaceId = await newWorkspace(ctx.db)
const session = await openTestSession(ctx.db, workspaceId)
const app = await serveRoutes(ctx, documentRoutes, async () => session)
await app.listen({ port: 0, host: '127.0.0.1' })
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const worker = startExportWorker(ctx, ctx.db)
const path = '/v1/api/DocumentosFiscais'

async function call<T>(method: string, address: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${'x'.repeat(43)}`, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(url + address, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const { success, message, data } = (await response.json()) as { success: boolean; message: string; data: T }
  if (!success) throw new Error(message)
  return data
}

async function fillWorkspace(): Promise<void> {
  for (let n = 0; n < companies; n++) {
    const cnpj = `4455566600018${n}`
    const { id } = await insertCompany(ctx.db, workspaceId, { cnpj, name: `EMPRESA ${n} LTDA` })
    const each = documents / companies
    for (let from = n * each; from < (n + 1) * each; from += atOnce) {
      const arrivals = Array.from({ length: Math.min(atOnce, (n + 1) * each - from) }, (_, index) => {
        const number = from + index + 1
        // Signature and certificate do not compress.
        const signature = `<infAdic><infCpl>${randomBytes(1_400).toString('base64')}</infCpl></infAdic></infNFe>`
        const xml = nfeProc({ number, recipient: cnpj })
          .replace('<total>', `${items(number)}<total>`)
          .replace('</infNFe>', signature)
        return arrive(number, xml)
      })
      await inWorkspace(ctx, workspaceId, (ctx) => receive(ctx, { workspaceId, companyId: id, cnpj }, 'nfe', arrivals))
    }
  }
}

/** Carries out `work`, and what it took. */
async function measured(work: () => Promise<number>) {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let peak = before
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 50)
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  const cpu = process.cpuUsage()
  const began = performance.now()
  const bytes = await work()
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1))
  const { user, system } = process.cpuUsage(cpu)
  loop.disable()
  clearInterval(sampler)
  const mb = (count: number) => Math.round(count / 1024 ** 2)
  return {
    seconds,
    cpuSeconds: Number(((user + system) / 1e6).toFixed(1)),
    mb: mb(bytes),
    memoryMb: { before: mb(before), peak: mb(peak) },
    loopMs: { p99: Math.round(loop.percentile(99) / 1e6), max: Math.round(loop.max / 1e6) },
  }
}

async function made(): Promise<ExportItem> {
  for (;;) {
    const [file] = await call<ExportItem[]>('GET', `${path}/exportacoes`)
    if (file?.situacao === 'falhou') throw new Error(file.problema ?? 'failed')
    if (file?.situacao === 'pronta') return file
    await setTimeout(500)
  }
}

async function fetchWhole({ id }: ExportItem): Promise<number> {
  const { endereco } = await call<{ endereco: string }>('POST', `${path}/exportacoes/${id}/link`)
  let bytes = 0
  for await (const chunk of (await fetch(url + endereco)).body!) bytes += chunk.length
  return bytes
}

try {
  await fillWorkspace()
  for (const [kind, ask] of [
    ['everything', () => call('POST', `${path}/sair-com-tudo`, { pdf: false })],
    ['spreadsheet', () => call('POST', `${path}/exportar`, { filtro: { TipoDFe: 0 }, xml: false, planilha: true })],
  ] as const) {
    let file: ExportItem | undefined
    const making = await measured(async () => {
      await ask()
      file = await made()
      return file.bytes
    })
    const fetching = await measured(() => fetchWhole(file!))
    report('leaving', { kind, documents, making, fetching })
  }
} finally {
  app.server.closeAllConnections()
  await app.close()
  await worker[Symbol.asyncDispose]()
  await ctx.printer[Symbol.asyncDispose]()
  await ctx.db.destroy()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}
