import { planKinds, trialDays } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Caller, Session } from '../http/http.ts'
import { countTry, type Limit, mayTry, networkOf } from '../http/throttle.ts'
import { queueMail } from '../mail/mail.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { queueConfirmation } from './confirmation.ts'
import { findUnproved } from './email-proof.ts'
import { endLinks } from './links.ts'
import { findPasskeys, removePasskeys } from './passkeys.ts'
import { refuseGuessable, refuseOwnEmail } from './password-rules.ts'
import { hashPassword, lockAccount } from './passwords.ts'
import { dropSecondFactor, findSecondFactor, removeSecondFactor } from './second-factor.ts'
import { deleteSessions } from './session-ends.ts'
import { findAccount } from './sessions.ts'
import { tokenHash } from './tokens.ts'

export { confirmEmailOf } from './confirmation.ts'
export { isWrittenTo, requireProvedEmail } from './email-proof.ts'
export { accountMails } from './mails.ts'
export { requirePassword } from './passwords.ts'
export { requireProofOfFactor, requireRecentProof } from './proof.ts'
export { sessionChannel } from './session-ends.ts'
export { findSession, listEnded } from './sessions.ts'
export { listToken, tokenHash } from './tokens.ts'

const networkLimit: Limit = { name: 'cadastro', times: 300, withinMs: 3_600_000 }
// Whoever has many networks: each sign-up sends a letter of ours to an address that somebody typed.
const installationLimit: Limit = { name: 'cadastros', times: 3_000, withinMs: 3_600_000 }
const existingLimit: Limit = { name: 'conta existente', times: 1, withinMs: 3_600_000 }

interface NewAccount {
  name: string
  email: string
  password: string
  phone?: string
  plan: 1 | 2
}

/**
 * Creates an account in a workspace of its own. When the e-mail is taken nothing changes and its owner is told by mail, after the same work:
 * neither the answer nor its time says which of both happened.
 */
