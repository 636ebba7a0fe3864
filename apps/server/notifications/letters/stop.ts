import { z } from 'zod'
import type { Context } from '../../platform/context.ts'

/** Letters that a link ends, and their reader. */
export interface Stop {
  workspaceId: number
  accountId: number
  about: 'alertas' | 'prazos' | 'relatorios'
}

const purpose = 'letters'
const Sealed = z.tuple([z.int().positive(), z.int().positive(), z.enum(['alertas', 'prazos', 'relatorios'])])

/** The secret of a link that ends letters. No row is kept of it: it is sealed, and holds as long as the key of the installation does. */
export function writeStop({ vault }: Pick<Context, 'vault'>, { workspaceId, accountId, about }: Stop): string {
  return vault.encrypt(JSON.stringify([workspaceId, accountId, about]), purpose).toString('base64url')
}

/** Reads the secret of a link; null: we did not write it. */
export function readStop({ vault }: Pick<Context, 'vault'>, secret: string): Stop | null {
  if (!/^[\w-]{40,200}$/.test(secret)) return null
  try {
    const [workspaceId, accountId, about] = Sealed.parse(
      JSON.parse(vault.decrypt(Buffer.from(secret, 'base64url'), purpose)),
    )
    return { workspaceId, accountId, about }
  } catch {
    // Sealed with another key, or forged.
    return null
  }
}
