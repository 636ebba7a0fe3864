import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { createDatabase, onOneServer } from '../../../../tests/support/database.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import type { Criteria } from '../filter.ts'
import { newOffice, type TestWorkspace } from '../office.testing.ts'
import { readQuery } from './search.ts'

const log = createLogger('silent')
let stack: AsyncDisposableStack
let db: Database
let workspace: TestWorkspace
// Before a connection keeps it.
const sent = vi.spyOn(pg.Client.prototype, 'query')

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  stack.defer(() => sent.mockRestore())
  const database = stack.use(await createDatabase())
  db = openDatabase(database.url)
  stack.defer(() => db.destroy())
  workspace = await newOffice(db)
})
afterAll(() => stack.disposeAsync())

/** How often all chaves are read before the list is. */
async function scansOf(criteria: Partial<Criteria>): Promise<number> {
  return inWorkspace({ db, log }, workspace.id, async ({ db }) => {
    sent.mockClear()
    await readQuery(db, workspace.id, { type: 0, ...criteria })
    const statements = sent.mock.calls
      .map((call) => call as unknown[])
      .map(([query, values]) => (typeof query === 'string' ? { text: query, values } : (query as pg.QueryConfig)))
    let scans = 0
    for (const { text, values } of statements.filter(({ text }) => text.includes('chave like'))) {
      const { rows } = await db.executeQuery<{ 'QUERY PLAN': { Plan: Node }[] }>(
        CompiledQuery.raw(`explain (analyze, format json) ${text}`, values as unknown[]),
      )
      scans += scansIn(rows[0]!['QUERY PLAN'][0]!.Plan)
    }
    return scans
  })
}

interface Node {
  Filter?: string
  'Relation Name'?: string
  'Actual Loops': number
  Plans?: Node[]
}
const scansIn = (node: Node): number =>
  (node['Relation Name'] === 'document' && node.Filter?.includes('~~') ? node['Actual Loops'] : 0) +
  (node.Plans ?? []).reduce((sum, inner) => sum + scansIn(inner), 0)

// The plan of a cluster does not show it.
onOneServer.each<[string, number, Partial<Criteria>]>([
  ['a part of a chave', 1, { text: '1234567890' }],
  ['beside a name', 1, { text: 'empresa 1234567890' }],
  ['several parts', 0, { text: Array.from({ length: 18 }, (_, n) => 1_234_567_890 + n).join(' ') }],
  ['with dates', 0, { text: '1234567890', from: '2026-10-01T00:00:00' }],
  ['until a date', 0, { text: '1234567890', to: '2026-10-31T23:59:59' }],
  ['with a month', 0, { text: '1234567890 10/2026' }],
  ['with a day of any year', 0, { text: '1234567890 15/10' }],
  ['no part of a chave', 0, { text: 'empresa' }],
])('%s: all chaves are read %i times before the list', async (_, scans, criteria) => {
  expect(await scansOf(criteria)).toBe(scans)
})
