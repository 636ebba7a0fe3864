import { sql } from 'kysely'
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
  const places = new Int32Array(size)
  let [at, term] = [0, '']
  const number = () => {
    for (let [value, unit] = [0, 1]; ; unit *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * unit
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
    if (isDense) {
      const end = at + Math.ceil(size / 8)
      if (wanted) {
        let found = 0
        for (let byte = at; byte < end; byte++)
          for (let bits = bytes[byte]!, place = (byte - at) * 8; bits !== 0; bits >>= 1, place++)
            if (bits & 1) places[found++] = place
      }
      at = end
    } else if (wanted) {
      for (let found = 0, last = -1; found < count; found++) {
        last += number() + 1
        places[found] = last
      }
    } else for (let left = count; left > 0; ) if (bytes[at++]! < 128) left--
    if (wanted) take(term, places.subarray(0, count))
  }
}

/** Bytes for ids in ascending order; the first is known beside them. */
export function encodeIds(ids: readonly number[]): Buffer {
  const bytes: number[] = []
  for (let index = 1; index < ids.length; index++) pushNumber(bytes, ids[index]! - ids[index - 1]!)
  return Buffer.from(bytes)
}

export function decodeIds(first: number, bytes: Uint8Array): number[] {
  const ids = [first]
  for (let at = 0, id = first; at < bytes.length; ids.push(id))
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++]!
      id += (byte & 127) * unit
      if (byte < 128) break
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

/** The documents of the months of a range in which each question is answered, and how many documents were asked. */
export interface Inside {
  found: Set<number>[]
  asked: number
}

/** Looks for documents by what is inside them; they may be of other days of these months. */
export async function findInside(
  db: Database,
  workspaceId: number,
  questions: readonly (TermQuestion | null)[],
  { from, until }: Range,
): Promise<Inside> {
  const asked = questions.flatMap((question, place) => (question ? { place, question } : []))
  const found = questions.map(() => new Set<number>())
  if (asked.length === 0) return { found, asked: 0 }
  const hashes = [...new Set(asked.flatMap(({ question }) => keysOf(question).map(hashOf)))]
  const { rows: buckets } = await sql<{ id: number; size: number; value: Buffer }>`
    select s.id, s.size, p.value
      from content_segment s
     cross join lateral (select p.value from content_posting p
                          where p.workspace_id = ${workspaceId} and p.segment_id = s.id
                            and p.bucket = any (array(select distinct h & (s.buckets - 1) from unnest(${hashes}::int[]) h)) offset 0) p
     where s.workspace_id = ${workspaceId} and s.first_month < ${until}::timestamp and s.last_month >= date_trunc('month', ${from}::timestamp)`.execute(
    db,
  )
  const places = new Map<number, Set<number>[]>()
  const sizes = new Map<number, number>()
  for (const { id, size, value } of buckets) {
    sizes.set(id, size)
    const meaning = (term: string) => asked.filter(({ question }) => isMeant(question, term))
    decodePostings(
      value,
      size,
      (term) => asked.some(({ question }) => isMeant(question, term)),
      (term, having) => {
        const sets = places.get(id) ?? questions.map(() => new Set<number>())
        for (const { place } of meaning(term)) for (const one of having) sets[place]!.add(one)
        places.set(id, sets)
      },
    )
  }
  const { rows: segments } = await sql<{ id: number; first: bigint; ids: Buffer; dropped: Buffer | null }>`
    select id, first_id as first, ids, dropped from content_segment
     where workspace_id = ${workspaceId} and id = any (${[...places.keys()]}::int[])`.execute(db)
  for (const { id, first, ids: bytes, dropped } of segments) {
    const ids = decodeIds(Number(first), bytes)
    for (const [question, having] of places.get(id)!.entries())
      for (const place of having) if (!isDropped(dropped, place)) found[question]!.add(ids[place]!)
  }
  return { found, asked: [...sizes.values()].reduce((sum, size) => sum + size, 0) }
}

/** Whether the document of this place is read anew, and stands elsewhere or nowhere. */
export const isDropped = (dropped: Uint8Array | null, place: number): boolean =>
  dropped !== null && (dropped[place >> 3]! & (1 << (place & 7))) !== 0
