import { createArchive } from '@vigia/checks/alerts/archive'
import { type AlertFacts, baseOf, cancellationOf, isPurchase } from '@vigia/checks/alerts/facts'
import { generate, randomOf } from '@vigia/checks/alerts/generate'
import { askOf } from '@vigia/checks/alerts/history'
import { judge } from '@vigia/checks/alerts/judge'
import { keptFacts } from '@vigia/checks/alerts/kept'
import { defaultSettings } from '@vigia/checks/alerts/settings'
import { cents } from '@vigia/checks/alerts/values'
import { chaveParts } from '@vigia/dfe/chave'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { thorough } from '../../../../tests/support/seed.ts'
import { noteChanges } from '../../documents/changes.ts'
import { recordsOf } from '../../documents/store.ts'
import type { Database } from '../../platform/context.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { carryOutDue } from '../../platform/jobs/testing.ts'
import { serviceCodes } from '../../platform/service.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { dateOf } from './history.ts'
import { nightOf } from './night.ts'
import { judgeRead } from './queue.ts'
import { bands } from './verdicts.ts'

const { ctx } = await useContext()
const asOf = Date.parse('2026-11-25T12:00:00Z')
const keyOf = ({ company, chave }: AlertFacts) => `${company.base} ${chave}`

function expected(documents: readonly AlertFacts[]) {
  const archive = createArchive(documents)
  const verdicts = documents.map((facts) => ({
    key: keyOf(facts),
    ...judge(facts, archive.history(facts), { ...defaultSettings, asOf }),
  }))
  // As they are read back: what is undefined is not there.
  return Object.fromEntries(
    verdicts.flatMap(({ key, fired, score, band }) =>
      fired.length > 0 ? [[key, JSON.parse(JSON.stringify({ fired, score, band }))]] : [],
    ),
  )
}

/** A workspace whose documents are rows as the arrival writes them, and are judged as they were given. */
async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const inside = <T>(work: (db: Database) => Promise<T>) => inWorkspace(ctx, workspaceId, ({ db }) => work(db))
  const supplier = await inside(async (db) => {
    const { rows } = await sql<{ id: number }>`
      insert into supplier (workspace_id, tax_id, name, search) values (${workspaceId}, '1', 'x', 'x') returning id`.execute(
      db,
    )
    return rows[0]!.id
  })
  const companies = new Map<string, number>()
  const known = new Map<string, { id: bigint; facts: AlertFacts }>()
  const judgeWaiting = () =>
    inside(async (db) => {
      const { rows } = await sql<{ id: bigint; companyId: number }>`
        update document set judged_at = now() where workspace_id = ${workspaceId} and (judged_at is null or not isfinite(judged_at))
        returning id, company_id as "companyId"`.execute(db)
      const all = new Map([...known.values()].map(({ id, facts }) => [id, facts]))
      const read = rows.map(({ id, companyId }) => ({ documentId: id, companyId, facts: all.get(id)! }))
      for (let start = 0; start < read.length; start += 50)
        await judgeRead({ db }, workspaceId, asOf, read.slice(start, start + 50), new Set())
    })
  return {
    put: async (arrived: readonly AlertFacts[]) => {
      const some = [...new Map(arrived.map((facts) => [keyOf(facts), facts])).values()]
      for (const { base, establishments } of some.map(({ company }) => company))
        if (!companies.has(base))
          companies.set(base, (await insertCompany(ctx.db, workspaceId, { cnpj: establishments[0]!.taxId })).id)
      for (const facts of some) {
        const id = known.get(keyOf(facts))?.id ?? BigInt(known.size + 1)
        known.set(keyOf(facts), { id, facts })
      }
      const rows = some.map((facts) => rowOf(facts, known.get(keyOf(facts))!.id, companies.get(facts.company.base)!))
      await inside((db) => write(db, workspaceId, supplier, rows))
      await judgeWaiting()
    },
    night: async () => {
      await inside((db) => queueJob({ db }, { kind: 'alerts-night', workspaceId }))
      await carryOutDue(ctx, [nightOf(100_000)])
      await judgeWaiting()
    },
    verdicts: () =>
      inside(async (db) => {
        const { rows } = await sql<{ key: string; score: number; band: number; fired: unknown }>`
          select company_base || ' ' || chave as key, score, band, fired from alert where workspace_id = ${workspaceId}`.execute(
          db,
        )
        return Object.fromEntries(
          rows.map(({ key, fired, score, band }) => [key, { fired, score: score / 100, band: bands[band] }]),
        )
      }),
  }
}

