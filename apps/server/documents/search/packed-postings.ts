// The bytes of postings: docs/decisions/0055-postings.md. No import of the database, because threads load this file.

/** A term, and the places of the documents of its segment that have it, in order. */
export type Posting = readonly [term: string, places: readonly number[]]

/** Hash of which the lowest n bits choose one of 2^n buckets. It is stored: FNV-1a, for ever. */
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
    // Terms of most documents take a bit per document; others take the steps from one place to the next.
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

// Length of the common beginning of two terms, without half of a surrogate pair.
function sharedBy(one: string, other: string): number {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  return shared > 0 && /[\uD800-\uDBFF]/.test(one[shared - 1]!) ? shared - 1 : shared
}

/** Whether the document of this place is read anew, and stands elsewhere or nowhere. */
export const isDropped = (dropped: Uint8Array | null, place: number): boolean =>
  dropped !== null && (dropped[place >> 3]! & (1 << (place & 7))) !== 0

const wordKey = 3

/** By which the bucket of a term is chosen, so that those that begin alike are in one. It is stored: as it is, for ever. */
export function keyOf(term: string): string {
  if (!term.includes(':')) return term.slice(0, wordKey)
  return term.startsWith('ncm:') ? term.slice(0, 'ncm:'.length + 2) : term
}
