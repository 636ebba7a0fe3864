import { peopleMax } from '@vigia/contract/forms'
import type { getInvitation } from '@vigia/contract/team'
import { sql } from 'kysely'
import { insertMember } from '../../accounts/accounts.ts'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { prove } from '../../accounts/email-proof.ts'
import { addMembership } from '../../accounts/memberships.ts'
import { refuseGuessable, refuseOwnEmail } from '../../accounts/password-rules.ts'
import { hashPassword } from '../../accounts/passwords.ts'
import { placesMax, placesOf } from '../../accounts/places.ts'
import { lockPerson, moveSession, type OpenedSession } from '../../accounts/sessions.ts'
import { listToken, tokenHash } from '../../accounts/tokens.ts'
import type { Context, WithConfig, WithDatabase } from '../../platform/context.ts'
import { enterWorkspace, inWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import type { Caller, Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { uuidOf } from '../../platform/text.ts'
import {
  lockPeople,
  lockWorkspace,
  type RightsChoice,
  requireKeeper,
  rightsText,
  type SettledRights,
  settle,
  tellAdministrators,
  writeRights,
} from './team.ts'

const dayMs = 24 * 3_600_000
const days = 7
// Each sends a letter to an address that somebody typed.
const sentLimit: Limit = { name: 'convites', times: 60, withinMs: dayMs }
const recipientLimit: Limit = { name: 'convite para e-mail', times: 10, withinMs: dayMs }

type InviteContext = Pick<Context, 'db' | 'config' | 'vault'>

/** Asks the owner of an e-mail to come in, by a letter. Nothing tells whether the e-mail has an account. Returns the public id. */
export async function invite(
  ctx: InviteContext,
  session: Session,
  { email, ...choice }: RightsChoice & { email: string },
): Promise<string> {
  await requireKeeper(ctx, session)
  const { workspaceId, accountId } = session
  const recipient = email.toLowerCase()
  await countSent(ctx, workspaceId, recipient)
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session)
    const rights = await settle({ db }, workspaceId, choice)
    await refuseKnown({ db }, workspaceId, recipient)
    // The token of the letter follows at once.
    const { rows } = await sql<{ id: number; publicId: string }>`
      insert into invitation (workspace_id, email, role, company_ids, access_until, invited_by, token_hash, expires_at)
      values (${workspaceId}, ${recipient}, ${rights.role}, ${rights.companyIds}, ${rights.accessUntil}, ${accountId}, '', now())
      returning id, public_id as "publicId"`.execute(db)
    const { id, publicId } = rows[0]!
    await send({ db, vault: ctx.vault }, workspaceId, { id, email: recipient })
    if (rights.role === 'administrador')
      await tellAdministrators({ db, config: ctx.config }, session, recipient, 'convidado')
    await recordAudit({ db }, session, 'equipe', `Convidou ${recipient}: ${rightsText(rights)}.`)
    return publicId
  })
}

async function countSent(ctx: WithDatabase, workspaceId: number, recipient: string): Promise<void> {
  await countTry(ctx, sentLimit, String(workspaceId))
  await countTry(ctx, recipientLimit, recipient)
}

async function refuseKnown({ db }: WithDatabase, workspaceId: number, email: string): Promise<void> {
  const { rows } = await sql<{ people: number; isMember: boolean; isInvited: boolean }>`
    select (select count(*)::int from account where workspace_id = ${workspaceId})
             + (select count(*)::int from invitation where workspace_id = ${workspaceId}) as people,
           exists (select from account where workspace_id = ${workspaceId} and email = ${email}) as "isMember",
           exists (select from invitation where workspace_id = ${workspaceId} and email = ${email}) as "isInvited"`.execute(
    db,
  )
  const { people, isMember, isInvited } = rows[0]!
  const nothing = 'Nada foi enviado'
  if (isMember)
    throw new AppError('conflict', `${email} já está neste workspace. ${nothing}: mude ali o que a pessoa pode.`)
  if (isInvited)
    throw new AppError('conflict', `${email} já foi convidado e ainda não respondeu. ${nothing}: use "Enviar de novo".`)
  if (people >= peopleMax)
    throw new AppError(
      'conflict',
      `Um workspace tem até ${peopleMax} pessoas, com as convidadas. ${nothing}: tire antes quem não precisa mais entrar.`,
    )
}

