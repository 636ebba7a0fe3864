import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { median, report } from '../../../../bench/measure.ts'
import { startDatabase } from '../../../../tests/support/postgres.ts'
import { openDatabase } from '../../platform/database.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { readReport } from './reports.ts'
import type { Question } from './sums.ts'
import { fillSums } from './volume.testing.ts'

// Reports of a year of a million documents.

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
const times: Record<string, number[]> = {}
const db = openDatabase(postgres.url, { connections: 1 })
try {
  for (let round = -1; round < rounds; round++)
    for (const [name, part] of Object.entries(questions)) {
      const ms = await timed(() => readReport({ db }, 1, { ...year, ...part }, 1))
      if (round >= 0) times[name] = [...(times[name] ?? []), ms]
    }
  const medians = Object.entries(times).map(([name, all]) => [name, Math.round(median(all))] as const)
  report('reports', { goals: { ms: 1000 }, ms: Object.fromEntries(medians) }, [
    {
      what: 'reports of a year of a million documents',
      number: `${medians.map(([name, ms]) => `${name} ${ms}`).join(', ')} ms`,
      against: '',
      goal: '1000 ms',
    },
  ])
} finally {
  await db.destroy()
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
