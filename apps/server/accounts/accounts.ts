import { randomBytes } from 'node:crypto'
import type * as contract from '@vigia/contract/accounts'
import { byInvitation } from '@vigia/contract/accounts'
import { planKinds, trialDays } from '@vigia/contract/codes'
import type { listWorkspaces as listRoute } from '@vigia/contract/team'
import { sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, type Limit, mayTry, networkOf } from '../platform/http/throttle.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { queueConfirmation } from './confirmation.ts'
import { findUnproved, prove } from './email-proof.ts'
import { endLinks } from './links.ts'
import { removeAccount } from './memberships.ts'
import { findPasskeys, removePasskeys } from './passkeys.ts'
import { refuseGuessable, refuseOwnEmail } from './password-rules.ts'
import { hashPassword, lockAccount } from './passwords.ts'
import { inEachPlace, placesOf } from './places.ts'
import { dropSecondFactor, findSecondFactor, removeSecondFactor } from './second-factor.ts'
import { deleteSessions } from './session-ends.ts'
import { findAccount } from './sessions.ts'
import { tokenHash } from './tokens.ts'
import { hasPasskeys } from './webauthn.ts'

const networkLimit: Limit = { name: 'cadastro', times: 300, withinMs: 3_600_000 }
// Limit over all networks: each sign-up sends a mail to an address that anybody may have typed.
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
 * Creates an account with its workspace. For a taken e-mail, only mails its owner, after the same
 * work: neither response nor time reveals the difference.
 */
export async function signUp(
  { db, config, log }: Pick<Context, 'db' | 'config' | 'log'>,
  account: NewAccount,
  caller: Caller,
): Promise<void> {
  if (config.signUp === 'invitation') throw new AppError('forbidden', byInvitation)
  await countTry({ db }, networkLimit, networkOf(caller.address))
  const email = account.email.toLowerCase()
  refuseGuessable({ config }, account.password)
  refuseOwnEmail({ config }, account.password, email)
  await countTry({ db }, installationLimit, '').catch((error: unknown) => {
    if (error instanceof AppError)
      log.warn({ limit: installationLimit }, 'sign-ups are refused: there were too many within the hour')
    throw error
  })
  const passwordHash = await hashPassword({ config }, account.password)
  const workspaceId = await nextWorkspaceId({ db })
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
    const plan = config.plans ? `: plano ${planKinds[account.plan].name}, com ${trialDays} dias de teste` : ''
    await recordAudit({ db }, actor, 'conta', `Conta criada para ${email}${plan}.`)
  })
}

/**
 * Creates an account with a proved e-mail in a workspace of its own, in the name of who runs the installation. Returns its first password, or null: the
 * e-mail has an account.
 */
export async function createAccount(
  { db, config }: WithConfig,
  { name, email }: { name: string; email: string },
): Promise<string | null> {
  const password = randomBytes(12).toString('base64url')
  const account = { name, email: email.toLowerCase(), plan: 2 as const }
  const passwordHash = await hashPassword({ config }, password)
  const workspaceId = await nextWorkspaceId({ db })
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const accountId = await claimEmail({ db }, workspaceId, account.email)
    if (accountId === null) return null
    await insertAccount({ db }, workspaceId, accountId, { ...account, passwordHash })
    await prove({ db }, { workspaceId, accountId })
    const sentence = `Conta criada para ${account.email} por quem administra o sistema.`
    await recordAudit({ db }, { workspaceId, accountName: 'Quem administra o sistema' }, 'conta', sentence)
    return password
  })
}

