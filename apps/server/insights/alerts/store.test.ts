import { createArchive } from '@vigia/checks/alerts/archive'
import type { AlertFacts } from '@vigia/checks/alerts/facts'
import { freight, generate, later, note, randomOf, supplierOf } from '@vigia/checks/alerts/generate'
import { judge } from '@vigia/checks/alerts/judge'
import { defaultSettings } from '@vigia/checks/alerts/settings'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { bands, judgeDue } from './judging.ts'
import { putFacts } from './store.ts'

// Here no document is refused.
const log = Object.assign(createLogger('silent'), {
  error: (about: { err: unknown }) => {
    throw about.err
  },
})

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
const asOf = Date.parse('2026-11-25T12:00:00Z')
const settings = { ...defaultSettings, asOf }

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

async function newStore() {
  const workspaceId = await newWorkspace(db)
  const companies = new Map<string, Promise<number>>()
  const ids = new Map<string, bigint>()
  const companyOf = (facts: AlertFacts) => {
    const { base, establishments } = facts.company
    const known =
      companies.get(base) ?? insertCompany(db, workspaceId, { cnpj: establishments[0]!.taxId }).then(({ id }) => id)
    companies.set(base, known)
    return known
  }
  const idOf = (facts: AlertFacts) => {
    const key = keyOf(facts)
    const id = ids.get(key) ?? BigInt(ids.size + 1)
    ids.set(key, id)
    return id
  }
  return {
    workspaceId,
    put: async (some: readonly AlertFacts[], gone: readonly AlertFacts[] = []) => {
      const changes = await Promise.all([
        ...some.map(async (facts) => ({ documentId: idOf(facts), companyId: await companyOf(facts), facts })),
        ...gone.map(async (facts) => ({ documentId: idOf(facts), companyId: await companyOf(facts), facts: null })),
      ])
      await inWorkspace({ db }, workspaceId, async ({ db }) => {
        await putFacts({ db }, workspaceId, changes)
        while ((await judgeDue({ db, log }, workspaceId, { asOf }, 200)).length > 0);
      })
    },
    verdicts: async () =>
      inWorkspace({ db }, workspaceId, async ({ db }) => {
        const { rows } = await sql<{ key: string; score: number; band: number; fired: unknown }>`
          select company_base || ' ' || chave as key, score, band, fired from alert where workspace_id = ${workspaceId}`.execute(
          db,
        )
        return Object.fromEntries(
          rows.map(({ key, score, band, ...row }) => [key, { ...row, score: score / 100, band: bands[band] }]),
        )
      }),
  }
}

const keyOf = ({ company, chave }: AlertFacts) => `${company.base} ${chave}`

function expected(documents: readonly AlertFacts[]) {
  const archive = createArchive(documents)
  const verdicts = documents.map((facts) => [keyOf(facts), judge(facts, archive.history(facts), settings)] as const)
  // As they are read back: what is undefined is not there.
  const plain = verdicts.flatMap(([key, { fired, score, band }]) =>
    fired.length > 0 ? [[key, JSON.parse(JSON.stringify({ fired, score, band }))] as const] : [],
  )
  return Object.fromEntries(plain)
}

function shuffled<T>(some: readonly T[], random: () => number): T[] {
  return some
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}

test('documents and events in any order have the verdicts of packages/checks/alerts', async () => {
  const seed = 3
  const random = randomOf(seed)
  // A few contacts are written by few, and one by many.
  const contacts = (number: number) =>
    ['fone 1', 'fone 2', 'fone 3', 'fone 4'].filter(
      (_, n) => random() < (n === 0 ? 0.1 : number % 9 === n ? 0.4 : 0.01),
    )
  const documents = generate(seed, { suppliers: 4, cases: 1 }).documents.map((facts) =>
    facts.nfe && random() < 0.3
      ? { ...facts, issuer: { ...facts.issuer, contacts: contacts(Number(facts.issuer.taxId!.slice(0, 8))) } }
      : facts,
  )
  const store = await newStore()
  // First as what says less: without its events.
  const early = documents
    .filter(() => random() < 0.15)
    .map((facts) => ({ ...facts, issuer: { ...facts.issuer, contacts: undefined }, events: [] }))
  const arrivals = [...shuffled(early, random), ...shuffled(documents, random)]
  for (let from = 0; from < arrivals.length; ) {
    const size = random() < 0.1 ? 1 : 1 + Math.floor(random() * 120)
    await store.put(arrivals.slice(from, from + size))
    from += size
  }
  expect(await store.verdicts()).toEqual(expected(documents))
  const [left, gone] = [documents.filter((_, index) => index % 9 > 0), documents.filter((_, index) => index % 9 === 0)]
  await store.put([], gone)
  expect(await store.verdicts()).toEqual(expected(left))
})

test('a company learns from the start, also when its first documents come last', async () => {
  const { documents } = generate(1, { suppliers: 4, cases: 0 })
  const company = documents[0]!.company
  const issuer = supplierOf(51_000_001, 'PAPELARIA BOA VISTA LTDA')
  const habit = Array.from({ length: 34 }, (_, n) =>
    note({ company, issuer, at: later('2026-01-05T09:00:00', n * 2 * 1_440), amount: 500 + n, numero: 5_000 + 7 * n }),
  )
  const stranger = note({
    company,
    issuer: supplierOf(51_000_002, 'GRAFICA NOVA LTDA'),
    at: '2026-03-10T11:00:00',
    amount: 30_000,
    numero: 7_700,
  })
  const all = [...habit, stranger]
  for (const order of [all, all.toReversed()]) {
    const store = await newStore()
    for (const facts of order) await store.put([facts])
    expect(await store.verdicts()).toEqual(expected(all))
  }
})

test('what carries a note, and who shares a contact, is seen when it comes and missed when it goes', async () => {
  const { documents } = generate(1, { suppliers: 4, cases: 0 })
  const company = documents[0]!.company
  const far = supplierOf(51_000_003, 'MADEIRAS DO NORTE LTDA', { uf: 'PA', cUF: 15, contacts: ['fone 9133334444'] })
  const sent = note({
    ...{ company, issuer: far, at: '2026-05-10T11:00:00', amount: 30_000, numero: 7_700 },
    nfe: { cfops: ['6102'] },
  })
  const carried = freight({
    ...{ company, issuer: supplierOf(51_000_004, 'TRANSPORTES SUL LTDA'), at: '2026-05-12T11:00:00', amount: 900 },
    ...{ numero: 880, cites: [sent.chave] },
  })
  const neighbour = note({
    ...{ company, issuer: { ...supplierOf(51_000_005, 'TINTAS ORIEVERDE LTDA'), contacts: far.contacts } },
    ...{ at: '2026-03-10T11:00:00', amount: 100, numero: 90 },
  })
  const store = await newStore()
  const rules = async () => {
    const fired = (await store.verdicts())[keyOf(sent)]?.fired as { id: string }[]
    return fired.map(({ id }) => id).filter((id) => id === 'S19' || id === 'S21')
  }
  await store.put([sent])
  expect(await rules()).toEqual(['S21'])
  await store.put([carried])
  expect(await rules()).toEqual([])
  await store.put([neighbour])
  expect(await rules()).toEqual(['S19'])
  await store.put([{ ...neighbour, issuer: { ...neighbour.issuer, contacts: [] } }], [carried])
  expect(await rules()).toEqual(['S21'])
})
