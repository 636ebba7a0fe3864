import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import type { Range } from '../list/filter.ts'
import { decodeIds, decodePostings, hashOf, isDropped } from './packed-postings.ts'
import { isMeant, keysOf, type TermQuestion } from './terms.ts'

// Documents that have a term: docs/decisions/0055-postings.md. Segments have buckets of terms with the places of their documents.

/** Documents by their segments: a byte for each place, 1 where it is one of them. A document is in one segment. */
export type Places = ReadonlyMap<number, Uint8Array>

export interface Inside {
  /** Documents that answer each question. */
  found: Places[]
  /** The ids of the documents of a segment, by place. */
  ids: ReadonlyMap<number, Float64Array>
  /** How many documents were asked. */
  asked: number
}

/** Looks for documents by what is inside them; they may be of other days of the months of the range, and of other months beside these. */
export async function findInside(
  db: Database,
  workspaceId: number,
  questions: readonly (TermQuestion | null)[],
  { from, until }: Range,
): Promise<Inside> {
  const found = questions.map(() => new Map<number, Uint8Array>())
  const asked = questions.flatMap((question, index) => (question ? { question, found: found[index]! } : []))
  if (asked.length === 0) return { found, ids: new Map(), asked: 0 }
  const hashes = [...new Set(asked.flatMap(({ question }) => keysOf(question).map(hashOf)))]
  // As base64 the driver reads bytes in a third of the time.
  const { rows: buckets } = await sql<{ id: number; size: number; value: string }>`
    select s.id, s.size, encode(p.value, 'base64') as value
      from content_segment s
     cross join lateral (select p.value from content_posting p
                          where p.workspace_id = ${workspaceId} and p.segment_id = s.id
                            and p.bucket = any (array(select distinct h & (s.buckets - 1) from unnest(${hashes}::int[]) h)) offset 0) p
     where s.workspace_id = ${workspaceId} and s.first_month < ${until}::timestamp
       and s.last_month >= date_trunc('month', ${from}::timestamp)`.execute(db)
  const sizes = new Map(buckets.map(({ id, size }) => [id, size]))
  for (const { id, size, value } of buckets)
    decodePostings(
      Buffer.from(value, 'base64'),
      size,
      (term) => asked.some(({ question }) => isMeant(question, term)),
      (term, places) => {
        for (const { question, found } of asked) {
          if (!isMeant(question, term)) continue
          const having = found.get(id) ?? new Uint8Array(size)
          for (const place of places) having[place] = 1
          found.set(id, having)
        }
      },
    )
  const hit = [...new Set(found.flatMap((places) => [...places.keys()]))]
  const ids = await readSegments(db, workspaceId, hit, found)
  return { found, ids, asked: [...sizes.values()].reduce((sum, size) => sum + size, 0) }
}

async function readSegments(
  db: Database,
  workspaceId: number,
  hit: number[],
  found: readonly Map<number, Uint8Array>[],
): Promise<Map<number, Float64Array>> {
  if (hit.length === 0) return new Map()
  const { rows } = await sql<{ id: number; size: number; first: bigint; ids: string; dropped: Buffer | null }>`
    select id, size, first_id as first, encode(ids, 'base64') as ids, dropped from content_segment
     where workspace_id = ${workspaceId} and id = any (${hit}::int[])`.execute(db)
  for (const { id, dropped } of rows)
    if (dropped)
      for (const places of found)
        places.get(id)?.forEach((one, place, having) => {
          if (one === 1 && isDropped(dropped, place)) having[place] = 0
        })
  return new Map(
    rows.map(({ id, size, first, ids }) => [id, decodeIds(Number(first), Buffer.from(ids, 'base64'), size)]),
  )
}

/** The documents that all have. */
export function common(all: readonly Places[]): Places {
  const [first = new Map<number, Uint8Array>(), ...others] = all
  if (others.length === 0) return first
  return new Map(
    [...first].flatMap(([id, having]) => {
      const those = others.map((places) => places.get(id))
      return those.includes(undefined)
        ? []
        : [[id, having.map((one, place) => (those.every((other) => other![place] === 1) ? one : 0))] as const]
    }),
  )
}

// Up to so many ids, or a twentieth of all, are looked up one by one; above that, a scan is faster.
const fewMax = 2_000
const fewShare = 20
// Bits for ids from the first to the last.
const bitsMax = 32 * 1024 * 1024

/** The documents at these places, as a condition on `document d`; null: there are none. */
export function insideCondition({ ids, asked }: Inside, places: Places): RawBuilder<unknown> | null {
  let most = 0
  for (const having of places.values()) most += having.length
  const found = new Float64Array(most)
  let [count, first, last] = [0, Number.POSITIVE_INFINITY, 0]
  for (const [segment, having] of places) {
    const known = ids.get(segment)!
    for (let place = 0; place < having.length; place++) {
      if (having[place] !== 1) continue
      const id = known[place]!
      found[count++] = id
      if (id < first) first = id
      if (id > last) last = id
    }
  }
  if (count === 0) return null
  if (count <= Math.max(fewMax, asked / fewShare) || last - first >= bitsMax)
    return sql`d.id = any (${`{${found.subarray(0, count).join()}}`}::bigint[])`
  const bits = Buffer.alloc(((last - first) >> 3) + 1)
  for (let index = 0; index < count; index++) {
    const bit = found[index]! - first
    bits[bit >> 3]! |= 1 << (bit & 7)
  }
  return sql`case when d.id between ${first}::bigint and ${last}::bigint then get_bit(${bits}::bytea, d.id - ${first}::bigint) = 1 else false end`
}
