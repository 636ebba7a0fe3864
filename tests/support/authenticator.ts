import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

// An authenticator in software (WebAuthn level 3, sections 6 and 7): ES256, attestation "none", one passkey.

interface Challenge {
  challenge: string
}

interface AuthenticatorOptions {
  /** Name and origin of the site for which it signs. */
  origin: string
  /** Whether its person has unlocked it. */
  verified?: boolean
}

const flags = { present: 0x01, verified: 0x04, attested: 0x40 }
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()
const text = (bytes: Buffer) => bytes.toString('base64url')

/** A new authenticator with the passkey that it will make. */
export function createAuthenticator({ origin, verified = true }: AuthenticatorOptions) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let counter = 0
  const state = { origin, verified, attestation: 'none' }
  const credential = { id: text(id), rawId: text(id), type: 'public-key' as const, clientExtensionResults: {} }
  const clientData = (type: string, { challenge }: Challenge) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: state.origin, crossOrigin: false }))
  const authenticatorData = (attested: Buffer | null) => {
    const head = Buffer.alloc(5)
    head[0] = flags.present | (state.verified ? flags.verified : 0) | (attested ? flags.attested : 0)
    head.writeUInt32BE(++counter, 1)
    return Buffer.concat([sha256(new URL(state.origin).hostname), head, attested ?? Buffer.alloc(0)])
  }
  const coseKey = () => {
    const { x, y } = publicKey.export({ format: 'jwk' })
    const [bytesX, bytesY] = [x!, y!].map((part) => Buffer.from(part, 'base64url')) as [Buffer, Buffer]
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      byteString(bytesX),
      Buffer.from([0x22]),
      byteString(bytesY),
    ])
  }
  return {
    credentialId: credential.id,
    /** State that applies from now on. */
    state,
    /** `RegistrationResponseJSON` for what the server asked. */
    register(options: Challenge) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const data = authenticatorData(Buffer.concat([Buffer.alloc(16), length, id, coseKey()]))
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[textString('fmt'), textString(state.attestation), textString('attStmt'), Buffer.from([0xa0])],
        ...[textString('authData'), byteString(data)],
      ])
      const clientDataJSON = text(clientData('webauthn.create', options))
      return { ...credential, response: { clientDataJSON, attestationObject: text(attestation) } }
    },
    /** `AuthenticationResponseJSON` for what the server asked. */
    sign(options: Challenge) {
      const client = clientData('webauthn.get', options)
      const data = authenticatorData(null)
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      const response = { clientDataJSON: text(client), authenticatorData: text(data), signature: text(signature) }
      return { ...credential, response }
    },
  }
}

// CBOR (RFC 8949): strings of less than 65,536 bytes.
function withHead(majorType: number, bytes: Buffer): Buffer {
  const head =
    bytes.length < 24
      ? [(majorType << 5) | bytes.length]
      : bytes.length < 256
        ? [(majorType << 5) | 24, bytes.length]
        : [(majorType << 5) | 25, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from(head), bytes])
}
const byteString = (bytes: Buffer) => withHead(2, bytes)
const textString = (words: string) => withHead(3, Buffer.from(words))
