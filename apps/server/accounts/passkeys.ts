import type { getAccount } from '@vigia/contract/accounts'
import { sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { uuidOf } from '../platform/text.ts'
import { recordAudit } from './audit/audit.ts'
import { reconnectPagesOf } from './places.ts'
import { tellOfFactor } from './second-factor.ts'
import { unlistTokens } from './tokens.ts'

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

/** Removes a passkey of the account of the session. */
export async function removePasskey(ctx: WithConfig, session: Session, publicId: string): Promise<void> {
  await inWorkspace(ctx, session.workspaceId, async ({ db }) => {
    const { rows } = await sql<{ name: string; digest: Buffer }>`
      delete from passkey
       where workspace_id = ${session.workspaceId} and account_id = ${session.accountId}
         and public_id = ${uuidOf(publicId)}::uuid returning name, digest`.execute(db)
    const removed = rows[0]
    if (!removed) throw new AppError('not-found', 'Esta passkey não existe ou já foi removida.')
    await unlistTokens({ db }, [removed.digest])
    await reconnectPagesOf({ db }, session)
    await recordAudit({ db }, session, 'senha', `Removeu a passkey “${removed.name}”.`)
    await tellOfFactor({ db, config: ctx.config }, session, 'passkey-removida', session.address)
  })
}

/** Removes all passkeys of an account without a word; returns their names. `ctx.db` is a transaction inside the workspace. */
export async function removePasskeys({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<string[]> {
  const { rows: removed } = await sql<{ name: string; digest: Buffer }>`
    delete from passkey where workspace_id = ${workspaceId} and account_id = ${accountId}
    returning name, digest`.execute(db)
  await unlistTokens(
    { db },
    removed.map(({ digest }) => digest),
  )
  return removed.map(({ name }) => name)
}

type Passkey = NonNullable<DataOf<typeof getAccount>['passkeys']>[number] & {
  credentialId: string
  transports: string[]
}

/** The passkeys of an account, the oldest first. `ctx.db` is a transaction inside the workspace. */
export async function findPasskeys({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<Passkey[]> {
  const { rows } = await sql<Passkey>`
    select public_id as "idPasskey", credential_id as "credentialId", transports, name as nome, created_at as "criadaEm", used_at as "usadaEm"
      from passkey where workspace_id = ${workspaceId} and account_id = ${accountId}
     order by created_at, public_id`.execute(db)
  return rows
}