// Link of the letter, the same at each attempt: derived from its time by the vault.
function linkOf({ vault }: Pick<Context, 'vault'>, workspaceId: number, id: number, at: string): string {
  return vault.derive(`convite ${workspaceId}/${id} ${at}`).toString('base64url')
}

// `ctx.db` is a transaction inside the workspace.
async function send(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  workspaceId: number,
  { id, email }: { id: number; email: string },
): Promise<void> {
  const { at } = await replaceLink({ db, vault }, workspaceId, id)
  await queueMail(
    { db },
    { workspaceId, kind: 'convite', recipient: email, payload: { id, at }, usefulMs: days * dayMs },
  )
}

async function replaceLink({ db, vault }: Pick<Context, 'db' | 'vault'>, workspaceId: number, id: number) {
  const at = new Date().toISOString()
  const token = linkOf({ vault }, workspaceId, id, at)
  await sql`
    update invitation
       set token_hash = ${tokenHash(token)}, sent_at = now(), expires_at = now() + ${days} * interval '1 day'
     where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
  // Keep the token for a while after it expires, so that late visitors are told.
  await listToken({ db }, workspaceId, token, sql<Date>`now() + interval '30 days'`)
  return { at, token }
}

/** A new link of the open invitation of an e-mail, for who runs the installation and hands it over himself. */
export async function newLink(ctx: Pick<Context, 'db' | 'vault'>, workspaceId: number, email: string): Promise<string> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ id: number }>`
      select id from invitation where workspace_id = ${workspaceId} and email = ${email}`.execute(db)
    if (!rows[0]) throw new AppError('not-found', `Não há convite aberto para ${email}.`)
    return (await replaceLink({ db, vault: ctx.vault }, workspaceId, rows[0].id)).token
  })
}

/** The link of the letter of an invitation, and until when it opens; null: it was withdrawn, accepted, or sent again. */
export async function readLetter(
  ctx: Pick<Context, 'db' | 'vault'>,
  workspaceId: number,
  { id, at }: { id: number; at: string },
): Promise<{ token: string; expiresAt: Date } | null> {
  const token = linkOf(ctx, workspaceId, id, at)
  const found = await findInvitation(ctx, token)
  return found && { token, expiresAt: found.validoAte }
}

/** Sends an invitation again, with another link. */
export async function resend(ctx: InviteContext, session: Session, publicId: string): Promise<void> {
  await requireKeeper(ctx, session)
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session)
    const invitation = await getOpen({ db }, workspaceId, publicId)
    await countSent({ db }, workspaceId, invitation.email)
    await send({ db, vault: ctx.vault }, workspaceId, invitation)
    await recordAudit({ db }, session, 'equipe', `Enviou de novo o convite de ${invitation.email}.`)
  })
}

/** Takes an invitation back: its link opens nothing any more. */
export async function withdraw(ctx: WithDatabase, session: Session, publicId: string): Promise<void> {
  const { workspaceId } = session
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await lockPeople({ db }, session)
    const { id, email } = await getOpen({ db }, workspaceId, publicId)
    await sql`delete from invitation where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
    await recordAudit({ db }, session, 'equipe', `Cancelou o convite de ${email}.`)
  })
}

async function getOpen({ db }: WithDatabase, workspaceId: number, publicId: string) {
  const { rows } = await sql<{ id: number; email: string }>`
    select id, email from invitation
     where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid`.execute(db)
  if (!rows[0]) throw new AppError('not-found', 'Este convite não existe mais: ele foi aceito ou cancelado.')
  return rows[0]
}

/** An invitation as its guest sees it, and where it leads. */
type Invitation = Omit<DataOf<typeof getInvitation>, 'email' | 'validoAte'> & {
  workspaceId: number
  email: string
  validoAte: Date
}

async function findInvitation({ db }: WithDatabase, token: string): Promise<Invitation | null> {
  const { rows } = await sql<Invitation>`
    select workspace_name as workspace, inviter as "convidadoPor", email, role as papel, expires_at as "validoAte", has_account as "temConta",
           workspace_id as "workspaceId"
      from invitation_for_token(${tokenHash(token)})`.execute(db)
  return rows[0] ?? null
}

