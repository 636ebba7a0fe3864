import { createHash, randomBytes } from 'node:crypto'

/** Something that opens what it was made for, and that nobody guesses: 43 characters. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What the database keeps of a token: whoever reads it there cannot use it. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
