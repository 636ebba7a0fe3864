import { sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, type Limit, mayTry, networkOf } from '../platform/http/throttle.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { findRecipient } from './email-proof.ts'
import { createLink, endLinks, getLink, type LinkKind } from './links.ts'
import { refuseOwnEmail } from './password-rules.ts'
import { lockAccount, requirePassword } from './passwords.ts'
import { inEachPlace } from './places.ts'
import { requireProofOfFactor } from './proof.ts'
import { findAccount } from './sessions.ts'

const hourMs = 3_600_000
const requestLimit: Limit = { name: 'troca de e-mail', times: 5, withinMs: 24 * hourMs }
const networkLimit: Limit = { name: 'troca de e-mail de endereço', times: 30, withinMs: hourMs }
const recipientLimit: Limit = { name: 'troca para e-mail', times: 5, withinMs: 24 * hourMs }

/** The link that confirms another e-mail of an account. */
export const newEmailLink: LinkKind = {
  purpose: 'new-email',
  page: 'confirmar-email',
  hours: 24,
  unknown: 'Não reconhecemos este link de confirmação. Confira se ele foi copiado inteiro do e-mail.',
  used: 'Este link já foi usado, ou a troca de e-mail foi pedida de novo depois dele. O e-mail da conta está em "Minha conta".',
  expired: 'Este link expirou: ele vale por 24 horas. Nada foi alterado; peça a troca de novo em "Minha conta".',
}

/**
 * Asks for another e-mail of the account, whose password has to be shown: a letter to it brings the link that changes it. Whether the e-mail
 * has an account already, the letter alone tells.
 */
export async function requestEmailChange(
  { db, config }: WithConfig,
  session: Session,
  { email, password }: { email: string; password: string },
  { address }: Caller,
): Promise<void> {
  await requireProofOfFactor({ db }, session)
  await requirePassword({ db, config }, session, password, 'Troca de e-mail recusada: a senha atual não conferiu.')
  const { workspaceId, accountId } = session
  const recipient = email.toLowerCase()
  refuseOwnEmail({ config }, password, recipient)
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    const account = await lockAccount({ db }, session)
    if (account?.email === recipient)
      throw new AppError('invalid-input', 'Este já é o e-mail da conta. Nada foi alterado.')
    // Each sends a letter to an address that somebody typed: the same one is not written to over and over from many accounts.
    await countTry({ db }, requestLimit, `${workspaceId}/${accountId}`)
    await countTry({ db }, networkLimit, networkOf(address))
    const isWritten = await mayTry({ db }, recipientLimit, recipient)
    await endLinks({ db }, session, ['new-email'])
    await sql`
      update account set new_email = ${recipient}, new_email_until = now() + interval '24 hours'
       where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    const old = await findRecipient({ db, config }, session)
    const at = new Date().toISOString()
    const letter = { workspaceId, payload: { at, address, accountId }, usefulMs: 24 * hourMs }
    if (isWritten) await queueMail({ db }, { ...letter, kind: 'novo-email', recipient })
    if (old) await queueMail({ db }, { ...letter, kind: 'troca-de-email', recipient: old })
    await recordAudit({ db }, session, 'conta', `Pediu a troca do e-mail da conta para ${recipient}.`)
  })
}

/** Takes the request for another e-mail back; returns whether there was one. */
export async function dropEmailChange({ db }: WithDatabase, session: Session): Promise<boolean> {
  const { workspaceId, accountId } = session
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockAccount({ db }, session)
    const email = await findNewEmail({ db }, session)
    if (email === null) return false
    await endLinks({ db }, session, ['new-email'])
    await sql`
      update account set new_email = null, new_email_until = null
       where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    await recordAudit({ db }, session, 'conta', `Desistiu da troca do e-mail da conta para ${email}.`)
    return true
  })
}

/**
 * The link that a mail brings to the e-mail that an account will have. Null: the change is not wanted any more, or its link was used. 'taken':
 * another account has the e-mail by now.
 */
export async function createEmailChange(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  owner: { workspaceId: number; accountId: number },
  mail: { id: bigint; email: string; at: string },
): Promise<{ token: string; expiresAt: Date } | 'taken' | null> {
  const other = await findAccount({ db }, mail.email)
  return inWorkspace({ db }, owner.workspaceId, async ({ db }) => {
    // Locked: a concurrent request for another e-mail then finds this link and ends it.
    await lockAccount({ db }, owner)
    if ((await findNewEmail({ db }, owner)) !== mail.email) return null
    return other ? 'taken' : createLink({ db, vault }, newEmailLink, owner, mail)
  })
}

async function findNewEmail(
  { db }: WithDatabase,
  { workspaceId, accountId }: { workspaceId: number; accountId: number },
): Promise<string | null> {
  const { rows } = await sql<{ new_email: string | null }>`
    select new_email from account
     where workspace_id = ${workspaceId} and id = ${accountId} and shared = false
     and new_email_until > now()`.execute(db)
  return rows[0]?.new_email ?? null
}

/** Changes the e-mail by the link in the letter to the new one, once; returns it and tells the old one. */
export async function changeEmail({ db, config }: WithConfig, text: string, { address }: Caller): Promise<string> {
  const owner = await getLink({ db }, newEmailLink, text)
  const { workspaceId, accountId } = owner
  const taken = new AppError(
    'conflict',
    'Este e-mail já tem outra conta, e por isso a troca não foi feita. Nada foi alterado: o e-mail da sua conta continua o mesmo.',
  )
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const account = await lockAccount({ db }, owner)
    // Another call may have used it since it was looked at; the account is locked now.
    await getLink({ db }, newEmailLink, text, owner)
    const email = await findNewEmail({ db }, owner)
    if (!account || email === null) throw new AppError('gone', newEmailLink.used)
    await sql`
      update account_directory set email = ${email}
       where workspace_id = ${workspaceId} and account_id = ${accountId}`
      .execute(db)
      .catch((cause: { code?: string }) => {
        throw cause.code === '23505' ? taken : cause
      })
    const old = await findRecipient({ db, config }, owner)
    await sql`
      update account set new_email = null, new_email_until = null, email_proved_at = now()
       where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    await inEachPlace({ db }, owner, async (place) => {
      await sql`
        update account set email = ${email}
         where workspace_id = ${place.workspaceId} and id = ${place.accountId}`.execute(db)
    })
    // Links in mails to the old e-mail end, too.
    await endLinks({ db }, owner)
    const payload = { at: new Date().toISOString(), address }
    if (old) await queueMail({ db }, { workspaceId, kind: 'email-trocado', recipient: old, payload })
    const actor = { workspaceId, accountId, accountName: account.name, address }
    await recordAudit({ db }, actor, 'conta', `Trocou o e-mail da conta: de ${account.email} para ${email}.`)
    return email
  })
}
