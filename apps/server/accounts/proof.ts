import { type RawBuilder, sql } from 'kysely'
import type { Session } from '../http/http.ts'
import type { WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { findSecondFactor } from './second-factor.ts'

// What could be used against a company is not done for a session alone, which somebody may have found open: its person shows once more the
// password, or a code of the second factor where there is one.

/** SQL about the time of a proof: whether it still counts. */
export function isLately(provedAt: RawBuilder<Date>): RawBuilder<boolean> {
  return sql`${provedAt} > now() - interval '10 minutes'`
}

/** Refuses what only the person of the account may do, unless they proved lately to be that. Of a shared account everybody knows the password. */
export function requireRecentProof({ shared, provedLately }: Pick<Session, 'shared' | 'provedLately'>): void {
  if (shared || provedLately) return
  throw new AppError(
    'needs-proof',
    'Para fazer isto, confirme antes que é você: com a senha da conta ou, se ela tem verificação em duas etapas, com um código. Nada foi alterado.',
  )
}

/** The same, for what asks for the password itself: it is not enough where there is a second factor. */
export async function requireProofOfFactor({ db }: WithDatabase, session: Session): Promise<void> {
  const factor = await inWorkspace({ db }, session.home.workspaceId, (ctx) => findSecondFactor(ctx, session.home))
  if (factor) requireRecentProof(session)
}
