import type * as contract from '@vigia/contract/accounts'
import { describeDevice } from '@vigia/contract/device'
import { sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, forgetTries, type Limit, networkOf, requireUnderLimit } from '../platform/http/throttle.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { uuidOf } from '../platform/text.ts'
import { recordAudit } from './audit/audit.ts'
import { isWrittenTo } from './email-proof.ts'
import { findPasskeys } from './passkeys.ts'
import { lockAccount, matchesPassword, requirePassword } from './passwords.ts'
import { atHome, inEachPlace, type Place, placesOf } from './places.ts'
import { findSecondFactor, takeCode, wrongCode } from './second-factor.ts'
import { deleteSessions } from './session-ends.ts'
import { createToken, listToken, tokenHash } from './tokens.ts'

/** Sessions per account, the one unseen longest ends first. Visitors of a shared one have one each. */
export const sessionsMax = 50
const sharedSessionsMax = 1_000

/** Failed logins with an e-mail. */
export const loginLimit: Limit = { name: 'login', times: 10, withinMs: 15 * 60_000 }
/** Failed logins from a network. */
export const networkLimit: Limit = { name: 'login de endereço', times: 50, withinMs: 15 * 60_000 }
const entranceLimit: Limit = { name: 'entrada', times: 300, withinMs: 15 * 60_000 }

/** The account at the home of somebody who may be about to enter. */
export interface KnownAccount {
  workspaceId: number
  accountId: number
  passwordHash: string
  shared: boolean
  /** Workspace of the last visit; null: home. */
  lastWorkspaceId: number | null
}

/** The account with the e-mail, or null. */
export async function findAccount({ db }: WithDatabase, email: string): Promise<KnownAccount | null> {
  const { rows } = await sql<KnownAccount>`
    select workspace_id as "workspaceId", account_id as "accountId", password_hash as "passwordHash", shared, last_workspace_id as "lastWorkspaceId"
      from account_for_login(${email.toLowerCase()})`.execute(db)
  return rows[0] ?? null
}

/**
 * Opens a session; null when e-mail and password do not match, in the same time whether or not the
 * e-mail exists. With the right password, an account with a second factor needs a code.
 */
export async function logIn(
  { db, log, config, vault }: Pick<Context, 'db' | 'log' | 'config' | 'vault'>,
  credentials: { email: string; password: string; code?: string | undefined },
  caller: Caller,
): Promise<OpenedSession | null> {
  const email = credentials.email.toLowerCase()
  const network = networkOf(caller.address)
  await requireUnderLimit({ db }, networkLimit, network)
  const account = await findAccount({ db }, email)
  // Tries with a shared login count per network: one visitor must not lock the others out.
  const who = account?.shared ? `${email} ${network}` : email
  // Counted before it is known to fail, so that guesses sent at once count like guesses in a row.
  await countTry({ db }, loginLimit, who)
  const matches = await matchesPassword({ config }, account?.passwordHash, credentials.password)
  if (account && matches) {
    const withFactor = await requireCode({ db, config, vault }, account, credentials.code, caller)
    await forgetTries({ db }, loginLimit, who)
    const opened = await openSession({ db, config }, { ...account, email }, caller, { withFactor })
    if (opened) return opened
  }
  await countTry({ db }, networkLimit, network)
  // After the answer, whose time must not tell that there is an account.
  const report = (error: unknown) => log.error({ err: error }, 'a refused login could not be written down')
  if (account && !account.shared) setImmediate(() => void noteRefusal({ db }, account, email, caller).catch(report))
  return null
}

/** A session that has just begun. */
export interface OpenedSession {
  token: string
  workspacePublicId: string
}

