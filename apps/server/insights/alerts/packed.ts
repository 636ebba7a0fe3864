import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { type AlertFacts, apart, together } from '@vigia/checks/alerts/facts'
import { bareFrame, readDictionaries } from '../../platform/zstd.ts'

// Facts as `alert_fact` keeps them (decision 0062): the dictionary's number, then zstd with it. A dictionary is never changed.

const newest = 2

const dictionaryOf = readDictionaries((id) => new URL(`./facts-${id}.zdict`, import.meta.url))

// More than the facts of the largest document that is read take.
const bytesMax = 64_000_000

export function packFacts(facts: AlertFacts): Buffer {
  const packed = zstdCompressSync(apart(facts), { dictionary: dictionaryOf(newest), params: bareFrame })
  return Buffer.concat([Buffer.of(newest), packed])
}

// The last ones that were unpacked, by their bytes: documents of a pair look at the same earlier ones, turn after turn.
const recent = new Map<string, AlertFacts>()
const recentBytesMax = 1_000_000
let recentBytes = 0

/** Unpacked facts are shared: callers must not change them. Throws a `RangeError` when they are broken. */
export function unpackFacts(packed: Buffer): AlertFacts {
  const key = packed.toString('latin1')
  const known = recent.get(key)
  const facts = known ?? unpack(packed)
  // The one that was asked for last is the last to go.
  if (known) recent.delete(key)
  else recentBytes += key.length
  recent.set(key, facts)
  for (const oldest of recent.keys()) {
    if (recentBytes <= recentBytesMax) break
    recent.delete(oldest)
    recentBytes -= oldest.length
  }
  return facts
}

function unpack(packed: Buffer): AlertFacts {
  try {
    const number = packed[0] ?? 0
    const dictionary = dictionaryOf(number)
    const read = zstdDecompressSync(packed.subarray(1), { dictionary, maxOutputLength: bytesMax }).toString()
    return together(read)
  } catch (cause) {
    throw new RangeError('what is known of a document cannot be unpacked', { cause })
  }
}
