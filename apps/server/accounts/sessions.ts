import { describeDevice } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Caller, Session } from '../http/http.ts'
import { countTry, forgetTries, type Limit, networkOf, requireUnderLimit } from '../http/throttle.ts'
import { queueMail } from '../mail/mail.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { uuidOf } from '../platform/text.ts'
import { isWrittenTo } from './email-proof.ts'
import { inTurn, matchesPassword, requirePassword } from './passwords.ts'
import { isLately } from './proof.ts'
import { findSecondFactor, takeCode, wrongCode } from './second-factor.ts'
import { deleteSessions } from './session-ends.ts'
import { createToken, listToken, tokenHash } from './tokens.ts'

// Of one account; the one not seen for longest ends when another begins. Of a shared one each visitor has one.
const sessionsMax = 50
const sharedSessionsMax = 1_000

/** Failed logins with an e-mail. */
export const loginLimit: Limit = { name: 'login', times: 10, withinMs: 15 * 60_000 }
/** Failed logins from a network. */
export const networkLimit: Limit = { name: 'login de endereço', times: 50, withinMs: 15 * 60_000 }
const entranceLimit: Limit = { name: 'entrada', times: 300, withinMs: 15 * 60_000 }

/** An account that somebody may be about to enter. */
export interface KnownAccount {
  workspaceId: number
  workspacePublicId: string
  accountId: number
  passwordHash: string
  shared: boolean
}

/** The account with the e-mail, or null. */
export async function findAccount({ db }: WithDatabase, email: string): Promise<KnownAccount | null> {
  const { rows } = await sql<KnownAccount>`
    select workspace_id as "workspaceId", workspace_public_id as "workspacePublicId", account_id as "accountId", password_hash as "passwordHash", shared
      from account_for_login(${email.toLowerCase()})`.execute(db)
  return rows[0] ?? null
}

/**
 * Opens a session; null when e-mail and password do not match, after the same time whether or not the e-mail exists. Who knows the password of an
 * account with a second factor is asked for a code.
 */
export async function logIn(
  { db, log, config, vault }: Pick<Context, 'db' | 'log' | 'config' | 'vault'>,
  credentials: { email: string; password: string; code?: string | undefined },
  caller: Caller,
): Promise<{ token: string; workspacePublicId: string } | null> {
  const email = credentials.email.toLowerCase()
  const network = networkOf(caller.address)
  const report = (error: unknown) => log.error({ err: error }, 'a refused login could not be written down')
  const check = async () => {
    await requireUnderLimit({ db }, networkLimit, network)
    // Counted before it is known to fail, so that several processes together allow no more.
    await countTry({ db }, loginLimit, email)
    const account = await findAccount({ db }, email)
    const matches = await matchesPassword({ config }, account?.passwordHash, credentials.password)
    if (account && matches) {
      await requireCode({ db, config, vault }, account, credentials.code, caller)
      await forgetTries({ db }, loginLimit, email)
      const token = await openSession({ db, config }, { ...account, email }, caller)
      if (token) return { token, workspacePublicId: account.workspacePublicId }
    }
    await countTry({ db }, networkLimit, network)
    // After the answer, whose time must not tell that there is an account.
    if (account) setImmediate(() => void noteRefusal({ db }, account, email, caller).catch(report))
    return null
  }
  return inTurn(`network ${network}`, () => inTurn(`e-mail ${email}`, check))
}

/** Opens a session for who has proved to be the account's person; null: the password was replaced meanwhile. `sentence` is for the audit. */
export async function openSession(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { workspaceId, accountId, passwordHash, email }: KnownAccount & { email: string },
  caller: Caller,
  sentence = 'Entrou.',
): Promise<string | null> {
  const token = createToken()
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    // Held until the end, like a password that is replaced: logins of one account take turns.
    const account = await db
      .selectFrom('account')
      .select(['name', 'shared', 'entered_at', isWrittenTo({ config }).as('writtenTo')])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .where('password_hash', '=', passwordHash)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!account) return null
    const who = `${workspaceId}/${accountId}`
    // Of those who share an account nobody keeps the others out.
    await countTry({ db }, entranceLimit, account.shared ? `${who} ${networkOf(caller.address)}` : who)
    if (!account.entered_at)
      await db
        .updateTable('account')
        .set({ entered_at: sql<Date>`now()` })
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', accountId)
        .execute()
    const from = account.shared ? null : caller
    if (
      from &&
      account.entered_at &&
      account.writtenTo &&
      !(await isKnownDevice({ db }, { workspaceId, accountId }, from))
    ) {
      const payload = {
        at: new Date().toISOString(),
        address: from.address,
        device: describeDevice(from.agent ?? null),
      }
      await queueMail({ db }, { workspaceId, kind: 'aparelho-novo', recipient: email, payload })
    }
    const expiresAt = sql<Date>`now() + ${Math.min(config.sessionMs, config.sessionIdleMs)}::float8 * interval '1 ms'`
    await listToken({ db }, workspaceId, token, sql<Date>`now() + ${config.sessionMs}::float8 * interval '1 ms'`)
    await db
      .insertInto('session')
      .values({
        token_hash: tokenHash(token),
        workspace_id: workspaceId,
        account_id: accountId,
        expires_at: expiresAt,
        address: from?.address,
        agent: from?.agent,
      })
      .execute()
    await endOldest({ db }, { workspaceId, accountId }, account.shared ? sharedSessionsMax : sessionsMax)
    const actor = { workspaceId, accountId, accountName: account.name, address: from?.address }
    await recordAudit({ db }, actor, 'login', sentence)
    return token
  })
}