// The number comes first: the row can only be written by somebody who is in its workspace already.
async function nextWorkspaceId({ db }: WithDatabase): Promise<number> {
  const { rows } = await sql<{
    id: number
  }>`select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  return rows[0]!.id
}

/**
 * Adds an account at home in an existing workspace, for a person with a proved e-mail. Returns its
 * id, or null: the e-mail has an account. `ctx.db` is a transaction inside the workspace.
 */
export async function insertMember(
  { db }: WithDatabase,
  workspaceId: number,
  { email, name, passwordHash }: { email: string; name: string; passwordHash: string },
): Promise<number | null> {
  const accountId = await claimEmail({ db }, workspaceId, email)
  if (accountId === null) return null
  await sql`
    insert into account (workspace_id, id, email, name, password_hash, email_proved_at)
    values (${workspaceId}, ${accountId}, ${email}, ${name}, ${passwordHash}, now())`.execute(db)
  return accountId
}

// The id that the account of this e-mail will have; null: another account has the e-mail. `ctx.db` is a transaction inside its workspace.
async function claimEmail({ db }: WithDatabase, workspaceId: number, email: string): Promise<number | null> {
  const { rows } = await sql<{ accountId: number }>`
    insert into account_directory (email, workspace_id, account_id)
    values (${email}, ${workspaceId}, nextval(pg_get_serial_sequence('account', 'id')))
    on conflict do nothing returning account_id as "accountId"`.execute(db)
  return rows[0]?.accountId ?? null
}

// Inserts nothing without an id, with the same statements.
async function insertAccount(
  { db }: WithDatabase,
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
      select id, ${accountId}::int, ${account.email}, ${account.name}, ${account.phone ?? null}, ${account.passwordHash} from created
      returning id)
    select public_id from created`.execute(db)
  await sql`
    insert into workspace_directory (public_id, workspace_id)
    select id, ${workspaceId}::int from unnest(${rows.map((row) => row.public_id)}::uuid[]) id`.execute(db)
  await sql`
    insert into job (kind, workspace_id)
    select 'review', ${workspaceId}::int from unnest(${rows.map((row) => row.public_id)}::uuid[])`.execute(db)
}

/** The public ids of companies that somebody may see; null: all. The companies stand above. */
export type FindPublicIds = (
  ctx: WithDatabase,
  workspaceId: number,
  ids: readonly number[] | null,
) => Promise<string[] | null>

type Account = DataOf<typeof contract.getAccount>

/** The account of the session's person, and what its workspace is. */
export async function getAccount(ctx: WithConfig, session: Session, findPublicIds: FindPublicIds): Promise<Account> {
  const { home } = session
  return inWorkspace(ctx, home.workspaceId, async (ctx) => {
    const { db } = ctx
    // The new e-mail while its link may work.
    const { rows } = await sql<Pick<Account, 'nome' | 'email' | 'celular' | 'criadaEm' | 'emailNovo'>>`
      select name as nome, email, phone as celular, created_at as "criadaEm", case when new_email_until > now() then new_email end as "emailNovo"
        from account where workspace_id = ${home.workspaceId} and id = ${home.accountId}`.execute(db)
    if (!rows[0]) throw new AppError('not-found', 'Conta não encontrada.')
    const { emailNovo, ...own } = rows[0]
    const emailConfirmado = (await findUnproved(ctx, home)) === null
    const duasEtapas = await findSecondFactor(ctx, home)
    const outrosWorkspaces = (await placesOf(ctx, home)).length > 1
    const passkeys = hasPasskeys(ctx) ? await findPasskeys(ctx, home) : null
    await enterWorkspace(ctx, session.workspaceId)
    const { rows: workspaces } = await sql<{ exclusaoEm: Date | null; workspace: string }>`
      select erase_at as "exclusaoEm", name as workspace from workspace where id = ${session.workspaceId}`.execute(db)
    return {
      ...own,
      compartilhada: session.shared,
      emailConfirmado,
      duasEtapas,
      passkeys: passkeys?.map(({ credentialId, transports, ...shown }) => shown) ?? null,
      emailNovo,
      ...workspaces[0]!,
      papel: session.role,
      idsEmpresas: await findPublicIds(ctx, session.workspaceId, session.companies),
      outrosWorkspaces,
      faltaSegundoFator: session.lacksFactor,
      acessoEncerrado: session.isAccessOver,
    }
  })
}

type TheirWorkspace = DataOf<typeof listRoute>[number]

/** The workspaces of the session's person, by name. */
export async function listWorkspaces({ db }: WithDatabase, session: Session): Promise<TheirWorkspace[]> {
  return inWorkspace({ db }, session.home.workspaceId, async ({ db }) => {
    const found: TheirWorkspace[] = []
    await inEachPlace({ db }, session.home, async ({ workspaceId, accountId }) => {
      const { rows } = await sql<TheirWorkspace>`
        select w.public_id as "wsId", w.name as nome, a.role as papel, a.access_until as "acessoAte", w.id = ${session.workspaceId} as atual
          from account a join workspace w on w.id = a.workspace_id
         where a.workspace_id = ${workspaceId} and a.id = ${accountId}`.execute(db)
      found.push(...rows)
    })
    return found.sort((a, b) => String(a.nome).localeCompare(String(b.nome), 'pt-BR'))
  })
}