/** Opens a session where a proved person last worked; null: new password. `sentence`: for the audit. */
export async function openSession(
  { db, config }: WithConfig,
  { workspaceId, accountId, passwordHash, email, lastWorkspaceId }: KnownAccount & { email: string },
  caller: Caller,
  { sentence = 'Entrou.', withFactor = false } = {},
): Promise<OpenedSession | null> {
  const home = { workspaceId, accountId }
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    // Held until the end, like a password that is replaced: logins of one account take turns.
    const { rows } = await sql<{ name: string; shared: boolean; entered: boolean; writtenTo: boolean }>`
      select name, shared, entered_at is not null as entered, ${isWrittenTo({ config })} as "writtenTo" from account
       where workspace_id = ${workspaceId} and id = ${accountId} and password_hash = ${passwordHash}
         for no key update`.execute(db)
    const account = rows[0]
    if (!account) return null
    const who = `${workspaceId}/${accountId}`
    // Logins to a shared account count per network: one visitor must not lock the others out.
    await countTry({ db }, entranceLimit, account.shared ? `${who} ${networkOf(caller.address)}` : who)
    if (!account.entered)
      await sql`
        update account set entered_at = now() where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    const from = account.shared ? null : caller
    if (from && account.entered && account.writtenTo && !(await isKnownDevice({ db }, home, from))) {
      const device = describeDevice(from.agent ?? null)
      const payload = { at: new Date().toISOString(), address: from.address, device }
      await queueMail({ db }, { workspaceId, kind: 'aparelho-novo', recipient: email, payload })
    }
    const place = await findOpenPlace({ db }, home, lastWorkspaceId)
    const opened = await insertSession({ db, config }, place, from, { with_factor: withFactor })
    await endOldest({ db }, place, account.shared ? sharedSessionsMax : sessionsMax)
    // A visitor must not see when others came and went.
    if (from)
      await recordAudit({ db }, { ...place, accountName: account.name, address: from.address }, 'login', sentence)
    return opened
  })
}

// Picks the workspace of the last visit, else home, else any other that lets the person in; home
// again, for their own data, when none does. `ctx.db` starts inside the home and ends inside the
// result.
async function findOpenPlace(ctx: WithDatabase, home: Place, lastWorkspaceId: number | null): Promise<Place> {
  const places = await placesOf(ctx, home)
  places.sort((a, b) => Number(b.workspaceId === lastWorkspaceId) - Number(a.workspaceId === lastWorkspaceId))
  for (const place of places) {
    await enterWorkspace(ctx, place.workspaceId)
    if (await isLetIn(ctx, place)) return place
  }
  await enterWorkspace(ctx, home.workspaceId)
  return home
}

const accessIsOver =
  'O seu acesso a esse workspace terminou no dia combinado. Nada foi alterado: para voltar a entrar, peça a quem o administra que mude a data.'

async function isLetIn({ db }: WithDatabase, { workspaceId, accountId }: Place): Promise<boolean> {
  const { rows } = await sql`
    select from account
     where workspace_id = ${workspaceId} and id = ${accountId}
     and (access_until is null or access_until > now())`.execute(db)
  return rows.length > 0
}

// `ctx.db` is a transaction inside the workspace of the account. `carried`: what a session before it has shown already, and when that began.
async function insertSession(
  { db, config }: WithConfig,
  { workspaceId, accountId }: Place,
  from: Partial<Caller> | null,
  carried: { proved_at?: Date; created_at?: Date; with_factor: boolean },
): Promise<OpenedSession> {
  const token = createToken()
  await listToken({ db }, workspaceId, token, sql<Date>`now() + ${config.sessionMs}::float8 * interval '1 ms'`)
  const begun = sql`coalesce(${carried.created_at ?? null}::timestamptz, now())`
  await sql`
    insert into session (token_hash, workspace_id, account_id, created_at, proved_at, with_factor, address, agent, expires_at)
    values (${tokenHash(token)}, ${workspaceId}, ${accountId}, ${begun}, coalesce(${carried.proved_at ?? null}::timestamptz, now()),
            ${carried.with_factor}, ${from?.address ?? null}, ${from?.agent ?? null},
            least(${begun} + ${config.sessionMs}::float8 * interval '1 ms', now() + ${config.sessionIdleMs}::float8 * interval '1 ms'))`.execute(
    db,
  )
  const { rows } = await sql<{ workspacePublicId: string }>`
    select public_id as "workspacePublicId" from workspace where id = ${workspaceId}`.execute(db)
  return { token, ...rows[0]! }
}

/** Replaces this session by one, named `publicId`, in another workspace, where the next login leads. */
export async function switchWorkspace(
  { db, config }: WithConfig,
  session: Session,
  publicId: string,
  caller: Caller,
): Promise<OpenedSession> {
  const unknown = new AppError('not-found', 'Você não está nesse workspace, ou ele não existe mais.')
  const { rows } = await sql<{ id: number | null }>`
    select workspace_for_public_id(${uuidOf(publicId)}::uuid) as id`.execute(db)
  if (session.shared) throw unknown
  const { home } = session
  return inWorkspace({ db }, home.workspaceId, async ({ db }) => {
    await lockPerson({ db }, session)
    if (rows[0]?.id === session.workspaceId)
      throw new AppError('conflict', 'Você já está neste workspace. Nada foi alterado.')
    const place = (await placesOf({ db }, home)).find(({ workspaceId }) => workspaceId === rows[0]?.id)
    if (!place) throw unknown
    return moveSession({ db, config }, session, place, caller)
  })
}

/**
 * Holds the person of a session until the end of the transaction, so that what ends all of their sessions, or changes where they are, comes before or
 * after. Returns how they are called and reached. `ctx.db` is a transaction inside the home.
 */
export async function lockPerson(
  { db }: WithDatabase,
  { home }: Pick<Session, 'home'>,
): Promise<{ name: string; email: string }> {
  const account = await lockAccount({ db }, home)
  // They left in this moment, or their home is elsewhere now.
  if (!account) throw new AppError('unauthenticated', 'Sessão expirada. Faça login novamente.')
  return account
}

/** Opens a session of the person of another session in `place`, and ends that other one. `ctx.db` is a transaction inside the home, whose person is held. */
export async function moveSession(
  { db, config }: WithConfig,
  session: Session,
  place: Place,
  { address, agent }: Caller,
): Promise<OpenedSession> {
  const { home } = session
  await countTry({ db }, entranceLimit, `${home.workspaceId}/${home.accountId}`)
  await sql`
    update account_directory set last_workspace_id = ${place.workspaceId}
     where workspace_id = ${home.workspaceId} and account_id = ${home.accountId}`.execute(db)
  await enterWorkspace({ db }, session.workspaceId)
  const { rows } = await sql<{ proved_at: Date; created_at: Date; with_factor: boolean }>`
    select proved_at, created_at, with_factor from session
     where workspace_id = ${session.workspaceId} and token_hash = ${tokenHash(session.token)} for update`.execute(db)
  // It ended in this moment.
  if (!rows[0]) throw new AppError('unauthenticated', 'Sessão expirada. Faça login novamente.')
  await deleteSessions({ db }, session.workspaceId, sql`token_hash = ${tokenHash(session.token)}`)
  await enterWorkspace({ db }, place.workspaceId)
  if (!(await isLetIn({ db }, place))) throw new AppError('conflict', accessIsOver)
  const opened = await insertSession({ db, config }, place, { address, agent }, rows[0])
  await endOldest({ db }, place, sessionsMax)
  await recordAudit(
    { db },
    { ...place, accountName: session.accountName, address: session.address },
    'login',
    'Entrou, vindo de outro workspace.',
  )
  return opened
}

// Refuses a login without the code of an existing second factor; returns whether there is one.
async function requireCode(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  { workspaceId, accountId }: KnownAccount,
  code: string | undefined,
  { address }: Caller,
): Promise<boolean> {
  const actor = { workspaceId, accountId, accountName: stranger, address }
  if (!(await inWorkspace(ctx, workspaceId, (ctx) => findSecondFactor(ctx, actor)))) return false
  if (!code)
    throw new AppError('needs-proof', 'Digite o código do aplicativo autenticador, ou um código de recuperação.')
  if (await tryCode(ctx, actor, code, 'Login recusado: a senha conferiu, mas o código não.')) return true
  await countTry(ctx, networkLimit, networkOf(address))
  throw new AppError('unauthenticated', wrongCode)
}

// Only a correct code resets it: knowing the password as well gives no more tries.
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
  const person = atHome(session)
  if (await inWorkspace(ctx, person.workspaceId, (ctx) => findSecondFactor(ctx, person))) {
    if (!code) throw new AppError('invalid-input', 'Esta conta tem verificação em duas etapas: digite um código.')
    const isRight = await tryCode(ctx, person, code, 'Confirmação recusada: o código não conferiu.')
    // A call whose response was lost comes again, with a code that it has used.
    if (!isRight && session.provedLately && (await hasShownFactor(ctx, session))) return
    if (!isRight) throw new AppError('invalid-input', wrongCode)
    return noteProof(ctx, session, { withFactor: true })
  }
  await requirePassword(ctx, session, password ?? '', 'Confirmação recusada: a senha não conferiu.')
  await noteProof(ctx, session)
}

/**
 * Refuses a session without passkey or code when the person has a passkey: an intruder with the
 * password alone could otherwise add a passkey and pass for the owner from then on.
 */
export async function requireShownFactor(ctx: WithDatabase, session: Session): Promise<void> {
  if (await hasShownFactor(ctx, session)) return
  const { workspaceId, accountId } = session.home
  const passkeys = await inWorkspace(ctx, workspaceId, ({ db }) => findPasskeys({ db }, { workspaceId, accountId }))
  if (passkeys.length > 0)
    throw new AppError(
      'conflict',
      'Esta conta já tem uma passkey: entre com ela para mudar como se entra. Nada foi alterado. Se você não a tem mais, use "Esqueceu sua senha?" na tela de login: a senha nova remove as passkeys.',
    )
}

async function hasShownFactor(ctx: WithDatabase, { workspaceId, token }: Session): Promise<boolean> {
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ with_factor: boolean }>`
      select with_factor from session
       where workspace_id = ${workspaceId} and token_hash = ${tokenHash(token)}`.execute(db),
  )
  return rows[0]?.with_factor ?? false
}

/** Notes that the person of the session has just proved to be the account's, `withFactor` by more than the password. */
export async function noteProof(
  ctx: WithDatabase,
  { workspaceId, token }: Session,
  { withFactor = false } = {},
): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      update session set proved_at = now(), with_factor = with_factor or ${withFactor}
       where workspace_id = ${workspaceId} and token_hash = ${tokenHash(token)}`.execute(db),
  )
}

