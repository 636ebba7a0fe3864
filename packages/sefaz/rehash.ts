import { hash } from 'node:crypto'

// The hash of a hash, thousands of times, as old PKCS #12 files derive their keys. A call into OpenSSL for each costs twice the one block
// that it computes here, and a buffer.

/** Hashes a digest that `algorithm` made `rounds` times more with the same algorithm. */
export function rehash(algorithm: string, digest: Buffer, rounds: number): Buffer {
  const nextDigest = algorithm === 'sha1' ? sha1 : algorithm === 'sha256' ? sha256 : null
  if (!nextDigest) {
    let last = digest
    for (let round = 0; round < rounds; round++) last = hash(algorithm, last, 'buffer')
    return last
  }
  const size = digest.length / 4
  const words = new Int32Array(size)
  for (let at = 0; at < size; at++) words[at] = digest.readInt32BE(4 * at)
  for (let round = 0; round < rounds; round++) {
    // The one block: the digest, a bit that ends it, its length in bits (FIPS 180-4 section 5.1.1).
    w.fill(0, size, 16)
    w.set(words)
    w[size] = 0x80000000
    w[15] = 32 * size
    nextDigest(words)
  }
  const result = Buffer.alloc(digest.length)
  for (let at = 0; at < size; at++) result.writeInt32BE(words[at]!, 4 * at)
  // They are made of a password.
  w.fill(0)
  words.fill(0)
  return result
}

// The schedule of the block, in signed 32-bit integers. Plain variables and loops: what reads better takes four times as long.
const w = new Int32Array(80)

// FIPS 180-4 section 6.1.2.
function sha1(words: Int32Array): void {
  for (let t = 16; t < 80; t++) {
    const x = w[t - 3]! ^ w[t - 8]! ^ w[t - 14]! ^ w[t - 16]!
    w[t] = (x << 1) | (x >>> 31)
  }
  let a = 0x67452301
  let b = 0xefcdab89 | 0
  let c = 0x98badcfe | 0
  let d = 0x10325476
  let e = 0xc3d2e1f0 | 0
  let next = 0
  for (let t = 0; t < 20; t++) {
    next = (((a << 5) | (a >>> 27)) + ((b & c) | (~b & d)) + e + 0x5a827999 + w[t]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let t = 20; t < 40; t++) {
    next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + w[t]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let t = 40; t < 60; t++) {
    next = (((a << 5) | (a >>> 27)) + ((b & c) | (b & d) | (c & d)) + e + 0x8f1bbcdc + w[t]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let t = 60; t < 80; t++) {
    next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0xca62c1d6 + w[t]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  words[0] = a + 0x67452301
  words[1] = b + 0xefcdab89
  words[2] = c + 0x98badcfe
  words[3] = d + 0x10325476
  words[4] = e + 0xc3d2e1f0
}

// The first 32 bits of the fractional parts of cube and square roots of the first primes.
const primes = Array.from({ length: 310 }, (_, index) => index + 2).filter((number) => {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false
  return true
})
const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0
const k = Int32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))
const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))

// FIPS 180-4 section 6.2.2.
function sha256(words: Int32Array): void {
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15]!
    const y = w[t - 2]!
    const before = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const after = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[t] = w[t - 16]! + before + w[t - 7]! + after
  }
  let a = initial[0]!
  let b = initial[1]!
  let c = initial[2]!
  let d = initial[3]!
  let e = initial[4]!
  let f = initial[5]!
  let g = initial[6]!
  let h = initial[7]!
  for (let t = 0; t < 64; t++) {
    const ofE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const ofA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const first = (h + ofE + ((e & f) ^ (~e & g)) + k[t]! + w[t]!) | 0
    const second = (ofA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  words[0] = a + initial[0]!
  words[1] = b + initial[1]!
  words[2] = c + initial[2]!
  words[3] = d + initial[3]!
  words[4] = e + initial[4]!
  words[5] = f + initial[5]!
  words[6] = g + initial[6]!
  words[7] = h + initial[7]!
}