/** Changes how the person of the session is called and reached. */
export async function updateAccount(
  { db }: WithDatabase,
  session: Session,
  { name, phone = null }: { name: string; phone?: string | undefined | null },
): Promise<void> {
  const { workspaceId, accountId } = session
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ name: string; phone: string | null }>`
      select name, phone from account where workspace_id = ${workspaceId} and id = ${accountId} for update`.execute(db)
    const before = rows[0]!
    const changes = [
      ...(before.name === name ? [] : [`nome de “${before.name}” para “${name}”`]),
      ...(before.phone === phone ? [] : [`celular de ${before.phone ?? 'nenhum'} para ${phone ?? 'nenhum'}`]),
    ]
    if (changes.length === 0) return
    await sql`
      update account set phone = ${phone} where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    await inEachPlace({ db }, session, async (place) => {
      await sql`
        update account set name = ${name}
         where workspace_id = ${place.workspaceId} and id = ${place.accountId}`.execute(db)
    })
    await recordAudit({ db }, session, 'conta', `Alterou os dados da conta: ${changes.join('; ')}.`)
  })
}

/**
 * Shares the account with the e-mail: people who know its password do not see each other's
 * sessions, cannot change the password, and no address is stored. Returns whether it exists; throws
 * when its person is also in other workspaces, which a known password must not open.
 */
export async function shareAccount({ db }: WithDatabase, email: string): Promise<boolean> {
  const account = await findAccount({ db }, email)
  if (!account) return false
  const { workspaceId, accountId } = account
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockAccount({ db }, account)
    if ((await placesOf({ db }, account)).length > 1)
      throw new AppError(
        'conflict',
        'A pessoa desta conta participa de outros workspaces. Nada foi alterado: remova-a deles antes.',
      )
    // A shared account has no owner who could confirm an address.
    await sql`
      update account set shared = true, email_proved_at = least(email_proved_at, now()), new_email = null
       where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    await sql`
      update session set address = null, agent = null
       where workspace_id = ${workspaceId} and account_id = ${accountId}`.execute(db)
    await removeSecondFactor({ db }, account)
    await removePasskeys({ db }, account)
    await endLinks({ db }, account)
  })
  return true
}

/** Switches the second factor of the account with the e-mail off, for who runs the installation; null: there is no such account. */
export async function dropSecondFactorOf({ db, config }: WithConfig, email: string): Promise<boolean | null> {
  const account = await findAccount({ db }, email)
  if (!account) return null
  const actor = { ...account, accountName: 'Quem administra o sistema' }
  return inWorkspace({ db }, account.workspaceId, ({ db }) => dropSecondFactor({ db, config }, account, actor))
}

/** Ends all sessions of a workspace but the one of `keep`. `ctx.db` is a transaction inside the workspace. */
export async function endAllSessions({ db }: WithDatabase, workspaceId: number, keep?: string): Promise<void> {
  await deleteSessions({ db }, workspaceId, keep === undefined ? sql`true` : sql`token_hash <> ${tokenHash(keep)}`)
}

/** Removes all accounts; returns the e-mails of people without another. `ctx.db` is in the workspace. */
export async function removeAccounts(ctx: Pick<Context, 'db' | 'vault'>, workspaceId: number): Promise<string[]> {
  const { rows } = await sql<{ id: number; email: string }>`
    select id, email from account where workspace_id = ${workspaceId} order by id`.execute(ctx.db)
  const gone: string[] = []
  for (const { id, email } of rows) if (await removeAccount(ctx, { workspaceId, accountId: id })) gone.push(email)
  await endAllSessions(ctx, workspaceId)
  return gone
}

/** Removes expired sessions, links older than thirty days, and counts of tries whose time is over. */
export async function forgetOld({ db }: WithDatabase): Promise<void> {
  await sql`select forget_old_access()`.execute(db)
}
