import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { InstallationError } from '../../platform/installation.ts'
import { ensureMasterKey, wrapWithKey } from './wrapping.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vigia-wrapping-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

test('a master key unwraps what it wrapped, for the same purpose only', async () => {
  const [one, other] = [wrapWithKey(Buffer.alloc(32, 1)), wrapWithKey(Buffer.alloc(32, 2))]
  expect(one.id).not.toBe(other.id)
  const key = randomBytes(32)
  const wrapped = await one.wrap(key, 'a')
  expect(wrapped.includes(key)).toBe(false)
  expect(await one.unwrap(wrapped, 'a')).toEqual(key)
  await expect(one.unwrap(wrapped, 'b')).rejects.toThrow()
  await expect(other.unwrap(wrapped, 'a')).rejects.toThrow()
})

test('the master key is made once, readable to its owner only, and two starts agree on it', async () => {
  const keys = await Promise.all([
    ensureMasterKey({ dataDir, masterKey: undefined }),
    ensureMasterKey({ dataDir, masterKey: undefined }),
  ])
  expect(keys[0]).toHaveLength(32)
  expect(keys[1]).toEqual(keys[0])
  expect(await ensureMasterKey({ dataDir, masterKey: undefined })).toEqual(keys[0])
  expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600)
})

test('a damaged master key is told, not replaced', async () => {
  await writeFile(join(dataDir, 'master.key'), 'metade')
  await expect(ensureMasterKey({ dataDir, masterKey: undefined })).rejects.toThrow(InstallationError)
})

test('a configured master key is used as it is', async () => {
  const masterKey = Buffer.alloc(32, 1)
  expect(await ensureMasterKey({ dataDir, masterKey })).toBe(masterKey)
})
