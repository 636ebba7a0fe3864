import { hash, verify } from '@node-rs/argon2'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, forgetTries, type Limit } from '../platform/http/throttle.ts'
import { createLimiter } from '../platform/limiter.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { isWrittenTo, prove } from './email-proof.ts'
import { endLinks } from './links.ts'
import { refuseGuessable, refuseOwnEmail } from './password-rules.ts'
import { inEachPlace } from './places.ts'
import { requireProofOfFactor } from './proof.ts'
import { deleteSessions } from './session-ends.ts'
import { tokenHash } from './tokens.ts'
import { closeWaysIn, endCalendar, listWaysIn } from './ways-in.ts'

type WithCost = Pick<Context, 'config'>

/** Hash of an unused password: checking an unknown e-mail takes as long as checking a known one. */
export function unknownHash({ memoryCost, timeCost }: Config['passwordCost']): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$J8CMWI3coC8R1Flq8Ds9Rg$RQIhUxz96/Gu/Xci+fLipjILpi5lshF0VBsAYYQhync`
}

// The same letter with its accent is one character or two, as the keyboard likes.
const asTyped = (password: string) => password.normalize('NFC')

// Argon2 takes threads that also compress responses and read files: two of the four at most.
const takeTurn = createLimiter({
  each: 2,
  waiting: 200,
  full: 'Há gente demais entrando ao mesmo tempo. Nada foi alterado; tente de novo em instantes.',
})

/** The Argon2id hash of `password`, at the cost of the configuration. */
export async function hashPassword({ config }: WithCost, password: string): Promise<string> {
  using _ = await takeTurn('everybody')
  return hash(asTyped(password), { ...config.passwordCost, parallelism: 1 })
}

/** Whether `password` is the one of the hash `known`; without `known` the result is false, after the same time. */
export async function matchesPassword(
  { config }: WithCost,
  known: string | undefined,
  password: string,
): Promise<boolean> {
  using _ = await takeTurn('everybody')
  const matches = await verify(known ?? unknownHash(config.passwordCost), asTyped(password))
  return matches && known !== undefined
}

const wrongCurrent = 'A senha atual não confere.'
const currentLimit: Limit = { name: 'senha atual', times: 10, withinMs: 15 * 60_000 }

/** Replaces the password of somebody who knows the old one; only the session that asks stays open. */
export async function changePassword(
  { db, config }: WithConfig,
  session: Session,
  current: string,
  password: string,
): Promise<void> {
  await requireProofOfFactor({ db }, session)
  refuseGuessable({ config }, password)
  const refused = 'Troca de senha recusada: a senha atual não conferiu.'
  const known = await requirePassword({ db, config }, session, current, refused)
  const passwordHash = await hashPassword({ config }, password)
  await inWorkspace({ db }, session.workspaceId, async (ctx) => {
    const account = await lockAccount(ctx, session)
    // The password may have been replaced since it was checked.
    if (!account || account.password_hash !== known) throw new AppError('invalid-input', wrongCurrent)
    refuseOwnEmail({ config }, password, account.email)
    await replacePassword({ ...ctx, config }, session, { passwordHash, how: 'session', keep: session.token })
  })
}

/** Refuses when `password` is not the one of the session's person; returns its hash. `refused`: for the audit. */
export async function requirePassword(
  { db, config }: WithConfig,
  session: Session,
  password: string,
  refused: string,
): Promise<string> {
  const { home } = session
  // Tries with a shared login count per session: one visitor must not lock the others out.
  const who = `${home.workspaceId}/${home.accountId}${session.shared ? ` ${session.publicId}` : ''}`
  await countTry({ db }, currentLimit, who)
  const known = await findHash({ db }, home)
  if (!(await matchesPassword({ config }, known, password))) {
    await inWorkspace({ db }, session.workspaceId, (ctx) => recordAudit(ctx, session, 'senha', refused))
    throw new AppError('invalid-input', wrongCurrent)
  }
  await forgetTries({ db }, currentLimit, who)
  return known!
}

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

async function findHash({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<string | undefined> {
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ hash: string | null }>`
      select password_hash as hash from account
       where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db),
  )
  return rows[0]?.hash ?? undefined
}

/** The account, locked until the end of the transaction: replacements of its password take turns, and no login comes between. */
export async function lockAccount({ db }: WithDatabase, { workspaceId, accountId }: Owner) {
  const { rows } = await sql<{ name: string; email: string; password_hash: string | null }>`
    select name, email, password_hash from account
     where workspace_id = ${workspaceId} and id = ${accountId} for update`.execute(db)
  return rows[0]
}

/** Replaces the password in the transaction that holds the account; ends its links and its sessions, but for the one of `keep`. */
export async function replacePassword(
  { db, config }: WithConfig,
  owner: Owner & Partial<Pick<Caller, 'address'>>,
  { passwordHash, how, keep }: { passwordHash: string; how: 'link' | 'session'; keep?: string },
): Promise<{ email: string }> {
  const { workspaceId, accountId, address } = owner
  // Clear the new e-mail, too: an intruder with the old password may have requested it.
  const { rows } = await sql<{ name: string; email: string; wasProved: boolean; writtenTo: boolean }>`
    update account set password_hash = ${passwordHash}, new_email = null
     where workspace_id = ${workspaceId} and id = ${accountId}
    returning name, email, email_proved_at is not null as "wasProved", ${isWrittenTo({ config })} as "writtenTo"`.execute(
    db,
  )
  const account = rows[0]!
  const { wasProved } = account
  const { atHome, ...closed } =
    how === 'link'
      ? await closeWaysIn({ db }, owner, { wasProved, name: account.name })
      : { passkeys: [], keys: [], webhooks: [], rules: [], people: [], atHome: '' }
  await endLinks({ db }, owner, how === 'link' ? undefined : ['password', 'new-email'])
  const others = keep === undefined ? sql`true` : sql`token_hash <> ${tokenHash(keep)}`
  let calendars = 0
  await inEachPlace({ db }, { workspaceId, accountId }, async (place) => {
    await deleteSessions({ db }, place.workspaceId, sql`account_id = ${place.accountId} and ${others}`)
    // An intruder with the old password may have created a calendar.
    if (await endCalendar({ db }, place)) calendars++
  })
  const andCalendars = calendars > 0 ? '; o calendário de prazos deixou de receber' : ''
  const sentence = {
    link: `Senha trocada pelo link enviado por e-mail; todas as sessões foram encerradas${atHome}${andCalendars}.`,
    session: `Senha trocada com a senha atual; as outras sessões foram encerradas${andCalendars}.`,
  }[how]
  await recordAudit({ db }, { workspaceId, accountId, accountName: account.name, address }, 'senha', sentence)
  // Using the link proves access to the mailbox.
  if (how === 'link') await prove({ db }, owner)
  // Without a proved e-mail, a stranger may have typed these names in order to mail them to this person.
  const ways = wasProved ? { closed, open: await listWaysIn({ db }, owner) } : {}
  const payload = { at: new Date().toISOString(), address, how, ...ways }
  if (how === 'link' || account.writtenTo)
    await queueMail({ db }, { workspaceId, kind: 'senha-alterada', recipient: account.email, payload })
  return account
}
