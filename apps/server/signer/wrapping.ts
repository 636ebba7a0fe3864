import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readOrCreateSecret, readSecret } from '@vigia/postgres/secret-file'
import type { Config } from '../config.ts'
import { InstallationError } from '../platform/installation.ts'
import { createVault } from '../platform/vault.ts'

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

const commandMs = 20_000
const digest = (purpose: string) => createHash('sha256').update(purpose).digest()

/**
 * Wraps with a program of the operator, which asks a key management service or a token (PKCS#11): the master key is never in a process of ours.
 * It is called with `wrap` or `unwrap`, reads bytes from its input and writes bytes.
 */
export function wrapByCommand(command: string): KeyWrapper {
  return {
    id: createHash('sha256').update(`vigia key command ${command}`).digest('hex').slice(0, 16),
    // The program knows no purposes, so it wraps a digest of ours together with the key.
    wrap: (key, purpose) => run(command, 'wrap', Buffer.concat([key, digest(purpose)])),
    async unwrap(wrapped, purpose) {
      const bytes = await run(command, 'unwrap', wrapped)
      if (bytes.length !== 64 || !bytes.subarray(32).equals(digest(purpose)))
        throw new Error('the command for the master key unwrapped something else')
      return bytes.subarray(0, 32)
    },
  }
}

async function run(command: string, action: 'wrap' | 'unwrap', input: Buffer): Promise<Buffer> {
  const child = spawn(command, [action], { stdio: ['pipe', 'pipe', 'pipe'], timeout: commandMs })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code, output, complaint] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]).catch(
    (cause: Error) => {
      throw commandFailed(command, action, cause.message)
    },
  )
  if (code === 0 && output.length > 0) return output
  throw commandFailed(command, action, complaint.toString().trim().slice(0, 500) || `código ${code}`)
}

const commandFailed = (command: string, action: string, reason: string) =>
  new InstallationError(
    `O programa de MASTER_KEY_COMMAND (${command} ${action}) falhou: ${reason}. Nada foi alterado: as chaves dos certificados continuam guardadas e não podem ser abertas enquanto ele não responder. Confira o programa e o serviço de chaves que ele usa.`,
  )

/** Whether there is a master key already, of the configuration or in `DATA_DIR/master.key`. */
export async function hasMasterKey({ masterKey, dataDir }: Pick<Config, 'masterKey' | 'dataDir'>): Promise<boolean> {
  return masterKey !== undefined || (await readSecret(join(dataDir, 'master.key'))) !== null
}

/** The master key: of the configuration, or made once in `DATA_DIR/master.key`. */
export async function ensureMasterKey({ masterKey, dataDir }: Pick<Config, 'masterKey' | 'dataDir'>): Promise<Buffer> {
  if (masterKey) return masterKey
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'master.key')
  const { secret } = await readOrCreateSecret(path, () => randomBytes(32).toString('base64'))
  const key = Buffer.from(secret, 'base64')
  if (key.length !== 32)
    throw new InstallationError(`${path} não é uma chave: restaure a cópia de segurança desse arquivo.`)
  return key
}
