import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import { runs } from '../../../../tests/support/seed.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { newWorkspace } from '../../platform/testing.ts'
import { decodeIds, decodePostings, hashOf, isDropped, keyOf } from '../search/packed-postings.ts'
import { common, findInside, type Inside, type Places } from '../search/postings.ts'
import { isMeant, keysOf, termQuestion } from '../search/terms.ts'
import { putPostings } from './postings.ts'
import { mergeParts, newSegment, type Part, type Segment } from './segments.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

const word = fc.oneof(
  fc.constantFrom('papel', 'papelão', 'pa', '日本語', '𠮷野家', '𠮷田', 'ncm:48025610', 'ncm:4', 'cod:a1', 'cfop:5102'),
  fc.stringMatching(/^[a-d]{2,5}$/),
)
const document = fc.record({ terms: fc.uniqueArray(word, { maxLength: 8 }), dropped: fc.boolean() })

/** Document ids of each term. */
function readBack({ first, ids, values, size }: Segment, dropped: Uint8Array | null = null): Map<string, number[]> {
  const known = decodeIds(Number(first), ids, size)
  const read = new Map<string, number[]>()
  for (const [bucket, value] of values.entries())
    decodePostings(
      value,
      size,
      () => true,
      (term, places) => {
        expect(hashOf(keyOf(term)) & (values.length - 1)).toBe(bucket)
        read.set(
          term,
          [...places].filter((place) => !isDropped(dropped, place)).map((place) => known[place]!),
        )
      },
    )
  return new Map([...read].filter(([, ids]) => ids.length > 0))
}

function idsIn({ ids }: Inside, places: Places): number[] {
  const found = [...places].flatMap(([id, having]) => [...ids.get(id)!].filter((_, place) => having[place] === 1))
  return found.sort((a, b) => a - b)
}

function expected(documents: readonly { id: bigint; terms: readonly string[] }[]): Map<string, number[]> {
  const having = new Map<string, number[]>()
  for (const { id, terms } of documents)
    for (const term of terms)
      having.set(
        term,
        [...(having.get(term) ?? []), Number(id)].sort((a, b) => a - b),
      )
  return having
}

test('what is written into segments, and merged, is read as it was; what was dropped is gone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(document, { minLength: 1, maxLength: 150 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
      (segments, firstId) => {
        // The documents of segments are between each other.
        const placed = segments.map((documents, at) =>
          documents.map((one, index) => ({ ...one, id: BigInt(firstId + (index * segments.length + at) * 7) })),
        )
        const parts = placed.map((documents): Part => {
          const segment = newSegment(documents)
          const dropped = Buffer.alloc(Math.ceil(segment.size / 8))
          for (const [place, { dropped: isGone }] of documents.entries())
            if (isGone) dropped[place >> 3]! |= 1 << (place & 7)
          expect(readBack(segment)).toEqual(expected(documents))
          return { ...segment, dropped }
        })
        const left = placed.flat().filter(({ dropped }) => !dropped)
        const merged = mergeParts(parts)
        if (left.length === 0) expect(merged).toBeNull()
        else expect(readBack(merged!)).toEqual(expected(left))
      },
    ),
    { numRuns: runs(40) },
  )
})

test('a question leads to the buckets of all terms that it may mean', () => {
  fc.assert(
    fc.property(word, fc.oneof(word, fc.constantFrom('ncm:4', 'ncm:48', 'pap', 'ab-c')), (term, typed) => {
      const question = termQuestion(typed)
      if (question && isMeant(question, term)) expect(keysOf(question)).toContain(keyOf(term))
    }),
    { numRuns: runs(500) },
  )
})

test('documents are found by what they have now, however they came, and few segments are left', async () => {
  const workspaceId = await newWorkspace(db)
  const inside = <T>(work: (db: Database) => Promise<T>) => inWorkspace({ db }, workspaceId, ({ db }) => work(db))
  const now = new Map<bigint, string[]>()
  const termsOf = (id: number, version: number) => [
    'todos',
    `resto${id % 7}`,
    `cod:${id}`,
    `ncm:${10 + (id % 5)}`,
    ...(version > 0 ? [`vez${version}`] : []),
  ]
  let last = 0
  for (let turn = 0; turn < 40; turn++) {
    const added = Array.from({ length: 1 + ((turn * 13) % 40) }, () => BigInt(++last))
    // Some are read anew, and some are gone.
    const again = [...now.keys()].filter((id) => (Number(id) * 31 + turn * 17) % 97 === 0)
    const gone = again.filter((id) => id % 3n === 0n)
    for (const id of added) now.set(id, termsOf(Number(id), 0))
    for (const id of again) now.set(id, termsOf(Number(id), turn))
    for (const id of gone) now.delete(id)
    const written = [...added, ...again].filter((id) => now.has(id))
    await inside((db) =>
      putPostings(db, workspaceId, {
        dropped: again,
        added: written.map((id) => ({ id, month: turn < 20 ? '2026-10-01' : '2026-11-01', terms: now.get(id)! })),
      }),
    )
  }
  const range = { from: '0001-01-01T00:00:00', until: '9999-01-01T00:00:00' }
  const asked = ['todos', 'resto3', 'resto', 'ncm:1', 'ncm:12', 'vez30', 'vez1', '97', 'nada', 'vez39']
  const answer = await inside((db) => findInside(db, workspaceId, asked.map(termQuestion), range))
  for (const [index, text] of asked.entries()) {
    const question = termQuestion(text)!
    const expected = [...now].filter(([, terms]) => terms.some((term) => isMeant(question, term)))
    expect(idsIn(answer, answer.found[index]!), text).toEqual(expected.map(([id]) => Number(id)).sort((a, b) => a - b))
  }
  // Not all of them are of October, but those of segments that have none are not read.
  const ofDay = async (from: string, until: string) => {
    const answer = await inside((db) => findInside(db, workspaceId, [termQuestion('todos')], { from, until }))
    return idsIn(answer, answer.found[0]!)
  }
  expect(await ofDay('2026-12-01T00:00:00', '2027-01-01T00:00:00')).toEqual([])
  expect(await ofDay('2026-11-15T00:00:00', '2026-11-16T00:00:00')).not.toEqual([])
  const both = common(answer.found.slice(0, 2))
  expect(idsIn(answer, both)).toEqual(idsIn(answer, answer.found[1]!))
  expect(idsIn(answer, common([both, answer.found[8]!]))).toEqual([])
  const { rows } = await inside((db) =>
    sql<{
      segments: number
    }>`select count(*)::int as segments from content_segment where workspace_id = ${workspaceId}`.execute(db),
  )
  expect(rows[0]!.segments).toBeLessThan(32)
  const stranger = await newWorkspace(db)
  await inWorkspace({ db }, stranger, async ({ db }) => {
    expect((await findInside(db, workspaceId, [termQuestion('todos')], range)).found[0]!.size).toBe(0)
  })
})