// Whether one like it opened a session of the person in the last month. Versions change without anybody doing anything, and addresses too.
async function isKnownDevice(ctx: WithDatabase, home: Place, { agent }: Caller): Promise<boolean> {
  const device = describeDevice(agent ?? null)
  let isKnown = false
  await inEachPlace(ctx, home, async ({ workspaceId, accountId }) => {
    const { rows } = await sql<{ agent: string | null }>`
      select distinct agent from session
       where workspace_id = ${workspaceId} and account_id = ${accountId}`.execute(ctx.db)
    isKnown ||= rows.some((session) => describeDevice(session.agent) === device)
  })
  return isKnown
}

// Old sessions are not used any more, and each could be stolen.
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

async function noteRefusal(
  ctx: WithDatabase,
  { workspaceId }: KnownAccount,
  email: string,
  { address }: Caller,
): Promise<void> {
  const actor = { workspaceId, accountName: stranger, address }
  const sentence = `Login de ${email} recusado: a senha não conferiu.`
  await inWorkspace(ctx, workspaceId, (ctx) => recordAudit(ctx, actor, 'login-recusado', sentence))
}

/** The name in the audit of a person who has not logged in. */
export const stranger = 'Alguém sem login'

/** The session that `token` opened, or null when it has ended. When and from where it is used is kept to the hour, and puts its end off. */
export async function findSession({ db, config }: WithConfig, token: string, caller: Caller): Promise<Session | null> {
  const { rows } = await sql<Omit<Session, 'token' | 'address'> & { seenLongAgo: boolean }>`
    select workspace_id as "workspaceId", workspace_public_id as "workspacePublicId", account_id as "accountId",
           account_name as "accountName", shared, role, company_ids as companies, lacks_factor as "lacksFactor", coalesce(access_until <= now(), false) as "isAccessOver", access_until as "accessUntil",
           json_build_object('workspaceId', home_workspace_id, 'accountId', home_account_id) as home, session_public_id as "publicId", expires_at as "expiresAt",
           proved_at > now() - interval '10 minutes' as "provedLately", seen_at <= now() - interval '1 hour' as "seenLongAgo"
      from session_for_token(${tokenHash(token)})`.execute(db)
  if (!rows[0]) return null
  const { seenLongAgo, ...found } = rows[0]
  const session = { ...found, token, ...(!found.shared && { address: caller.address }) }
  if (seenLongAgo) await noteSeen({ db, config }, session, caller)
  return session
}

