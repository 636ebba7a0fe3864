import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { median, report } from '../../../bench/measure.ts'
import { startDatabase } from '../../../tests/support/postgres.ts'
import { openDatabase } from '../platform/database.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { type Question, readReport } from './reports.ts'
import { fillSums } from './volume.testing.ts'

// Reports of a year of a million documents, when nobody asked before and when somebody did.

const year: Question = {
  subject: 'compras',
  group: 'participante',
  from: '2026-01',
  to: '2026-12',
  companyId: undefined,
  text: '',
}
const month = { from: '2026-06', to: '2026-06' }
const questions: Record<string, Partial<Question>> = {
  supplier: {},
  month: { group: 'mes' },
  cfop: { group: 'cfop' },
  ncm: { group: 'ncm' },
  uf: { group: 'uf' },
  product: { group: 'produto' },
  productOfMonth: { group: 'produto', ...month },
  productOfCompany: { group: 'produto', companyId: 3 },
  supplierByName: { text: 'fornecedor 12' },
  productByName: { group: 'produto', text: 'caneta modelo 12' },
}
const rounds = 5

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
await migrate(postgres.url)
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
await fillSums(owner)
const firsts: Record<string, number[]> = {}
const agains: Record<string, number[]> = {}
try {
  for (let round = -1; round < rounds; round++)
    for (const [name, part] of Object.entries(questions)) {
      // Answers are kept for each database that is opened: this one knows none.
      const db = openDatabase(postgres.url, { connections: 1 })
      await readReport({ db }, 1, { ...year, group: 'uf' }, 99)
      const ask = () => timed(() => readReport({ db }, 1, { ...year, ...part }, 1))
      const times = [await ask(), await ask()]
      await db.destroy()
      if (round < 0) continue
      firsts[name] = [...(firsts[name] ?? []), times[0]!]
      agains[name] = [...(agains[name] ?? []), times[1]!]
    }
  const medians = (all: Record<string, number[]>) =>
    Object.fromEntries(Object.entries(all).map(([name, times]) => [name, Math.round(median(times))]))
  report('reports', {
    goals: { firstMs: 1000, againMs: 100 },
    firstMs: medians(firsts),
    againMs: medians(agains),
  })
} finally {
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
