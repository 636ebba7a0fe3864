import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import type { Range } from '../filter.ts'
import { isMeant, keysOf, type TermQuestion } from './terms.ts'

// Which documents have a term: docs/decisions/0055-postings.md. Documents are in segments, and a segment has its terms in buckets, each with the places
// of its documents. apps/server/contents writes them.

/** A term, and the places of the documents of its segment that have it, in order. */
export type Posting = readonly [term: string, places: readonly number[]]

/** What a bucket is chosen by; of 2^n buckets the lowest bits. It is stored: FNV-1a, for ever. */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & 0x7fff
}

/** Bytes for `postings`, which are in the order of their terms, of a segment with `size` documents. */
export function encodePostings(postings: readonly Posting[], size: number): Buffer {
  const bytes: number[] = []
  let before = ''
  for (const [term, places] of postings) {
    const shared = sharedBy(before, term)
    const rest = Buffer.from(term.slice(shared))
    // What most documents have is a bit for each; of others the steps from one to the next.
    const isDense = places.length > size / 8
    pushNumber(bytes, shared)
    pushNumber(bytes, rest.length)
    for (const byte of rest) bytes.push(byte)
    pushNumber(bytes, places.length * 2 + (isDense ? 1 : 0))
    if (isDense) {
      const bits = new Uint8Array(Math.ceil(size / 8))
      for (const place of places) bits[place >> 3]! |= 1 << (place & 7)
      for (const byte of bits) bytes.push(byte)
    } else {
      let last = -1
      for (const place of places) {
        pushNumber(bytes, place - last - 1)
        last = place
      }
    }
    before = term
  }
  return Buffer.from(bytes)
}

/** Calls `take` with each posting whose term is wanted; its places are not kept. */
export function decodePostings(
  bytes: Uint8Array,
  size: number,
  isWanted: (term: string) => boolean,
  take: (term: string, places: Int32Array) => void,
): void {
  let places: Int32Array | null = null
  let [at, term] = [0, '']
  // Places, counts and lengths are below 2^28.
  const number = () => {
    let value = bytes[at++]!
    if (value < 128) return value
    value &= 127
    for (let shift = 7; ; shift += 7) {
      const byte = bytes[at++]!
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const shared = number()
    const length = number()
    term = term.slice(0, shared) + Buffer.from(bytes.subarray(at, at + length)).toString()
    at += length
    const counted = number()
    const [isDense, count] = [counted % 2 === 1, counted >> 1]
    const wanted = isWanted(term)
    if (wanted) places ??= new Int32Array(size)
    if (isDense) {
      const end = at + Math.ceil(size / 8)
      if (places && wanted) {
        let found = 0
        for (let byte = at; byte < end; byte++)
          for (let bits = bytes[byte]!, place = (byte - at) * 8; bits !== 0; bits >>= 1, place++)
            if (bits & 1) places[found++] = place
      }
      at = end
    } else if (places && wanted) {
      for (let found = 0, last = -1; found < count; found++) {
        last += number() + 1
        places[found] = last
      }
    } else for (let left = count; left > 0; ) if (bytes[at++]! < 128) left--
    if (places && wanted) take(term, places.subarray(0, count))
  }
}

/** Bytes for ids in ascending order; the first is known beside them. */
export function encodeIds(ids: readonly number[]): Buffer {
  const bytes: number[] = []
  for (let index = 1; index < ids.length; index++) pushNumber(bytes, ids[index]! - ids[index - 1]!)
  return Buffer.from(bytes)
}

export function decodeIds(first: number, bytes: Uint8Array, size: number): Float64Array {
  const ids = new Float64Array(size)
  let [at, id] = [0, first]
  ids[0] = first
  for (let place = 1; place < size; place++) {
    const step = bytes[at++]!
    id += step & 127
    if (step >= 128)
      for (let unit = 128; ; unit *= 128) {
        const byte = bytes[at++]!
        id += (byte & 127) * unit
        if (byte < 128) break
      }
    ids[place] = id
  }
  return ids
}

function pushNumber(bytes: number[], value: number): void {
  let left = value
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  bytes.push(left)
}

// Of two terms, without half of a character outside the basic plane.
function sharedBy(one: string, other: string): number {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  return shared > 0 && /[\uD800-\uDBFF]/.test(one[shared - 1]!) ? shared - 1 : shared
}

/** Documents by their segments: a byte for each place, 1 where it is one of them. A document is in one segment. */
export type Places = ReadonlyMap<number, Uint8Array>

/** What was found inside documents. */
export interface Inside {
  /** Of each question the documents that answer it. */
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
     where s.workspace_id = ${workspaceId} and s.first_month < ${until}::timestamp and s.last_month >= date_trunc('month', ${from}::timestamp)`.execute(
    db,
  )
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
    select id, size, first_id as first, encode(ids, 'base64') as ids, dropped from content_segment where workspace_id = ${workspaceId} and id = any (${hit}::int[])`.execute(
    db,
  )
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

/** Whether the document of this place is read anew, and stands elsewhere or nowhere. */
export const isDropped = (dropped: Uint8Array | null, place: number): boolean =>
  dropped !== null && (dropped[place >> 3]! & (1 << (place & 7))) !== 0

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

// So many ids lead faster to documents than what they were found by; more, and a twentieth of all, are found faster while all are looked at.
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
