import type { MemberRole, RouteInput } from '@vigia/contract/route'
import type * as contract from '@vigia/contract/team'
import { formatBrasiliaDay, formatCount } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { isWrittenTo, requireProvedEmail } from '../../accounts/email-proof.ts'
import { removeAccount } from '../../accounts/memberships.ts'
import { findPasskeys } from '../../accounts/passkeys.ts'
import { findSecondFactor } from '../../accounts/second-factor.ts'
import { reconnect } from '../../accounts/session-ends.ts'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { enterWorkspace, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { uuidOf } from '../../platform/text.ts'
import { findCompanyIds, publicIdsIn } from '../chosen-companies.ts'

// Members of a workspace and their rights: docs/decisions/0040-members.md.

type Change = RouteInput<typeof contract.changeMember>['body']
/** Rights to grant. */
export type RightsChoice = Pick<Change, 'papel' | 'idsEmpresas' | 'acessoAte'>

type Team = DataOf<typeof contract.getTeam>

/** The session's workspace: its people in the order in which they came, and the invitations that wait for an answer. */
export async function getTeam(ctx: WithDatabase, { workspaceId, accountId }: Session): Promise<Team> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: settings } = await sql<Pick<Team, 'nome' | 'exigeSegundoFator'>>`
      select name as nome, requires_factor as "exigeSegundoFator" from workspace where id = ${workspaceId}`.execute(db)
    const { rows: pessoas } = await sql<Team['pessoas'][number]>`
      select a.public_id as "idPessoa", a.name as nome, a.email, a.role as papel,
             case when not a.all_companies then array(
               select c.public_id::text from account_company m join company c on c.workspace_id = m.workspace_id and c.id = m.company_id
                where m.workspace_id = ${workspaceId} and m.account_id = a.id order by c.id) end as "idsEmpresas",
             a.access_until as "acessoAte", a.created_at as desde,
             (select max(s.seen_at) from session s where s.workspace_id = ${workspaceId} and s.account_id = a.id and not a.shared) as "vistaEm",
             a.id = ${accountId} as voce
        from account a where a.workspace_id = ${workspaceId} order by a.id`.execute(db)
    const { rows: convites } = await sql<Team['convites'][number]>`
      select i.public_id as "idConvite", i.email, i.role as papel,
             ${publicIdsIn(workspaceId, 'i.company_ids')} as "idsEmpresas",
             i.access_until as "acessoAte", i.sent_at as "enviadoEm", i.expires_at as "validoAte", i.expires_at <= now() as vencido
        from invitation i where i.workspace_id = ${workspaceId} order by i.id`.execute(db)
    return { ...settings[0]!, pessoas, convites }
  })
}

interface WorkspaceSettings {
  name: string
  requiresFactor: boolean
}

/** Names the workspace, and says whether everybody needs a second factor or a passkey; who asks for that has one. */
export async function changeWorkspace(
  ctx: WithConfig,
  session: Session,
  { name, requiresFactor }: { name: string; requiresFactor: boolean },
): Promise<void> {
  await requireKeeper(ctx, session)
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const before = await lockPeople({ db }, session)
    if (requiresFactor && !before.requiresFactor) await requireOwnFactor({ db }, session)
    await sql`
      update workspace set name = ${name}, requires_factor = ${requiresFactor} where id = ${workspaceId}`.execute(db)
    // Pages that are open have to show it as well.
    if (requiresFactor && !before.requiresFactor) await reconnect({ db }, workspaceId, null)
    const changes = [
      ...(before.name === name ? [] : [`nome de “${before.name}” para “${name}”`]),
      ...(before.requiresFactor === requiresFactor
        ? []
        : [requiresFactor ? 'todos precisam de segundo fator ou passkey' : 'segundo fator deixou de ser exigido']),
    ]
    if (changes.length > 0) await recordAudit({ db }, session, 'equipe', `Alterou o workspace: ${changes.join('; ')}.`)
  })
}

// Or the first call afterwards would shut out who asked: as the session is judged by then.
async function requireOwnFactor(ctx: WithDatabase, { home, workspaceId, publicId }: Session): Promise<void> {
  const { rows: shown } = await sql`
    select from session where workspace_id = ${workspaceId} and public_id = ${publicId}::uuid
     and with_factor`.execute(ctx.db)
  await enterWorkspace(ctx, home.workspaceId)
  const hasFactor = (await findSecondFactor(ctx, home)) !== null || (await findPasskeys(ctx, home)).length > 0
  await enterWorkspace(ctx, workspaceId)
  if (shown.length === 0 || !hasFactor)
    throw new AppError(
      'conflict',
      'Antes de exigir o segundo fator de todos, ligue o seu em "Minha conta" ou, se já tem um, saia e entre de novo com ele. Nada foi alterado.',
    )
}