// Refuses who knows the password and does not show a code of the second factor, where there is one.
async function requireCode(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  { workspaceId, accountId }: KnownAccount,
  code: string | undefined,
  { address }: Caller,
): Promise<void> {
  const actor = { workspaceId, accountId, accountName: stranger, address }
  if (!(await inWorkspace(ctx, workspaceId, (ctx) => findSecondFactor(ctx, actor)))) return
  if (!code)
    throw new AppError('needs-proof', 'Digite o código do aplicativo autenticador, ou um código de recuperação.')
  if (await tryCode(ctx, actor, code, 'Login recusado: a senha conferiu, mas o código não.')) return
  await countTry(ctx, networkLimit, networkOf(address))
  throw new AppError('unauthenticated', wrongCode)
}

// Nothing but a right code sets it back: whoever knows the password as well has no more tries.
const codeLimit: Limit = { name: 'código', times: 10, withinMs: 15 * 60_000 }

async function tryCode(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  actor: Parameters<typeof takeCode>[1],
  code: string,
  refused: string,
): Promise<boolean> {
  const who = `${actor.workspaceId}/${actor.accountId}`
  await countTry(ctx, codeLimit, who)
  const isRight = await inWorkspace(ctx, actor.workspaceId, async (ctx) => {
    const taken = await takeCode(ctx, actor, code)
    if (!taken) await recordAudit(ctx, actor, 'login-recusado', refused)
    return taken
  })
  if (isRight) await forgetTries(ctx, codeLimit, who)
  return isRight
}

/** Takes the password of the account as a proof, or a code where it has a second factor; counts for ten minutes in this session. */
export async function proveAgain(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  { password, code }: { password?: string | undefined; code?: string | undefined },
): Promise<void> {
  const { workspaceId } = session
  if (await inWorkspace(ctx, workspaceId, (ctx) => findSecondFactor(ctx, session))) {
    if (!code) throw new AppError('invalid-input', 'Esta conta tem verificação em duas etapas: digite um código.')
    const isRight = await tryCode(ctx, session, code, 'Confirmação recusada: o código não conferiu.')
    // A call whose response was lost comes again, with a code that it has used.
    if (!isRight && session.provedLately) return
    if (!isRight) throw new AppError('invalid-input', wrongCode)
  } else await requirePassword(ctx, session, password ?? '', 'Confirmação recusada: a senha não conferiu.')
  await noteProof(ctx, session)
}

/** Notes that the person of the session has just proved to be the account's. */
export async function noteProof(ctx: WithDatabase, { workspaceId, token }: Session): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .updateTable('session')
      .set({ proved_at: sql<Date>`now()` })
      .where('workspace_id', '=', workspaceId)
      .where('token_hash', '=', tokenHash(token))
      .execute(),
  )
}

// Whether one like it opened a session of the account in the last month. Versions change without anybody doing anything, and addresses too.
async function isKnownDevice(
  { db }: WithDatabase,
  { workspaceId, accountId }: Pick<KnownAccount, 'workspaceId' | 'accountId'>,
  { agent }: Caller,
): Promise<boolean> {
  const known = await db
    .selectFrom('session')
    .select('agent')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .execute()
  const device = describeDevice(agent ?? null)
  return known.some((session) => describeDevice(session.agent) === device)
}

// Nobody looks at more, and each is one more that somebody may find.
async function endOldest(
  { db }: WithDatabase,
  { workspaceId, accountId }: Pick<KnownAccount, 'workspaceId' | 'accountId'>,
  kept: number,
): Promise<void> {
  const oldest = sql`token_hash in (
    select token_hash from session where workspace_id = ${workspaceId} and account_id = ${accountId}
     order by seen_at desc, created_at desc, token_hash offset ${kept})`
  await deleteSessions({ db }, workspaceId, oldest)
}

async function noteRefusal({ db }: WithDatabase, account: KnownAccount, email: string, caller: Caller): Promise<void> {
  const address = account.shared ? undefined : caller.address
  const actor = { workspaceId: account.workspaceId, accountName: stranger, address }
  await inWorkspace({ db }, account.workspaceId, (ctx) =>
    recordAudit(ctx, actor, 'login-recusado', `Login de ${email} recusado: a senha não conferiu.`),
  )
}

/** The name in the audit of a person who has not logged in. */
export const stranger = 'Alguém sem login'