const types = {
  ...{
    id: 'bigint',
    company: 'int',
    type: 'smallint',
    chave: 'text',
    number: 'bigint',
    amount: 'numeric',
    complete: 'boolean',
  },
  ...{
    purchase: 'boolean',
    standing: 'boolean',
    cancelled: 'timestamptz',
    month: 'date',
    at: 'timestamptz',
    cents: 'bigint',
  },
  ...{ base: 'text', issuer: 'text', contingency: 'text', facts: 'jsonb', cites: 'text[]' },
}

function rowOf(facts: AlertFacts, id: bigint, company: number) {
  const { companyBase, issuerBase, at, contingency, cited } = askOf(facts)
  const { chave, complete, amount, issuedAt, situation, cte } = facts
  const cancelled = cancellationOf(facts)
  const trip = cte && {
    ...{ carrier: { taxId: '', name: '' }, vTPrest: amount, notes: [], cites: 0, ...cte },
    ...{ from: { uf: cte.ufIni, cMun: cte.cMunIni }, to: { uf: cte.ufFim, cMun: cte.cMunFim } },
  }
  return {
    ...{ id, company, chave, amount, complete, contingency, base: companyBase, issuer: issuerBase, cites: cited },
    ...{ type: serviceCodes[facts.type], number: chaveParts(chave).numero, at: dateOf(at), cents: cents(amount) },
    ...{ purchase: isPurchase(facts), standing: situation === 'authorized' && cancelled === null },
    ...{ cancelled: cancelled === '' ? '-infinity' : cancelled, month: `${issuedAt.slice(0, 7)}-01` },
    facts: keptFacts(facts, trip),
  }
}

async function write(db: Database, workspaceId: number, supplier: number, rows: readonly ReturnType<typeof rowOf>[]) {
  const records = recordsOf(rows, types)
  await sql`
    insert into document (workspace_id, id, company_id, supplier_id, type, chave, number, amount, complete, issued_at, nsu, event_code, roles, status, base_status)
    select ${workspaceId}, r.id, r.company, ${supplier}, r.type, r.chave, r.number, r.amount, r.complete, r.at at time zone 'UTC', 0, 0, 0, 0, 0 from ${records}
    on conflict (workspace_id, id) do update set judged_at = null`.execute(db)
  const ids = rows.map(({ id }) => id)
  await sql`delete from document_facts where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(
    db,
  )
  await sql`
    insert into document_facts (workspace_id, document_id, company_id, type, chave, purchase, standing, cancelled_at, counted, month, at, cents, company_base,
                                issuer_base, contingency, facts, sums)
    select ${workspaceId}, r.id, r.company, r.type, r.chave, r.purchase, r.standing, r.cancelled, false, r.month, r.at, r.cents, r.base, r.issuer, r.contingency,
           r.facts, '{}' from ${records} on conflict do nothing`.execute(db)
  await sql`
    insert into document_cite (workspace_id, chave, document_id)
    select distinct ${workspaceId}::int, c.chave, r.id from ${records} cross join lateral unnest(r.cites) c (chave) on conflict do nothing`.execute(
    db,
  )
  noteChanges(
    { db },
    workspaceId,
    rows.map(({ id, company }) => ({ documentId: id, companyId: company, kind: 'new' })),
  )
}

function shuffled<T>(some: readonly T[], random: () => number): T[] {
  return some
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}

test.each(thorough ? [1, 2, 3, 4, 5] : [3])(
  'after the night, documents and events in any order have the verdicts of packages/checks (seed %i)',
  async (seed) => {
    const random = randomOf(seed)
    // A few contacts are written by few, and one by many.
    const contacts = (number: number) =>
      ['fone 1', 'fone 2', 'fone 3', 'fone 4'].filter(
        (_, n) => random() < (n === 0 ? 0.1 : number % 9 === n ? 0.4 : 0.01),
      )
    const documents = generate(seed, { suppliers: 4, cases: 1 }).documents.map((facts) =>
      facts.nfe && random() < 0.3
        ? { ...facts, issuer: { ...facts.issuer, contacts: contacts(Number(baseOf(facts.issuer.taxId))) } }
        : facts,
    )
    // First as what says less: without its events.
    const early = documents
      .filter(() => random() < 0.15)
      .map((facts) => ({ ...facts, issuer: { ...facts.issuer, contacts: undefined }, events: [] }))
    const arrivals = [...shuffled(early, random), ...shuffled(documents, random)]
    const office = await newOffice()
    for (let start = 0; start < arrivals.length; ) {
      const size = 1 + Math.floor(random() * 120)
      await office.put(arrivals.slice(start, start + size))
      if (random() < 0.15) await office.night()
      start += size
    }
    await office.night()
    expect(await office.verdicts()).toEqual(expected(documents))
  },
)