export async function signUp(
  { db, config, log }: Pick<Context, 'db' | 'config' | 'log'>,
  account: NewAccount,
  caller: Caller,
): Promise<void> {
  await countTry({ db }, networkLimit, networkOf(caller.address))
  const email = account.email.toLowerCase()
  refuseGuessable({ config }, account.password)
  refuseOwnEmail(account.password, email)
  await countTry({ db }, installationLimit, '').catch((error: unknown) => {
    if (error instanceof AppError)
      log.warn({ limit: installationLimit }, 'sign-ups are refused: there were too many within the hour')
    throw error
  })
  const passwordHash = await hashPassword({ config }, account.password)
  // The number comes first: the row can only be written by somebody who is in its workspace already.
  const { rows } = await sql<{
    id: number
  }>`select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  const workspaceId = rows[0]!.id
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const accountId = await claimEmail({ db }, workspaceId, email)
    await insertAccount({ db }, workspaceId, accountId, { ...account, email, passwordHash })
    if (accountId === null) {
      // Anybody may type the e-mail, over and over.
      const payload = { told: await mayTry({ db }, existingLimit, email) }
      return queueMail({ db }, { kind: 'conta-existente', recipient: email, payload, usefulMs: 24 * 3_600_000 })
    }
    await queueConfirmation({ db }, email, caller)
    const actor = { workspaceId, accountId, accountName: account.name, address: caller.address }
    const plan = `plano ${planKinds[account.plan].name}, com ${trialDays} dias de teste`
    await recordAudit({ db }, actor, 'conta', `Conta criada para ${email}: ${plan}.`)
  })
}

// The id that the account of this e-mail will have; null: another account has the e-mail.
async function claimEmail({ db }: Pick<Context, 'db'>, workspaceId: number, email: string): Promise<number | null> {
  const { rows } = await sql<{ accountId: number }>`
    insert into account_directory (email, workspace_id, account_id)
    values (${email}, ${workspaceId}, nextval(pg_get_serial_sequence('account', 'id')))
    on conflict do nothing returning account_id as "accountId"`.execute(db)
  return rows[0]?.accountId ?? null
}

// Inserts nothing without an id, with the same statements.
async function insertAccount(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  accountId: number | null,
  account: Omit<NewAccount, 'password'> & { passwordHash: string },
): Promise<void> {
  const { rows } = await sql<{ public_id: string }>`
    with created as (
      insert into workspace (id, name, plan)
      select ${workspaceId}::int, ${account.name}::text, ${account.plan}::smallint where ${accountId}::int is not null
      returning id, public_id),
    person as (
      insert into account (workspace_id, id, email, name, phone, password_hash)
      select id, ${accountId}::int, ${account.email}, ${account.name}, ${account.phone ?? null}, ${account.passwordHash} from created)
    select public_id from created`.execute(db)
  await sql`
    insert into workspace_directory (public_id, workspace_id)
    select id, ${workspaceId}::int from unnest(${rows.map((row) => row.public_id)}::uuid[]) id`.execute(db)
}

// While its link may work.
const currentNewEmail = sql<string | null>`case when a.new_email_until > now() then a.new_email end`.as('new_email')

/** The account of the session; `erase_at`: when it goes, with its workspace; `proved`: its e-mail needs no confirmation (any more). */
export async function getAccount({ db, config }: Pick<Context, 'db' | 'config'>, session: Session) {
  const { workspaceId, accountId } = session
  const account = await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const row = await db
      .selectFrom('account as a')
      .innerJoin('workspace as w', 'w.id', 'a.workspace_id')
      .select(['a.name', 'a.email', currentNewEmail, 'a.phone', 'a.created_at', 'w.erase_at'])
      .where('a.workspace_id', '=', workspaceId)
      .where('a.id', '=', accountId)
      .executeTakeFirst()
    if (!row) return undefined
    const proved = (await findUnproved({ db, config }, session)) === null
    const secondFactor = await findSecondFactor({ db }, session)
    return { ...row, proved, secondFactor, passkeys: await findPasskeys({ db }, session) }
  })
  if (!account) throw new AppError('not-found', 'Conta não encontrada.')
  return account
}

/** Changes how the person of the session is called and reached. */
export async function updateAccount(
  { db }: Pick<Context, 'db'>,
  session: Session,
  { name, phone = null }: { name: string; phone?: string | undefined | null },
): Promise<void> {
  if (session.shared)
    throw new AppError(
      'conflict',
      'Esta conta é compartilhada: todos a usam com o mesmo nome, e por isso ele não pode ser trocado. Nada foi alterado. Para ter uma conta só sua, crie uma.',
    )
  const { workspaceId, accountId } = session
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const before = await db
      .selectFrom('account')
      .select(['name', 'phone'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const changes = [
      ...(before.name === name ? [] : [`nome de “${before.name}” para “${name}”`]),
      ...(before.phone === phone ? [] : [`celular de ${before.phone ?? 'nenhum'} para ${phone ?? 'nenhum'}`]),
    ]
    if (changes.length === 0) return
    await db
      .updateTable('account')
      .set({ name, phone })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .execute()
    await recordAudit({ db }, session, 'conta', `Alterou os dados da conta: ${changes.join('; ')}.`)
  })
}

/**
 * Makes the account with the e-mail one that many use, each knowing its password: they do not see or end the sessions of each other, nobody
 * replaces the password, and nothing is kept of where they come from. Returns whether there is such an account.
 */
export async function shareAccount({ db }: Pick<Context, 'db'>, email: string): Promise<boolean> {
  const account = await findAccount({ db }, email)
  if (!account) return false
  const { workspaceId, accountId } = account
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockAccount({ db }, account)
    const own = { workspace_id: workspaceId, account_id: accountId }
    await db
      .updateTable('account')
      // Whose password everybody knows has no owner who could confirm anything.
      .set({ shared: true, email_proved_at: sql<Date>`coalesce(email_proved_at, now())`, new_email: null })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .execute()
    await db
      .updateTable('session')
      .set({ address: null, agent: null })
      .where((where) => where.and(own))
      .execute()
    await removeSecondFactor({ db }, account)
    await removePasskeys({ db }, account)
    await endLinks({ db }, account)
  })
  return true
}

/** Switches the second factor of the account with the e-mail off, for who runs the installation; null: there is no such account. */
export async function dropSecondFactorOf(
  { db, config }: Pick<Context, 'db' | 'config'>,
  email: string,
): Promise<boolean | null> {
  const account = await findAccount({ db }, email)
  if (!account) return null
  const actor = { ...account, accountName: 'Quem administra o sistema' }
  return inWorkspace({ db }, account.workspaceId, ({ db }) => dropSecondFactor({ db, config }, account, actor))
}

/** Ends all sessions of a workspace but the one of `keep`. `ctx.db` is a transaction inside the workspace. */
export async function endAllSessions({ db }: Pick<Context, 'db'>, workspaceId: number, keep?: string): Promise<void> {
  await deleteSessions({ db }, workspaceId, keep === undefined ? sql`true` : sql`token_hash <> ${tokenHash(keep)}`)
}

/** Removes the accounts of a workspace: nobody enters it any more. Returns their e-mails. `ctx.db` is a transaction inside it. */
export async function removeAccounts({ db }: Pick<Context, 'db'>, workspaceId: number): Promise<string[]> {
  await endAllSessions({ db }, workspaceId)
  const rows = await db.deleteFrom('account').where('workspace_id', '=', workspaceId).returning('email').execute()
  await db.deleteFrom('account_directory').where('workspace_id', '=', workspaceId).execute()
  return rows.map(({ email }) => email)
}

/** Removes what nobody asks for any more: sessions that expired, links older than thirty days, counts of tries whose time is over. */
export async function forgetOld({ db }: Pick<Context, 'db'>): Promise<void> {
  await sql`select forget_old_access()`.execute(db)
}
