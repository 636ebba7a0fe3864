import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readOrCreateSecret, readSecret } from '@vigia/embedded-postgres/secret-file'
import type { Config } from '../../config.ts'
import { InstallationError } from '../../platform/installation.ts'
import { createVault } from '../../platform/vault.ts'

/** Keeps keys of 32 bytes safe in the database: what it wrapped only it can unwrap, and only for the same purpose. */
export interface KeyWrapper {
  /** Names the key in use, so that what another one wrapped is recognised. */
  readonly id: string
  wrap(key: Buffer, purpose: string): Promise<Buffer>
  unwrap(wrapped: Buffer, purpose: string): Promise<Buffer>
}

/** Wraps with a master key of 32 bytes. */
export function wrapWithKey(masterKey: Buffer): KeyWrapper {
  const vault = createVault(masterKey)
  return {
    id: vault.keyId,
    wrap: async (key, purpose) => vault.encrypt(key.toString('base64'), purpose),
    unwrap: async (wrapped, purpose) => Buffer.from(vault.decrypt(wrapped, purpose), 'base64'),
  }
}

/** Whether there is a master key already, of the configuration or in `DATA_DIR/master.key`. */
export async function hasMasterKey({ masterKey, dataDir }: Pick<Config, 'masterKey' | 'dataDir'>): Promise<boolean> {
  return masterKey !== undefined || (await readSecret(join(dataDir, 'master.key'))) !== null
}

/** The master key: of the configuration, or made once in `DATA_DIR/master.key`. */
export async function ensureMasterKey({ masterKey, dataDir }: Pick<Config, 'masterKey' | 'dataDir'>): Promise<Buffer> {
  if (masterKey) return masterKey
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'master.key')
  const secret = await readOrCreateSecret(path, () => randomBytes(32).toString('base64'))
  return keyOf(secret, path)
}

/** The key that the text of the file `path` holds. */
export function keyOf(text: string, path: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length === 32) return key
  throw new InstallationError(
    `${path} não é uma chave. Nada foi alterado: restaure a cópia de segurança desse arquivo e rode de novo.`,
  )
}
