import { type RawBuilder, sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'

type WithMail = Pick<Context, 'config'>
type Owner = Pick<Session, 'workspaceId' | 'accountId'>

// Without a mail server nothing can be proved, and no stranger needs protection from mails.
const isAsked = ({ config }: WithMail) => config.mail.smtpUrl !== undefined

/** SQL about the table `account`: whether its person is written to. Others may never have heard of us. */
export function isWrittenTo(ctx: WithMail): RawBuilder<boolean> {
  return isAsked(ctx) ? sql`email_proved_at is not null` : sql`entered_at is not null`
}

/** E-mail at which an account gets mail; null: none. `ctx.db` is a transaction inside the workspace. */
export async function findRecipient(
  { db, config }: WithConfig,
  { workspaceId, accountId }: Owner,
): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from account
     where workspace_id = ${workspaceId} and id = ${accountId} and ${isWrittenTo({ config })}`.execute(db)
  return rows[0]?.email ?? null
}

/** The e-mail that the account has yet to confirm; null: there is nothing to confirm (any more). `ctx.db` is a transaction inside the workspace. */
export async function findUnproved(
  { db, config }: WithConfig,
  { workspaceId, accountId }: Owner,
): Promise<string | null> {
  if (!isAsked({ config })) return null
  // The person who made the key.
  const { rows } = await sql<{ email: string }>`
    select email from account
     where workspace_id = ${workspaceId} and email_proved_at is null
       and id = case when ${accountId}::int < 0
         then (select created_by from api_key where workspace_id = ${workspaceId} and id = ${accountId}) else ${accountId} end`.execute(
    db,
  )
  return rows[0]?.email ?? null
}

/** Refuses what only an account with a confirmed e-mail may do; `deed` and `nothing` name it, and what did not happen. */
export async function requireProvedEmail(
  { db, config }: WithConfig,
  owner: Owner,
  { deed, nothing } = { deed: 'guardar um certificado digital', nothing: 'Nada foi guardado.' },
): Promise<void> {
  const unproved = await inWorkspace({ db }, owner.workspaceId, ({ db }) => findUnproved({ db, config }, owner))
  if (unproved === null) return
  throw new AppError(
    'conflict',
    `Antes de ${deed}, confirme o e-mail desta conta: abra o link da mensagem que enviamos, ou peça outra em "Enviar de novo", no alto da página. ${nothing}`,
  )
}

/** Notes that the e-mail of an account is its person's. `ctx.db` is a transaction inside the workspace. */
export async function prove({ db }: WithDatabase, { workspaceId, accountId }: Owner) {
  const { rows } = await sql<{ name: string; email: string }>`
    update account set email_proved_at = least(email_proved_at, now())
     where workspace_id = ${workspaceId} and id = ${accountId} returning name, email`.execute(db)
  return rows[0]!
}
