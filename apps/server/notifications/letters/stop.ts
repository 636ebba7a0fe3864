import type { Context } from '../../platform/context.ts'
import { openLink, sealLink } from '../../platform/vault.ts'

/** Letters that a link ends, and their reader. */
export interface Stop {
  workspaceId: number
  accountId: number
  about: 'alertas' | 'prazos' | 'relatorios'
}

const purpose = 'letters'

/** The secret of a link that ends letters. No row is kept of it: it is sealed, and holds as long as the key of the installation does. */
export function writeStop({ vault }: Pick<Context, 'vault'>, { workspaceId, accountId, about }: Stop): string {
  return sealLink(vault, [workspaceId, accountId, about], purpose)
}

/** Reads the secret of a link; null: we did not write it. */
export function readStop({ vault }: Pick<Context, 'vault'>, secret: string): Stop | null {
  const [workspaceId, accountId, about] = openLink<[number, number, Stop['about']]>(vault, secret, purpose) ?? []
  return workspaceId && accountId && about ? { workspaceId, accountId, about } : null
}
