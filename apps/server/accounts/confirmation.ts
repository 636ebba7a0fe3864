import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, type Limit } from '../platform/http/throttle.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { findUnproved, prove } from './email-proof.ts'
import { createLink, endLinks, getLink, type LinkKind } from './links.ts'
import { findAccount } from './sessions.ts'

const hourMs = 3_600_000
const resendLimit: Limit = { name: 'confirmação de e-mail', times: 5, withinMs: 24 * hourMs }

const link: LinkKind = {
  purpose: 'email',
  page: 'confirmar-email',
  hours: 24,
  unknown:
    'Não reconhecemos este link de confirmação. Confira se ele foi copiado inteiro do e-mail, ou entre e peça outro em "Enviar de novo", no alto da página.',
  used: 'Este link já foi usado: o e-mail está confirmado, e não é preciso fazer mais nada.',
  expired:
    'Este link expirou: ele vale por 24 horas. Entre na conta e peça outro em "Enviar de novo", no alto da página.',
}

/** Queues the letter with a link by which the owner of the mailbox confirms it. */
export async function queueConfirmation({ db }: WithDatabase, recipient: string, { address }: Caller): Promise<void> {
  const payload = { at: new Date().toISOString(), address }
  await queueMail({ db }, { kind: 'confirmar-email', recipient, payload, usefulMs: 24 * hourMs })
}

/** Sends the letter once more; returns to which address, or null when there is nothing to confirm. */
export async function resendConfirmation(
  { db, config }: WithConfig,
  session: Session,
  caller: Caller,
): Promise<string | null> {
  const { workspaceId, accountId } = session
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const email = await findUnproved({ db, config }, session)
    if (email === null) return null
    await countTry({ db }, resendLimit, `${workspaceId}/${accountId}`)
    await queueConfirmation({ db }, email, caller)
    return email
  })
}

/** The link that a mail brings to the account with the e-mail. Null: there is no such account, or nothing to confirm. */
export async function createConfirmation(
  { db, config, vault }: Pick<Context, 'db' | 'config' | 'vault'>,
  { mailId, email, at }: { mailId: bigint; email: string; at: string },
): Promise<{ token: string; expiresAt: Date } | null> {
  const account = await findAccount({ db }, email)
  if (!account) return null
  return inWorkspace({ db }, account.workspaceId, async ({ db }) =>
    (await findUnproved({ db, config }, account)) === null
      ? null
      : createLink({ db, vault }, link, account, { id: mailId, at }),
  )
}

/** Confirms the e-mail of an account by a link, once. */
export async function confirmEmail({ db }: WithDatabase, text: string, { address }: Caller): Promise<void> {
  const { workspaceId, accountId } = await getLink({ db }, link, text)
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const account = await prove({ db }, { workspaceId, accountId })
    // Another call may have used it since it was looked at; the account is locked now.
    await getLink({ db }, link, text, { workspaceId })
    await endLinks({ db }, { workspaceId, accountId }, ['email'])
    const actor = { workspaceId, accountId, accountName: account.name, address }
    await recordAudit({ db }, actor, 'conta', `E-mail ${account.email} confirmado pelo link enviado a ele.`)
  })
}

/** Confirms an e-mail in the name of who runs the installation; returns whether there is such an account. */
export async function confirmEmailOf({ db }: WithDatabase, email: string): Promise<boolean> {
  const account = await findAccount({ db }, email)
  if (!account) return false
  const { workspaceId } = account
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { email } = await prove({ db }, account)
    const actor = { workspaceId, accountName: 'Quem administra o sistema' }
    await recordAudit({ db }, actor, 'conta', `E-mail ${email} confirmado.`)
  })
  return true
}
