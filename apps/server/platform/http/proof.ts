import { AppError } from '../errors.ts'
import type { Session } from './session.ts'

// Somebody may have found the session open, so what could be used against a company needs the password again, or a code of the second factor.

/** Refuses a person who did not prove lately who they are. Everybody knows the password of a shared account, so it needs none. */
export function requireRecentProof({ shared, provedLately }: Pick<Session, 'shared' | 'provedLately'>): void {
  if (shared || provedLately) return
  throw new AppError(
    'needs-proof',
    'Para fazer isto, confirme antes que é você: com a senha da conta ou, se ela tem verificação em duas etapas, com um código. Nada foi alterado.',
  )
}
