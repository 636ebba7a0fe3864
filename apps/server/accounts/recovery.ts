import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Caller } from '../platform/http/session.ts'
import { countTry, forgetTries, type Limit, networkOf } from '../platform/http/throttle.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { createLink, getLink, type LinkKind } from './links.ts'
import { refuseGuessable, refuseOwnEmail } from './password-rules.ts'
import { hashPassword, lockAccount, replacePassword } from './passwords.ts'
import { findAccount, loginLimit, stranger } from './sessions.ts'

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

/** The link to a new password that a mail brings to the account with the e-mail. Null: there is no such account, its password is not for its users to replace, or the earlier link was used. */
export async function createRecovery(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  { mailId, email, at, address }: { mailId: bigint; email: string; at: string; address: string },
): Promise<{ token: string; expiresAt: Date } | null> {
  const account = await findAccount({ db }, email)
  if (!account || account.shared) return null
  const { workspaceId } = account
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const link = await createLink({ db, vault }, passwordLink, account, { id: mailId, at })
    const sentence = `Link de recuperação de senha pedido para ${email}.`
    if (link?.first) await recordAudit({ db }, { workspaceId, accountName: stranger, address }, 'senha', sentence)
    return link
  })
}

/** A link that replaces a forgotten password. */
export const passwordLink: LinkKind = {
  purpose: 'password',
  page: 'atualizar-senha',
  hours: 1,
  unknown:
    'Não reconhecemos este link de recuperação. Confira se ele foi copiado inteiro do e-mail, ou peça outro em "Esqueceu sua senha?".',
  used: 'Este link já foi usado, ou a senha foi trocada depois que ele foi enviado. Se não foi você quem a trocou, peça outro link em "Esqueceu sua senha?".',
  expired:
    'Este link expirou: ele vale por uma hora. Sua senha continua a mesma; peça outro link em "Esqueceu sua senha?".',
}

/** Replaces the password by a link, once; ends every session and every other link of the account. */
export async function updatePassword(
  { db, config }: WithConfig,
  link: string,
  password: string,
  { address }: Caller,
): Promise<void> {
  const { workspaceId, accountId } = await getLink({ db }, passwordLink, link)
  refuseGuessable({ config }, password)
  const passwordHash = await hashPassword({ config }, password)
  const { email } = await inWorkspace({ db }, workspaceId, async (ctx) => {
    const account = await lockAccount(ctx, { workspaceId, accountId })
    if (account) refuseOwnEmail({ config }, password, account.email)
    // Another call may have used it, or another link, since it was looked at.
    await getLink(ctx, passwordLink, link, { workspaceId })
    return replacePassword({ ...ctx, config }, { workspaceId, accountId, address }, { passwordHash, how: 'link' })
  })
  // The owner of the mailbox is not kept out by the guesses of others.
  await forgetTries({ db }, loginLimit, email)
}
