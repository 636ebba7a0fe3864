import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/** Encrypts secrets with AES-256-GCM under one key. */
export interface Vault {
  /** Names the key, and tells nothing about it. */
  readonly keyId: string
  /** `purpose` binds the ciphertext to its place: it must be the same to decrypt. */
  encrypt(plain: string, purpose: string): Buffer
  decrypt(sealed: Uint8Array, purpose: string): string
  /** 32 secret bytes, always the same for `purpose`. */
  derive(purpose: string): Buffer
}

const ivBytes = 12
const tagBytes = 16

/** A vault over a key of 32 bytes. */
export function createVault(key: Uint8Array): Vault {
  if (key.length !== 32) throw new Error('the key of a vault has 32 bytes')
  return {
    keyId: createHash('sha256').update('vigia key id').update(key).digest('hex').slice(0, 16),
    derive: (purpose) => createHmac('sha256', key).update(`vigia derived ${purpose}`).digest(),
    encrypt(plain, purpose) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
      return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(sealed, purpose) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(bytes.length - tagBytes))
      return (
        decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes), undefined, 'utf8') + decipher.final('utf8')
      )
    },
  }
}

/** `value` as a text for a link, which only this installation can make. */
export function sealLink(vault: Vault, value: unknown, purpose: string): string {
  return vault.encrypt(JSON.stringify(value), purpose).toString('base64url')
}

/** The value that `sealLink` made a text of, in the shape that its writer gave it; null: another key sealed it, or nobody did. */
export function openLink<T>(vault: Vault, text: string, purpose: string): T | null {
  if (!/^[\w-]{40,2000}$/.test(text)) return null
  try {
    return JSON.parse(vault.decrypt(Buffer.from(text, 'base64url'), purpose))
  } catch {
    return null
  }
}