/** The invitation of a link that still works; refuses others. `text` is the token or the whole link. */
export async function openInvitation(ctx: WithDatabase, text: string): Promise<Invitation> {
  const found = await findInvitation(ctx, tokenOf(text))
  if (!found)
    throw new AppError(
      'not-found',
      'Não reconhecemos este convite: talvez ele já tenha sido aceito, cancelado ou enviado de novo. Confira se o link foi copiado inteiro, ou peça outro a quem convidou.',
    )
  if (found.validoAte <= new Date())
    throw new AppError('gone', 'Este convite valia por sete dias, que já passaram. Peça outro a quem convidou.')
  return found
}

const tokenOf = (text: string) => text.trim().split(/[?#]/, 1)[0]!.replace(/\/$/, '').split('/').at(-1)!

const hasAccountAlready =
  'Este e-mail já tem uma conta. Nada foi alterado: entre com ela e abra o convite de novo para aceitar.'

/** Accepts an invitation by making an account at home in the workspace. The link proves the mailbox. */
export async function acceptWithNewAccount(
  ctx: WithConfig,
  { link, name, password }: { link: string; name: string; password: string },
  caller: Caller,
): Promise<void> {
  const { temConta, email, workspaceId } = await openInvitation(ctx, link)
  if (temConta) throw new AppError('conflict', hasAccountAlready)
  refuseGuessable(ctx, password)
  refuseOwnEmail(ctx, password, email)
  const passwordHash = await hashPassword(ctx, password)
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const rights = await take({ db }, workspaceId, link)
    const accountId = await insertMember({ db }, workspaceId, { email, name, passwordHash })
    if (accountId === null) throw new AppError('conflict', hasAccountAlready)
    await writeRights({ db }, { workspaceId, accountId }, rights)
    const actor = { workspaceId, accountId, accountName: name, address: caller.address }
    await recordAudit({ db }, actor, 'equipe', `Aceitou o convite enviado a ${email}: ${rightsText(rights)}.`)
  })
}

/** Accepts an invitation with the account of the session, which has to have the e-mail; the session goes on in the workspace. */
export async function acceptWithSession(
  ctx: WithConfig,
  session: Session,
  link: string,
  caller: Caller,
): Promise<OpenedSession> {
  const { workspaceId, email } = await openInvitation(ctx, link)
  const { home } = session
  return inWorkspace(ctx, home.workspaceId, async ({ db }) => {
    const { email: own, name: accountName } = await lockPerson({ db }, session)
    if (session.shared || own !== email)
      throw new AppError(
        'conflict',
        `Este convite é para ${email}, e você entrou com ${own}. Nada foi alterado: saia e entre com a conta do e-mail convidado.`,
      )
    const places = await placesOf({ db }, home)
    if (places.some((place) => place.workspaceId === workspaceId))
      throw new AppError(
        'conflict',
        'Você já está neste workspace. Nada foi alterado: mude para ele no seu menu, no alto da página.',
      )
    if (places.length >= placesMax)
      throw new AppError(
        'conflict',
        `Uma pessoa pode estar em até ${placesMax} workspaces. Nada foi alterado: saia antes de um deles.`,
      )
    // Using the link proves access to the mailbox.
    await prove({ db }, home)
    await enterWorkspace({ db }, workspaceId)
    const rights = await take({ db }, workspaceId, link)
    const place = await addMembership({ db }, home, workspaceId, { email, name: accountName })
    await writeRights({ db }, place, rights)
    const actor = { ...place, accountName, address: caller.address }
    await recordAudit({ db }, actor, 'equipe', `Aceitou o convite enviado a ${email}: ${rightsText(rights)}.`)
    await enterWorkspace({ db }, home.workspaceId)
    return moveSession({ db, config: ctx.config }, session, place, caller)
  })
}

// Uses up an open invitation, and returns its rights. `ctx.db` is a transaction inside the workspace.
async function take({ db }: WithDatabase, workspaceId: number, link: string): Promise<SettledRights> {
  await lockWorkspace({ db }, workspaceId)
  const { rows } = await sql<SettledRights>`
    delete from invitation
     where workspace_id = ${workspaceId} and token_hash = ${tokenHash(tokenOf(link))} and expires_at > now()
    returning role, company_ids as "companyIds", access_until as "accessUntil", invited_by as "invitedBy"`.execute(db)
  const row = rows[0]
  // Another call took it in this moment, or withdrew it.
  if (!row) throw new AppError('gone', 'Este convite acaba de ser aceito ou cancelado.')
  if (row.accessUntil && row.accessUntil <= new Date())
    throw new AppError('gone', 'O acesso que este convite dá já terminou. Peça outro a quem convidou.')
  return row
}
