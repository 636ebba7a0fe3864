import type { WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { requireRecentProof } from '../platform/http/proof.ts'
import type { Session } from '../platform/http/session.ts'
import { findSecondFactor } from './second-factor.ts'

/** Refuses without a recent proof what asks for the password itself: it is not enough where there is a second factor. */
export async function requireProofOfFactor({ db }: WithDatabase, session: Session): Promise<void> {
  const factor = await inWorkspace({ db }, session.home.workspaceId, (ctx) => findSecondFactor(ctx, session.home))
  if (factor) requireRecentProof(session)
}
