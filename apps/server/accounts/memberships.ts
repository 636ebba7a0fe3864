import { type Selectable, sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Tables } from '../platform/tables.ts'
import { removePasskeys } from './passkeys.ts'
import { lockAccount } from './passwords.ts'
import { homeOf, type Place, placesOf } from './places.ts'
import { secondFactorPurpose } from './second-factor.ts'
import { deleteSessions } from './session-ends.ts'
import { unlistTokens } from './tokens.ts'

// Coming into a workspace beside the home, and going.

/** An account in another workspace for a person who has a home. `ctx.db` is a transaction inside that other workspace. */
export async function addMembership(
  { db }: WithDatabase,
  home: Place,
  workspaceId: number,
  { email, name }: { email: string; name: string },
): Promise<Place> {
  // A letter let them in, which proves their e-mail.
  const { rows } = await sql<{ id: number }>`
    insert into account (workspace_id, email, name, home_workspace_id, home_account_id, entered_at, email_proved_at)
    values (${workspaceId}, ${email}, ${name}, ${home.workspaceId}, ${home.accountId}, now(), now())
    returning id`.execute(db)
  const accountId = rows[0]!.id
  await sql`
    insert into membership (workspace_id, account_id, home_workspace_id, home_account_id)
    values (${workspaceId}, ${accountId}, ${home.workspaceId}, ${home.accountId})`.execute(db)
  return { workspaceId, accountId }
}

/**
 * Removes an account and its sessions from a workspace. A person at home here gets another home, if
 * any; else only audit entries stay. Returns whether no account is left. `ctx.db` is, and ends,
 * inside the workspace.
 */
export async function removeAccount(ctx: Pick<Context, 'db' | 'vault'>, place: Place): Promise<boolean> {
  const { db } = ctx
  const home = await lockHome(ctx, place)
  const isHome = home.workspaceId === place.workspaceId
  const others = isHome ? (await placesOf(ctx, home)).slice(1) : []
  const [next] = others
  await deleteSessions({ db }, place.workspaceId, sql`account_id = ${place.accountId}`)
  if (next) await moveHome(ctx, home, next, others)
  else if (isHome) {
    await sql`
      delete from account_directory
       where workspace_id = ${place.workspaceId} and account_id = ${place.accountId}`.execute(db)
    await removePasskeys({ db }, place)
  }
  await sql`
    delete from membership where workspace_id = ${place.workspaceId} and account_id = ${place.accountId}`.execute(db)
  await sql`delete from account where workspace_id = ${place.workspaceId} and id = ${place.accountId}`.execute(db)
  return isHome && next === undefined
}

// Two workspaces may let go of a person at once, and the home may move while the other waits. `ctx.db` is inside the workspace of `place` again afterwards.
async function lockHome(ctx: WithDatabase, place: Place): Promise<Place> {
  for (let times = 0; times < 5; times++) {
    const home = await homeOf(ctx, place)
    await enterWorkspace(ctx, home.workspaceId)
    const locked = await lockAccount(ctx, home)
    await enterWorkspace(ctx, place.workspaceId)
    const now = await homeOf(ctx, place)
    if (locked && now.workspaceId === home.workspaceId && now.accountId === home.accountId) return home
  }
  throw new AppError(
    'conflict',
    'Esta pessoa está sendo mudada de lugar. Nada foi alterado; tente de novo em instantes.',
  )
}

// The rows of a home go to another account of the person. What is sealed is sealed for one account.
async function moveHome(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  from: Place,
  to: Place,
  others: readonly Place[],
): Promise<void> {
  const own = sql`workspace_id = ${from.workspaceId} and account_id = ${from.accountId}`
  const { rows: accounts } = await sql<{
    email: string
    hash: string
    phone: string | null
    provedAt: Date | null
    enteredAt: Date | null
  }>`
    select email, password_hash as hash, phone, email_proved_at as "provedAt", entered_at as "enteredAt"
      from account where workspace_id = ${from.workspaceId} and id = ${from.accountId} for update`.execute(db)
  const account = accounts[0]!
  const { rows: factors } = await sql<Selectable<Tables['second_factor']>>`
    delete from second_factor where ${own} returning *`.execute(db)
  const { rows: codes } = await sql<Selectable<Tables['recovery_code']>>`
    delete from recovery_code where ${own} returning *`.execute(db)
  const { rows: passkeys } = await sql<Selectable<Tables['passkey']>>`
    delete from passkey where ${own} returning *`.execute(db)
  const digests = passkeys.map(({ digest }) => digest)
  await unlistTokens({ db }, digests)
  await sql`delete from account_directory where ${own}`.execute(db)
  await sql`
    delete from membership
     where home_workspace_id = ${from.workspaceId} and home_account_id = ${from.accountId}`.execute(db)

  await enterWorkspace({ db }, to.workspaceId)
  await sql`
    update account set home_workspace_id = null, home_account_id = null, password_hash = ${account.hash}, phone = ${account.phone},
           email_proved_at = coalesce(email_proved_at, ${account.provedAt}::timestamptz), entered_at = coalesce(entered_at, ${account.enteredAt})
     where workspace_id = ${to.workspaceId} and id = ${to.accountId}`.execute(db)
  await sql`
    insert into account_directory (email, workspace_id, account_id)
     values (${account.email}, ${to.workspaceId}, ${to.accountId})`.execute(db)
  const there = { workspace_id: to.workspaceId, account_id: to.accountId }
  const sealedThere = factors.map((factor) => ({
    ...factor,
    ...there,
    secret: vault.encrypt(
      vault.decrypt(factor.secret, secondFactorPurpose(from.workspaceId, from.accountId)),
      secondFactorPurpose(to.workspaceId, to.accountId),
    ),
  }))
  if (factors.length > 0) await db.insertInto('second_factor').values(sealedThere).execute()
  if (codes.length > 0)
    await db
      .insertInto('recovery_code')
      .values(codes.map((code) => ({ ...code, ...there })))
      .execute()
  if (passkeys.length > 0)
    await db
      .insertInto('passkey')
      .values(passkeys.map((passkey) => ({ ...passkey, ...there })))
      .execute()
  for (const digest of digests)
    await sql`insert into token_directory (token_hash, workspace_id, kept_until) values (${digest}, ${to.workspaceId}, 'infinity')`.execute(
      db,
    )
  for (const other of others) {
    if (other.workspaceId === to.workspaceId) continue
    await enterWorkspace({ db }, other.workspaceId)
    await sql`
      update account set home_workspace_id = ${to.workspaceId}, home_account_id = ${to.accountId}
       where workspace_id = ${other.workspaceId} and id = ${other.accountId}`.execute(db)
    await sql`
      insert into membership (workspace_id, account_id, home_workspace_id, home_account_id)
      values (${other.workspaceId}, ${other.accountId}, ${to.workspaceId}, ${to.accountId})`.execute(db)
  }
  await enterWorkspace({ db }, from.workspaceId)
}
