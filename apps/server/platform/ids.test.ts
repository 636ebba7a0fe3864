import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPublicIds } from './ids.ts'

const ids = createPublicIds(randomBytes(16))

test('an id is worth something in its own workspace only', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.bigInt({ min: 1n, max: 2n ** 62n }), (workspaceId, id) => {
      const text = ids.encode(workspaceId, id)
      expect(ids.decode(workspaceId, text)).toBe(id)
      expect(ids.decode(workspaceId === 1 ? 2 : 1, text)).toBeNull()
    }),
  )
})

test('what a stranger makes up is refused', () => {
  fc.assert(fc.property(fc.string({ maxLength: 30 }), (text) => ids.decode(1, text) === null))
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      (bytes) => ids.decode(1, Buffer.from(bytes).toString('base64url')) === null,
    ),
  )
})