async function noteSeen({ db, config }: WithConfig, session: Session, caller: Caller): Promise<void> {
  const { sessionMs, sessionIdleMs } = config
  // In UTC, because what depends on the zone of a connection may not be written into several servers.
  const end = sql`least((created_at at time zone 'UTC' + ${sessionMs}::float8 * interval '1 ms') at time zone 'UTC', now() + ${sessionIdleMs}::float8 * interval '1 ms')`
  const { address, agent } = session.shared ? { address: null, agent: null } : caller
  await inWorkspace({ db }, session.workspaceId, ({ db }) =>
    sql`
      update session set seen_at = now(), expires_at = ${end}, address = ${address}, agent = ${agent}
       where workspace_id = ${session.workspaceId} and token_hash = ${tokenHash(session.token)}
         and seen_at <= now() - interval '1 hour'`.execute(db),
  )
}

/** Ends the session: its token is worth nothing from here on. */
export async function logOut({ db }: WithDatabase, session: Session): Promise<void> {
  await inWorkspace({ db }, session.workspaceId, async ({ db }) => {
    const own = sql`token_hash = ${tokenHash(session.token)}`
    const ended = await deleteSessions({ db }, session.workspaceId, own)
    if (ended.length > 0 && !session.shared) await recordAudit({ db }, session, 'sessao', 'Saiu.')
  })
}

