import { reachMax } from '@vigia/contract/documents'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { onOneServer } from '../../../../tests/support/database.ts'
import type { Database } from '../../platform/context.ts'
import { useDatabase, useOwner } from '../../platform/database.testing.ts'
import { inWorkspace, limitTo, openDatabase, pools, readWorkspace } from '../../platform/database.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { countDocuments, searchDocuments, selectIds } from '../list/list.ts'
import { type DocumentWords, findWithWords, putWords } from './document-words.ts'
import { termQuestion } from './terms.ts'

const { db, url } = await useDatabase()
const owner = await useOwner(url)
const always = { from: '0001-01-01T00:00:00', until: '9999-01-01T00:00:00' }
let workspaceId: number
let companies: number[]
let ids: bigint[]

// A note a day, from the newest back through nearly ten years.
const notes = 3_400

beforeAll(async () => {
  // A copy of a database has the tables of the original, not its rights.
  await migrate(url)
  ;({ workspaceId, companies, ids } = await newOffice(notes))
  await put((index) => [
    'papel',
    `resto${index % 7}`,
    `cod:${index}`,
    'placa:abc1d23',
    ...(index === notes - 1 ? ['raro'] : []),
  ])
  await owner.query('vacuum analyze document_words')
})

const dayOf = (index: number) => new Date(Date.UTC(2026, 10, 29) - index * 86_400_000).toISOString().slice(0, 19)

async function newOffice(count: number) {
  const workspaceId = await newWorkspace(db)
  const first = await insertCompany(db, workspaceId, { cnpj: '11222333000181' })
  const second = await insertCompany(db, workspaceId, { cnpj: '44555666000181' })
  const companies = [first.id, second.id]
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ id: bigint }>`
      with issuer as (
        insert into supplier (workspace_id, tax_id, name, search) values (${workspaceId}, '99888777000166', 'ALFA', 'alfa') returning id),
      added as (
        insert into document (workspace_id, company_id, issued_at, nsu, supplier_id, number, event_code, type, roles, status, base_status, complete, amount, chave)
        select ${workspaceId}, (${companies}::int[])[i % 2 + 1], timestamp '2026-11-29' - i * interval '1 day', i, issuer.id, i, 100, 0, 2, 2, 2, true, 1.5,
               lpad(i::text, 44, '0')
          from issuer, generate_series(0, ${count - 1}::int) i
        returning id, number)
      select id from added order by number`.execute(db),
  )
  return { workspaceId, companies, ids: rows.map(({ id }) => id) }
}

const put = (termsOf: (index: number) => string[], which: readonly number[] = [...ids.keys()]) =>
  inWorkspace({ db }, workspaceId, async ({ db }) => {
    for (const [place, companyId] of companies.entries())
      await putWords(
        db,
        { workspaceId, companyId, service: 'nfe' },
        which
          .filter((index) => index % 2 === place)
          .map((index): DocumentWords => ({ id: ids[index]!, issuedAt: dayOf(index), terms: termsOf(index) })),
      )
  })

/** The places of the documents with a typed word, newest first. */
async function found(typed: string, range = always, database: Database = db): Promise<number[]> {
  const [set] = await readWorkspace({ db: database }, workspaceId, ({ db }) =>
    findWithWords(db, workspaceId, { TipoDFe: 0 }, range, [[termQuestion(typed)!]]),
  )
  const numbers = set!.isEmpty ? [] : set!.ids.slice(1, -1).split(',')
  return numbers.map((id) => ids.indexOf(BigInt(id)))
}

test('documents are found by what they have now, newest first, in the days that are asked', async () => {
  expect(await found('papel')).toEqual([...ids.keys()])
  expect(await found('pap')).toHaveLength(notes)
  expect(await found('raro')).toEqual([notes - 1])
  expect((await found('resto3')).every((index) => index % 7 === 3)).toBe(true)
  expect(await found('papel', { from: dayOf(40), until: dayOf(30) })).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39, 40])
  await put(() => ['novidade'], [5])
  expect(await found('novidade')).toEqual([5])
  expect(await found('papel')).not.toContain(5)
  await put(() => ['papel', 'resto5'], [5])
})

test('a kind of terms is no word', async () => {
  for (const typed of ['placa', 'pla', 'cod']) expect([typed, await found(typed)]).toEqual([typed, []])
  expect(await found('placa:abc1d23')).toHaveLength(notes - 1)
})