/** Changes what a person may, from the next call on. */
export async function changeMember(ctx: WithConfig, session: Session, { idPessoa, ...choice }: Change): Promise<void> {
  await requireKeeper(ctx, session)
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session)
    const member = await getMember({ db }, workspaceId, idPessoa)
    const rights = await settle({ db }, workspaceId, choice)
    if (rights.role !== 'administrador') {
      await requireAnotherAdministrator({ db }, workspaceId, member.id)
      await endInvitationsOf({ db }, workspaceId, member.id)
    }
    await writeRights({ db }, { workspaceId, accountId: member.id }, rights)
    await reconnect({ db }, workspaceId, member.id)
    if (rights.role === 'administrador' && member.role !== 'administrador')
      await tellAdministrators({ db, config: ctx.config }, session, member.email, 'mudado')
    await recordAudit(
      { db },
      session,
      'equipe',
      `Mudou o que ${member.name} (${member.email}) pode: ${rightsText(rights)}.`,
    )
  })
}

/**
 * Writes to all who administer the workspace that somebody is about to as well, the one who asked included: a session that somebody found open is enough to
 * ask. `ctx.db` is a transaction inside the workspace.
 */
export async function tellAdministrators(
  { db, config }: WithConfig,
  { workspaceId, accountId, address }: Session,
  email: string,
  how: 'convidado' | 'mudado',
): Promise<void> {
  const { rows: administrators } = await sql<{ id: number; email: string }>`
    select id, email from account
     where workspace_id = ${workspaceId} and role = 'administrador' and email <> ${email} and ${isWrittenTo({ config })}
     order by id`.execute(db)
  const by = administrators.find(({ id }) => id === accountId)?.email
  const payload = { at: new Date().toISOString(), address, email, by, how }
  for (const { email: recipient } of administrators)
    await queueMail({ db }, { workspaceId, kind: 'administrador-novo', recipient, payload })
}

/** Rights with the companies as numbers. */
export interface SettledRights {
  role: MemberRole
  companyIds: number[] | null
  accessUntil: Date | null
  /** Account whose invitation gave them. */
  invitedBy?: number
}

/** Rights as they are kept; refuses companies of others and a last day that has gone. `ctx.db` is a transaction inside the workspace. */
export async function settle(
  ctx: WithDatabase,
  workspaceId: number,
  { papel: role, idsEmpresas, acessoAte }: RightsChoice,
): Promise<SettledRights> {
  const companyIds = await findCompanyIds(ctx, workspaceId, idsEmpresas)
  if (!acessoAte) return { role, companyIds, accessUntil: null }
  const { rows } = await sql<{ at: Date; gone: boolean }>`
    select at, at <= now() as gone
     from (select (${acessoAte}::date + 1)::timestamp at time zone 'America/Sao_Paulo' as at) d`.execute(ctx.db)
  const { at, gone } = rows[0]!
  if (gone)
    throw new AppError('invalid-input', 'O último dia do acesso já passou. Nada foi alterado: escolha hoje ou depois.')
  return { role, companyIds, accessUntil: at }
}

