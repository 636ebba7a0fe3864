import {
  decodeIds,
  decodePostings,
  encodeIds,
  encodePostings,
  hashOf,
  isDropped,
  keyOf,
  type Posting,
} from '../search/packed-postings.ts'

// Segments of documents that are found together, and how several become one: docs/decisions/0055-postings.md.

export interface Segment {
  size: number
  first: bigint
  last: bigint
  ids: Uint8Array
  values: Uint8Array[]
}

export interface Part {
  size: number
  first: bigint
  ids: Uint8Array
  dropped: Uint8Array | null
  values: Uint8Array[]
}

// A bucket has one or two kilobytes: more of it are read for nothing, and fewer cost more than what they hold.
const perBucket = 8
const bucketsMax = 1_024

function bucketsFor(size: number): number {
  let buckets = 1
  while (buckets < bucketsMax && buckets * perBucket * 2 <= size) buckets *= 2
  return buckets
}

export function newSegment(documents: readonly { id: bigint; terms: readonly string[] }[]): Segment {
  const inOrder = documents.toSorted((one, other) => Number(one.id - other.id))
  const places = new Map<string, number[]>()
  for (const [place, { terms }] of inOrder.entries()) for (const term of terms) placesOf(places, term).push(place)
  return segmentOf(
    inOrder.map(({ id }) => Number(id)),
    places,
  )
}

export function mergeParts(parts: readonly Part[]): Segment | null {
  const all = parts.flatMap(({ size, first, ids, dropped }, part) =>
    Array.from(decodeIds(Number(first), ids, size), (id, place) => ({ id, part, place })).filter(
      ({ place }) => !isDropped(dropped, place),
    ),
  )
  if (all.length === 0) return null
  all.sort((one, other) => one.id - other.id)
  const moved = parts.map(({ size }) => new Int32Array(size).fill(-1))
  for (const [at, { part, place }] of all.entries()) moved[part]![place] = at
  const places = new Map<string, number[]>()
  for (const [part, { size, values }] of parts.entries())
    for (const value of values)
      decodePostings(
        value,
        size,
        () => true,
        (term, having) => {
          const kept = having.map((place) => moved[part]![place]!).filter((place) => place >= 0)
          if (kept.length === 0) return
          const known = placesOf(places, term)
          for (const place of kept) known.push(place)
        },
      )
  for (const having of places.values()) having.sort((one, other) => one - other)
  return segmentOf(
    all.map(({ id }) => id),
    places,
  )
}

function placesOf(places: Map<string, number[]>, term: string): number[] {
  const known = places.get(term)
  if (known) return known
  const added: number[] = []
  places.set(term, added)
  return added
}

function segmentOf(ids: number[], places: ReadonlyMap<string, number[]>): Segment {
  const buckets: Posting[][] = Array.from({ length: bucketsFor(ids.length) }, () => [])
  for (const posting of places) buckets[hashOf(keyOf(posting[0])) & (buckets.length - 1)]!.push(posting)
  return {
    size: ids.length,
    first: BigInt(ids[0]!),
    last: BigInt(ids.at(-1)!),
    ids: encodeIds(ids),
    values: buckets.map((postings) =>
      encodePostings(
        postings.sort(([one], [other]) => (one < other ? -1 : 1)),
        ids.length,
      ),
    ),
  }
}
