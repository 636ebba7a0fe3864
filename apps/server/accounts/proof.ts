import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Session } from '../http/http.ts'
import { countTry, forgetTries } from '../http/throttle.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { currentLimit, inTurn, requirePassword } from './passwords.ts'
import { findSecondFactor, takeCode, wrongCode } from './second-factor.ts'
import { tokenHash } from './tokens.ts'

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

/** Takes the password of the account as a proof, or a code where it has a second factor; counts for ten minutes in this session. */
export async function proveAgain(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  { password, code }: { password?: string | undefined; code?: string | undefined },
): Promise<void> {
  const { workspaceId } = session
  const factor = await inWorkspace(ctx, workspaceId, (ctx) => findSecondFactor(ctx, session))
  if (factor) await requireCode(ctx, session, code)
  else await requirePassword(ctx, session, password ?? '', 'Confirmação recusada: a senha não conferiu.')
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .updateTable('session')
      .set({ proved_at: sql<Date>`now()` })
      .where('workspace_id', '=', workspaceId)
      .where('token_hash', '=', tokenHash(session.token))
      .execute(),
  )
}

async function requireCode(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  code: string | undefined,
): Promise<void> {
  if (!code) throw new AppError('invalid-input', 'Esta conta tem verificação em duas etapas: digite um código.')
  const { workspaceId, accountId } = session
  const who = `${workspaceId}/${accountId}`
  const isRight = await inTurn(`account ${who}`, async () => {
    await countTry(ctx, currentLimit, who)
    return inWorkspace(ctx, workspaceId, async (inside) => {
      const taken = await takeCode(inside, session, code)
      if (!taken) await recordAudit(inside, session, 'senha', 'Confirmação recusada: o código não conferiu.')
      return taken
    })
  })
  if (!isRight) throw new AppError('invalid-input', wrongCode)
  await forgetTries(ctx, currentLimit, who)
}
