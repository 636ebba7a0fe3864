import { hash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { rehash } from './rehash.ts'

test.each(['sha1', 'sha256', 'sha384', 'sha512'])(
  'hashes a digest of %s again and again as OpenSSL does',
  (algorithm) => {
    const digest = hash(algorithm, randomBytes(64), 'buffer')
    let expected = digest
    for (let rounds = 0; rounds < 300; rounds++) {
      expect(rehash(algorithm, digest, rounds)).toEqual(expected)
      expected = hash(algorithm, expected, 'buffer')
    }
  },
)
