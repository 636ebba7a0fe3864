import { deletionDays } from '@vigia/contract/codes'
import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { sql } from 'kysely'
import { endAllSessions, removeAccounts } from '../../accounts/accounts.ts'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { isWrittenTo } from '../../accounts/email-proof.ts'
import { requirePassword } from '../../accounts/passwords.ts'
import { findWorkspaceOf } from '../../accounts/plans.ts'
import { requireProofOfFactor } from '../../accounts/proof.ts'
import { stopWithoutCertificate } from '../../capture/capture.ts'
import { leaveLines } from '../../capture/handover/handover.ts'
import { destroyKeys } from '../../companies/certificates.ts'
import { removeAllKeys } from '../../companies/keys/keys.ts'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { queueMail } from '../../platform/mail/mail.ts'

type Actor = Parameters<typeof recordAudit>[1]

/**
 * Requests the deletion of the session's account and its workspace: private keys are destroyed now,
 * everything else after thirty days. Returns that time; a second request does not change it.
 */
export async function askForDeletion(ctx: WithConfig, session: Session, password: string): Promise<Date> {
  await requireProofOfFactor(ctx, session)
  await requirePassword(ctx, session, password, 'Exclusão da conta recusada: a senha atual não conferiu.')
  return mark(ctx, session.workspaceId, { actor: session, days: deletionDays, keep: session.token })
}

const operator = 'Quem administra o sistema'

/** Like `askForDeletion`, for the operator; `now`: nothing can be taken back. Null: there is no such account. */
export async function deleteWorkspaceOf(ctx: WithConfig, email: string, { now = false } = {}): Promise<Date | null> {
  const workspaceId = await findWorkspaceOf(ctx, email)
  if (workspaceId === null) return null
  return mark(ctx, workspaceId, { actor: { workspaceId, accountName: operator }, days: now ? 0 : deletionDays })
}

async function mark(
  { db, config }: WithConfig,
  workspaceId: number,
  { actor, days, keep }: { actor: Actor; days: number; keep?: string },
): Promise<Date> {
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ eraseAt: Date }>`
      update workspace set erase_at = least(erase_at, now() + ${days} * interval '1 day')
       where id = ${workspaceId} returning erase_at as "eraseAt"`.execute(db)
    const { eraseAt } = rows[0]!
    await endAllSessions({ db }, workspaceId, keep)
    await removeAllKeys({ db }, workspaceId)
    const keys = await destroyKeys({ db }, workspaceId)
    await stopWithoutCertificate({ db }, workspaceId, null)
    const destroyed = `${formatCount(keys, 'chave privada de certificado foi apagada', 'chaves privadas de certificados foram apagadas')}`
    const what = `Pediu a exclusão da conta, com tudo o que ela guarda, para ${formatBrasiliaMoment(eraseAt)}; ${destroyed} na hora.`
    await recordAudit({ db }, actor, 'conta', what)
    const { rows: accounts } = await sql<{ email: string }>`
      select email from account where workspace_id = ${workspaceId} and ${isWrittenTo({ config })}`.execute(db)
    // One that nobody confirmed may have the e-mail of a person who never heard of us.
    if (days > 0)
      for (const { email } of accounts)
        await queueMail({ db }, { workspaceId, kind: 'exclusao-pedida', recipient: email })
    return eraseAt
  })
}

/** Takes the request for deletion of the actor's workspace back, while there is time. Returns whether there was one. */
export async function keepAccount({ db }: WithDatabase, actor: Actor): Promise<boolean> {
  const { workspaceId } = actor
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { numAffectedRows } = await sql`
      update workspace set erase_at = null where id = ${workspaceId} and erase_at > now()`.execute(db)
    if (numAffectedRows === 0n) return false
    await recordAudit({ db }, actor, 'conta', 'Desfez o pedido de exclusão da conta.')
    return true
  })
}

/** Like `keepAccount`, for the operator; null: there is no such account. */
export async function keepWorkspaceOf(ctx: WithDatabase, email: string): Promise<boolean | null> {
  const workspaceId = await findWorkspaceOf(ctx, email)
  return workspaceId === null ? null : keepAccount(ctx, { workspaceId, accountName: operator })
}

const unusedDays = 30

/**
 * Schedules deletion when the e-mail is not confirmed within a month (without a mail server: when
 * nobody ever entered): it may be a stranger's. A company or a plan prevents that.
 */
export async function eraseUnused({ db, config }: WithConfig, workspaceId: number): Promise<void> {
  await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`
      update workspace set erase_at = now()
       where id = ${workspaceId} and created_at < now() - ${unusedDays} * interval '1 day' and erase_at is null and paid_from is null
         and exists (select from account where workspace_id = ${workspaceId})
         and not exists (select from account where workspace_id = ${workspaceId} and (${isWrittenTo({ config })} or shared))
         and not exists (select from company where workspace_id = ${workspaceId})`.execute(db),
  )
}

type EraseContext = Pick<Context, 'db' | 'log' | 'config' | 'vault'>

/**
 * Deletes each workspace whose time is over, and logs it; one after the other, because a large one
 * takes minutes. The next call retries failures. Returns how many are left.
 */
export async function eraseDue(ctx: EraseContext, signal?: AbortSignal): Promise<number> {
  const { rows: due } = await asOperator(ctx, ({ db }) =>
    sql<{ id: number; publicId: string }>`
      select id, public_id as "publicId" from workspace where erase_at <= now() order by erase_at`.execute(db),
  )
  let left = due.length
  for (const workspace of due) {
    try {
      if (await erase(ctx, workspace, signal)) left--
    } catch (err) {
      ctx.log.error({ err, workspaceId: workspace.id }, 'a workspace could not be erased yet')
    }
  }
  return left
}

const rowsAtOnce = 5_000

async function erase(
  ctx: EraseContext,
  { id, publicId }: { id: number; publicId: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const inside = <T>(work: (ctx: WithDatabase) => Promise<T>) =>
    asOperator({ db: ctx.db }, (operating) => inWorkspace(operating, id, work))
  await inside(async ({ db }) => {
    const { rows: counts } = await sql<{ companies: number; documents: bigint }>`
      select (select count(*)::int from company where workspace_id = ${id}) as companies,
             (select coalesce(sum(n), 0)::bigint from count_month where workspace_id = ${id}) as documents`.execute(db)
    const { companies, documents } = counts[0]!
    await sql`
      insert into erasure (workspace, companies, documents) values (${publicId}, ${companies}, ${documents})
      on conflict do nothing`.execute(db)
    // Certificates may have been uploaded since.
    await destroyKeys({ db }, id)
    await stopWithoutCertificate({ db }, id, null)
    await removeAllKeys({ db }, id)
    const emails = await removeAccounts({ db, vault: ctx.vault }, id)
    if (emails.length > 0) await db.deleteFrom('mail').where('recipient', 'in', emails).execute()
  })
  if (!(await leaveLines(ctx, id, signal))) return false
  for (let more = true; more; ) {
    if (signal?.aborted) return false
    more = await inside(async ({ db }) => {
      const { rows } = await sql<{ more: boolean }>`select erase_workspace(${id}, ${rowsAtOnce}) as more`.execute(db)
      const isOver = !rows[0]!.more
      if (isOver) await sql`update erasure set ended_at = now() where workspace = ${publicId}`.execute(db)
      return !isOver
    })
  }
  ctx.log.warn({ workspace: publicId }, 'a workspace was erased, as somebody had asked')
  return true
}