type OpenSession = DataOf<typeof contract.listSessions>[number]

/** The open sessions of the person, in all their workspaces, the newest first; those of others who share the account are not shown. */
export async function listSessions({ db }: WithDatabase, { home, shared, publicId }: Session): Promise<OpenSession[]> {
  return inWorkspace({ db }, home.workspaceId, async ({ db }) => {
    const open: OpenSession[] = []
    await inEachPlace({ db }, home, async ({ workspaceId, accountId }) => {
      const { rows } = await sql<OpenSession>`
        select s.public_id as "idSessao", w.name as workspace, s.public_id = ${publicId} as atual, s.created_at as "abertaEm",
               s.seen_at as "vistaEm", s.expires_at as "expiraEm", s.address as endereco, nullif(s.agent, '') as navegador
          from session s join workspace w on w.id = s.workspace_id
         where s.workspace_id = ${workspaceId} and s.account_id = ${accountId} and s.expires_at > now()
           and (not ${shared} or s.public_id = ${publicId})`.execute(db)
      open.push(...rows)
    })
    return open.sort((a, b) => Number(b.abertaEm) - Number(a.abertaEm) || (a.idSessao < b.idSessao ? -1 : 1))
  })
}

/** Ends the session `publicId` of the person or, when none is named, all but the one that asks, in all their workspaces. Returns how many ended. */
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
  return inWorkspace({ db }, session.home.workspaceId, async ({ db }) => {
    await lockPerson({ db }, session)
    const which = publicId === undefined ? sql`public_id <> ${session.publicId}` : sql`public_id = ${publicId}`
    let count = 0
    await inEachPlace({ db }, session.home, async (place) => {
      const open = sql`account_id = ${place.accountId} and expires_at > now() and ${which}`
      const ended = await deleteSessions({ db }, place.workspaceId, open)
      if (ended.length > 0) await recordAudit({ db }, { ...session, ...place }, 'sessao', endedSentence(ended))
      count += ended.length
    })
    if (publicId !== undefined && count === 0) throw unknownSession()
    return count
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
