import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/** Encrypts secrets at rest with AES-256-GCM under the master key. */
export interface Vault {
  /** Names the key in use, so that a rotation knows which rows are old. */
  readonly keyId: string
  /** `purpose` binds the ciphertext to its place: it must be the same to decrypt. */
  encrypt(plain: string, purpose: string): Buffer
  decrypt(sealed: Uint8Array, purpose: string): string
  /** 32 bytes that nobody without the key can guess, and always the same for `purpose`. */
  derive(purpose: string): Buffer
}

const ivBytes = 12
const tagBytes = 16

/** A vault over a master key of 32 bytes. */
export function createVault(masterKey: Uint8Array): Vault {
  if (masterKey.length !== 32) throw new Error('the master key has 32 bytes')
  return {
    keyId: createHash('sha256').update('vigia key id').update(masterKey).digest('hex').slice(0, 16),
    derive: (purpose) => createHmac('sha256', masterKey).update(`vigia derived ${purpose}`).digest(),
    encrypt(plain, purpose) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', masterKey, iv).setAAD(Buffer.from(purpose))
      return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(sealed, purpose) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const decipher = createDecipheriv('aes-256-gcm', masterKey, bytes.subarray(0, ivBytes))
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(bytes.length - tagBytes))
      return (
        decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes), undefined, 'utf8') + decipher.final('utf8')
      )
    },
  }
}