/** Writes what an account may. `ctx.db` is a transaction inside the workspace. */
export async function writeRights(
  { db }: WithDatabase,
  { workspaceId, accountId }: Pick<Session, 'workspaceId' | 'accountId'>,
  { role, companyIds, accessUntil, invitedBy }: SettledRights,
): Promise<void> {
  await sql`
    update account set role = ${role}, all_companies = ${companyIds === null}, access_until = ${accessUntil},
           invited_by = coalesce(${invitedBy ?? null}::int, invited_by)
     where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
  await sql`delete from account_company where workspace_id = ${workspaceId} and account_id = ${accountId}`.execute(db)
  await sql`
    insert into account_company (workspace_id, account_id, company_id)
    select ${workspaceId}, ${accountId}, id from unnest(${companyIds ?? []}::int[]) id
    returning company_id`.execute(db)
}

/** Rights in words for the audit. */
export function rightsText({ role, companyIds, accessUntil }: SettledRights): string {
  const of = companyIds === null ? 'todas as empresas' : formatCount(companyIds.length, 'empresa', 'empresas')
  // The day before the first moment without access.
  const until = accessUntil ? `, até ${formatBrasiliaDay(new Date(accessUntil.getTime() - 1))}` : ''
  return `${role}, ${of}${until}`
}

/** Puts a person out of the workspace; their sessions there end at once. */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  publicId: string,
): Promise<void> {
  await requireKeeper(ctx, session)
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session)
    const member = await getMember({ db }, workspaceId, publicId)
    if (member.id === session.accountId)
      throw new AppError(
        'conflict',
        'Para sair você mesmo, use "Sair do workspace" em "Minha conta". Nada foi alterado.',
      )
    await requireAnotherAdministrator({ db }, workspaceId, member.id)
    await endInvitationsOf({ db }, workspaceId, member.id)
    await removeAccount({ db, vault: ctx.vault }, { workspaceId, accountId: member.id })
    await recordAudit({ db }, session, 'equipe', `Tirou ${member.name} (${member.email}) do workspace.`)
  })
}

/** Takes the person of the session out of its workspace. Returns whether they have no account any more. */
export async function leave(ctx: Pick<Context, 'db' | 'vault'>, session: Session): Promise<boolean> {
  const { workspaceId, accountId } = session
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session, { leaves: true })
    await requireAnotherAdministrator({ db }, workspaceId, accountId)
    await endInvitationsOf({ db }, workspaceId, accountId)
    await recordAudit({ db }, session, 'equipe', 'Saiu do workspace.')
    return removeAccount({ db, vault: ctx.vault }, { workspaceId, accountId })
  })
}

const deed = { deed: 'mexer na equipe', nothing: 'Nada foi alterado.' }

/** Refuses people who may not invite: that takes an own account with a confirmed e-mail. */
export async function requireKeeper(ctx: WithConfig, session: Session): Promise<void> {
  await requireProvedEmail(ctx, session, deed)
}

/**
 * Serialises changes of a workspace's people. Refuses a person who has lost the administrator role
 * since the call came (but leaving is allowed). `ctx.db` is a transaction inside the workspace.
 */
export async function lockPeople(
  ctx: WithDatabase,
  { workspaceId, accountId }: Pick<Session, 'workspaceId' | 'accountId'>,
  { leaves = false } = {},
) {
  const workspace = await lockWorkspace(ctx, workspaceId)
  const { rows } = await sql`
    select from account where workspace_id = ${workspaceId} and id = ${accountId}
     and (role = 'administrador' or ${leaves})`.execute(ctx.db)
  if (rows.length === 0) throw new AppError('forbidden', 'Você não administra mais este workspace. Nada foi alterado.')
  return workspace
}

/** Holds the people of a workspace, and reads its settings. `ctx.db` is a transaction inside it. */
export async function lockWorkspace({ db }: WithDatabase, workspaceId: number) {
  const { rows } = await sql<WorkspaceSettings>`
    select name, requires_factor as "requiresFactor" from workspace
     where id = ${workspaceId} for no key update`.execute(db)
  return rows[0]!
}

// Withdraws invitations of an account that may not invite now. `ctx.db` is a workspace transaction.
async function endInvitationsOf({ db }: WithDatabase, workspaceId: number, accountId: number): Promise<void> {
  await sql`delete from invitation where workspace_id = ${workspaceId} and invited_by = ${accountId}`.execute(db)
}

async function getMember({ db }: WithDatabase, workspaceId: number, publicId: string) {
  const { rows } = await sql<{ id: number; name: string; email: string; role: MemberRole }>`
    select id, name, email, role from account
     where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid`.execute(db)
  if (!rows[0]) throw new AppError('not-found', 'Esta pessoa não está mais no workspace.')
  return rows[0]
}

// Somebody has to be left who can let others in. The people are locked.
async function requireAnotherAdministrator(
  { db }: WithDatabase,
  workspaceId: number,
  accountId: number,
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from account where workspace_id = ${workspaceId} and role = 'administrador' limit 2`.execute(db)
  if (rows.length === 1 && rows[0]!.id === accountId)
    throw new AppError(
      'conflict',
      'É a única pessoa que administra o workspace. Nada foi alterado: faça antes de outra pessoa administradora, ou exclua a conta com tudo o que ela guarda.',
    )
}
