import { sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Caller } from '../http/http.ts'
import { countTry, forgetTries, type Limit, networkOf } from '../http/throttle.ts'
import { queueMail } from '../mail/mail.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { refuseCommon, refuseOwnEmail } from './password-rules.ts'
import { hashPassword, lockAccount, replacePassword } from './passwords.ts'
import { findAccount, loginLimit, stranger } from './sessions.ts'
import { listToken, tokenHash } from './tokens.ts'

const hourMs = 3_600_000
const emailLimit: Limit = { name: 'recuperação', times: 5, withinMs: hourMs }
const networkLimit: Limit = { name: 'recuperação de endereço', times: 30, withinMs: hourMs }

/** Queues the letter with a link. Whether there is an account is looked up when the letter leaves, so that the answer tells nothing. */
export async function requestRecovery({ db }: WithDatabase, email: string, { address }: Caller): Promise<void> {
  const recipient = email.toLowerCase()
  await countTry({ db }, networkLimit, networkOf(address))
  await countTry({ db }, emailLimit, recipient)
  const payload = { at: new Date().toISOString(), address }
  await queueMail({ db }, { kind: 'recuperar-senha', recipient, payload, usefulMs: 6 * hourMs })
}

/**
 * The token of the link that a mail brings to the account with the e-mail, valid for one hour from now on. It is the same at each attempt to
 * send the mail: the letter of an attempt that seemed to fail may have arrived. Null: there is no such account, its password is not for its users to replace, or the earlier link was used.
 */
export async function createLink(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  { mailId, email, at, address }: { mailId: bigint; email: string; at: string; address: string },
): Promise<{ token: string; expiresAt: Date } | null> {
  const account = await findAccount({ db }, email)
  if (!account || account.shared) return null
  const { workspaceId, accountId } = account
  const token = vault.derive(`recovery ${mailId} ${at} ${workspaceId}/${accountId}`).toString('base64url')
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const link = await db
      .insertInto('password_recovery')
      .values({
        token_hash: tokenHash(token),
        workspace_id: workspaceId,
        account_id: accountId,
        expires_at: sql<Date>`now() + interval '1 hour'`,
        mail_id: mailId,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'mail_id'])
          .doUpdateSet(({ ref }) => ({
            token_hash: ref('excluded.token_hash'),
            expires_at: ref('excluded.expires_at'),
          }))
          .where('password_recovery.used_at', 'is', null),
      )
      // A row that was updated bears the mark of this transaction.
      .returning(['expires_at', sql<boolean>`xmax = 0`.as('first')])
      .executeTakeFirst()
    if (!link) return null
    // Used and expired links are told apart for as long as they are kept.
    await listToken({ db }, workspaceId, token, sql`now() + interval '30 days'`)
    const sentence = `Link de recuperação de senha pedido para ${email}.`
    if (link.first) await recordAudit({ db }, { workspaceId, accountName: stranger, address }, 'senha', sentence)
    return { token, expiresAt: link.expires_at }
  })
}

interface Link {
  workspaceId: number
  accountId: number
  expiresAt: Date
}

/** The link that still works; refuses one that is unknown, expired or used, each in its own words. `text` is its token or all of it. */
export async function getLink({ db }: WithDatabase, text: string): Promise<Link> {
  const { rows } = await sql<Link & { used: boolean; expired: boolean }>`
    select workspace_id as "workspaceId", account_id as "accountId", expires_at as "expiresAt",
           used_at is not null as used, expires_at <= now() as expired
      from recovery_for_token(${tokenHash(tokenOf(text))})`.execute(db)
  const link = rows[0]
  if (!link)
    throw new AppError(
      'not-found',
      'Não reconhecemos este link de recuperação. Confira se ele foi copiado inteiro do e-mail, ou peça outro em "Esqueceu sua senha?".',
    )
  if (link.used)
    throw new AppError(
      'gone',
      'Este link já foi usado, ou a senha foi trocada depois que ele foi enviado. Se não foi você quem a trocou, peça outro link em "Esqueceu sua senha?".',
    )
  if (link.expired)
    throw new AppError(
      'gone',
      'Este link expirou: ele vale por uma hora. Sua senha continua a mesma; peça outro link em "Esqueceu sua senha?".',
    )
  return link
}

function tokenOf(text: string): string {
  return /(?:^|\/atualizar-senha\/)([\w-]{43})\/?(?:[?#].*)?$/.exec(text.trim())?.[1] ?? ''
}

/** Replaces the password by a link, once; ends every session and every other link of the account. */
export async function updatePassword(
  { db, config }: Pick<Context, 'db' | 'config'>,
  link: string,
  password: string,
  { address }: Caller,
): Promise<void> {
  const { workspaceId, accountId } = await getLink({ db }, link)
  refuseCommon(password)
  const passwordHash = await hashPassword({ config }, password)
  const { email } = await inWorkspace({ db }, workspaceId, async (ctx) => {
    const account = await lockAccount(ctx, { workspaceId, accountId })
    if (account) refuseOwnEmail(password, account.email)
    // Another call may have used it, or another link, since it was looked at.
    await getLink(ctx, link)
    return replacePassword(ctx, { workspaceId, accountId, address }, { passwordHash, how: 'link' })
  })
  // The owner of the mailbox is not kept out by the guesses of others.
  await forgetTries({ db }, loginLimit, email)
}
