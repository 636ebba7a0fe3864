import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createVault } from './vault.ts'

const vault = createVault(randomBytes(32))

test('what was encrypted comes back, and twice never looks the same', () => {
  const sealed = vault.encrypt('segredo', 'a')
  expect(vault.decrypt(sealed, 'a')).toBe('segredo')
  expect(vault.encrypt('segredo', 'a').equals(sealed)).toBe(false)
  expect(sealed.includes('segredo')).toBe(false)
})

test('another place, another key or a changed byte opens nothing', () => {
  const sealed = vault.encrypt('segredo', 'a')
  expect(() => vault.decrypt(sealed, 'b')).toThrow()
  expect(() => createVault(randomBytes(32)).decrypt(sealed, 'a')).toThrow()
  sealed[sealed.length - 20]! ^= 1
  expect(() => vault.decrypt(sealed, 'a')).toThrow()
})