test('words that a tsvector refuses keep no document from being stored', async () => {
  await put(() => ['papel', 'resto6', 'a\0b', 'x'.repeat(3_000), `\\'|&!(`, ''], [6])
  expect(await found('resto6')).toContain(6)
  const [set] = await readWorkspace({ db }, workspaceId, ({ db }) =>
    findWithWords(db, workspaceId, { TipoDFe: 0 }, always, [[[`\\'|&!(`]]]),
  )
  expect(set!.ids).toBe(`{${ids[6]}}`)
})

test('nothing of another workspace is found, nor of companies that a person may not see', async () => {
  const stranger = await newWorkspace(db)
  await inWorkspace({ db }, stranger, async ({ db }) => {
    expect(await findWithWords(db, workspaceId, { TipoDFe: 0 }, always, [[['papel']]])).toMatchObject([
      { isEmpty: true },
    ])
  })
  await withLimited([companies[1]!], async (limited) => {
    expect((await found('papel', always, limited)).every((index) => index % 2 === 1)).toBe(true)
    await expect(sql`select from document_words`.execute(limited)).rejects.toThrow(/permission denied/)
  })
})

async function withLimited(seen: number[], work: (limited: Database) => Promise<void>) {
  const limited = openDatabase(url, pools.limited)
  try {
    await work(limitTo(limited, seen, db))
  } finally {
    await limited.destroy()
  }
}

// On a cluster these numbers are of the worker nodes.
onOneServer('the search goes by the index of words, also for who sees some companies only', async () => {
  await withLimited(companies, async (limited) => {
    const { scans, read } = await readWorkspace({ db: limited }, workspaceId, async ({ db }) => {
      await findWithWords(db, workspaceId, { TipoDFe: 0 }, always, [[['raro']]])
      const { rows } = await sql<{ scans: number; read: number }>`
        select pg_stat_get_xact_numscans('document_words_ix'::regclass)::int as scans,
               pg_stat_get_xact_tuples_returned('document_words'::regclass)::int as read`.execute(db)
      return rows[0]!
    })
    expect(scans).toBeGreaterThan(0)
    expect(read).toBe(0)
  })
})

test('of more documents than a search reaches the newest are counted, and nothing is done with a part of them', async () => {
  const { workspaceId: office, companies } = await newOffice(reachMax + 1)
  await inWorkspace({ db }, office, ({ db }) =>
    sql`
      with added as (
        insert into document_words (workspace_id, document_id, type, company_id, issued_at, words)
        select workspace_id, id, type, company_id, issued_at,
               array_to_tsvector(array[workspace_id || to_char(issued_at, '.YYMM') || 'parafuso', workspace_id || to_char(issued_at, '.YYMM') || 'dia' || number % 3])
          from document where workspace_id = ${office}
        returning 1)
      select count(*) from added`.execute(db),
  )
  const list = (text: string, more = {}) =>
    searchDocuments({ db }, office, { TipoDFe: 0, page: 1, CampoPesquisa: text, ...more })
  const since = dayOf(reachMax - 1)
  const { rows, ...totals } = await list('parafuso')
  expect(totals).toEqual({ total: reachMax, amount: '15000.00', since })
  expect(rows[0]!.number).toBe(0)
  expect((await list('parafuso', { page: reachMax / 50 })).rows.at(-1)!.number).toBe(reachMax - 1)
  // One company, fewer days or another word make them fewer.
  expect(await list('parafuso', { companyId: companies[1] })).toMatchObject({ total: reachMax / 2, since: null })
  expect(await list('parafuso dia1')).toMatchObject({ total: 3_334, since: null })
  expect(await list('parafuso', { DataDe: since })).toMatchObject({ total: reachMax, since: null })
  const refused = { code: 'conflict', message: expect.stringContaining('Mais de 10.000 documentos') }
  await expect(selectIds({ db }, office, { TipoDFe: 0, CampoPesquisa: 'parafuso' }, 20_000)).rejects.toMatchObject(
    refused,
  )
  await expect(
    readWorkspace({ db }, office, (ctx) => countDocuments(ctx, office, { TipoDFe: 0, CampoPesquisa: 'parafuso' })),
  ).rejects.toMatchObject(refused)
})