/** The session that `token` opened, or null when it has ended. When and from where it is used is kept to the hour, and puts its end off. */
export async function findSession(
  { db, config }: Pick<Context, 'db' | 'config'>,
  token: string,
  caller: Caller,
): Promise<Session | null> {
  const { rows } = await sql<Omit<Session, 'token' | 'address'> & { seenLongAgo: boolean }>`
    select workspace_id as "workspaceId", workspace_public_id as "workspacePublicId", account_id as "accountId",
           account_name as "accountName", shared, session_public_id as "publicId", expires_at as "expiresAt",
           ${isLately(sql`proved_at`)} as "provedLately", seen_at <= now() - interval '1 hour' as "seenLongAgo"
      from session_for_token(${tokenHash(token)})`.execute(db)
  if (!rows[0]) return null
  const { seenLongAgo, ...found } = rows[0]
  const session = { ...found, token, ...(!found.shared && { address: caller.address }) }
  if (seenLongAgo) await noteSeen({ db, config }, session, caller)
  return session
}

async function noteSeen(
  { db, config }: Pick<Context, 'db' | 'config'>,
  session: Session,
  caller: Caller,
): Promise<void> {
  const { sessionMs, sessionIdleMs } = config
  const end = sql<Date>`least(created_at + ${sessionMs}::float8 * interval '1 ms', now() + ${sessionIdleMs}::float8 * interval '1 ms')`
  const { address, agent } = session.shared ? { address: null, agent: null } : caller
  await inWorkspace({ db }, session.workspaceId, ({ db }) =>
    db
      .updateTable('session')
      .set({ seen_at: sql<Date>`now()`, expires_at: end, address, agent })
      .where('token_hash', '=', tokenHash(session.token))
      .where('workspace_id', '=', session.workspaceId)
      .where('seen_at', '<=', sql<Date>`now() - interval '1 hour'`)
      .execute(),
  )
}

/** Ends the session: its token is worth nothing from here on. */
export async function logOut({ db }: WithDatabase, session: Session): Promise<void> {
  await inWorkspace({ db }, session.workspaceId, async ({ db }) => {
    const own = sql`token_hash = ${tokenHash(session.token)}`
    const ended = await deleteSessions({ db }, session.workspaceId, own)
    if (ended.length > 0) await recordAudit({ db }, session, 'sessao', 'Saiu.')
  })
}

/** The open sessions of the account, the newest first; those of others who share it are not shown. */
export async function listSessions({ db }: WithDatabase, { workspaceId, accountId, shared, publicId }: Session) {
  return inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('session')
      .select(['public_id', 'created_at', 'seen_at', 'expires_at', 'address', 'agent'])
      .where('workspace_id', '=', workspaceId)
      .where('account_id', '=', accountId)
      .where('expires_at', '>', sql<Date>`now()`)
      .$if(shared, (query) => query.where('public_id', '=', publicId))
      .orderBy('created_at', 'desc')
      .orderBy('public_id')
      .execute(),
  )
}

/** Which of the sessions `publicIds` of a workspace are over, for whatever reason. */
export async function listEnded(
  { db }: WithDatabase,
  workspaceId: number,
  publicIds: readonly string[],
): Promise<string[]> {
  if (publicIds.length === 0) return []
  const open = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('session')
      .select('public_id')
      .where('workspace_id', '=', workspaceId)
      .where('public_id', 'in', publicIds)
      .execute(),
  )
  const known = new Set(open.map((row) => row.public_id))
  return publicIds.filter((publicId) => !known.has(publicId))
}

/** Ends the session `publicId` of the account or, when none is named, all but the one that asks. Returns how many ended. */
export async function endSessions(
  { db }: WithDatabase,
  session: Session,
  publicId: string | undefined,
): Promise<number> {
  if (session.shared && publicId !== session.publicId)
    throw new AppError(
      'conflict',
      'Esta conta é compartilhada, e as outras sessões são de outras pessoas: nenhuma foi encerrada. Para encerrar a sua, use "Sair".',
    )
  if (publicId !== undefined && uuidOf(publicId) === null) throw unknownSession()
  return inWorkspace({ db }, session.workspaceId, async ({ db }) => {
    const which = publicId === undefined ? sql`public_id <> ${session.publicId}` : sql`public_id = ${publicId}`
    const open = sql`account_id = ${session.accountId} and expires_at > now() and ${which}`
    const ended = await deleteSessions({ db }, session.workspaceId, open)
    if (publicId !== undefined && ended.length === 0) throw unknownSession()
    if (ended.length > 0) await recordAudit({ db }, session, 'sessao', endedSentence(ended))
    return ended.length
  })
}

function unknownSession(): AppError {
  return new AppError('not-found', 'Essa sessão não existe ou já terminou.')
}

function endedSentence(ended: { address: string | null; agent: string | null }[]): string {
  if (ended.length > 1) return `Encerrou ${ended.length} outras sessões.`
  const [{ address, agent }] = ended as [(typeof ended)[number]]
  const details = [address, agent].filter(Boolean).join(', ')
  return details ? `Encerrou uma sessão (${details}).` : 'Encerrou uma sessão.'
}
