import { hash, verify } from '@node-rs/argon2'
import { sql } from 'kysely'
import { recordDeed } from '../platform/audit.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http.ts'
import { queueMail } from '../platform/mail.ts'
import { countTry, forgetTries, type Limit } from '../platform/throttle.ts'
import { tokenHash } from './tokens.ts'

// Argon2id with the parameters of OWASP: 19 MiB, two passes.
const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
// Of a password that nobody has: an unknown e-mail costs as much time as a known one.
const nobody = '$argon2id$v=19$m=19456,t=2,p=1$J8CMWI3coC8R1Flq8Ds9Rg$RQIhUxz96/Gu/Xci+fLipjILpi5lshF0VBsAYYQhync'

export function hashPassword(password: string): Promise<string> {
  return hash(password, argon)
}

/** Whether `password` is the one of `known`; without `known` it never is, after the same time. */
export async function matchesPassword(known: string | undefined, password: string): Promise<boolean> {
  return (await verify(known ?? nobody, password)) && known !== undefined
}

const turns = new Map<string, Promise<unknown>>()

/** Carries out `work` when what came before it in the same lane has ended: guesses sent at once count like guesses sent in a row. */
export async function inTurn<T>(lane: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(lane)
  const turn = (before ?? Promise.resolve()).then(work, work)
  turns.set(lane, turn)
  try {
    return await turn
  } finally {
    if (turns.get(lane) === turn) turns.delete(lane)
  }
}

const currentLimit: Limit = { name: 'senha atual', times: 10, withinMs: 15 * 60_000 }

/** Replaces the password of somebody who knows the old one; only the session that asks stays open. */
export async function changePassword(
  { db }: Pick<Context, 'db'>,
  session: Session,
  current: string,
  password: string,
): Promise<void> {
  const who = `${session.workspaceId}/${session.accountId}`
  const changed = await inTurn(`account ${who}`, async () => {
    await countTry({ db }, currentLimit, who)
    const known = await findHash({ db }, session)
    const passwordHash = (await matchesPassword(known, current)) ? await hashPassword(password) : null
    return inWorkspace({ db }, session.workspaceId, async (ctx) => {
      const account = await lockAccount(ctx, session)
      // What was checked may have been replaced since.
      if (passwordHash === null || account?.password_hash !== known) {
        await recordDeed(ctx, session, 'senha', 'Troca de senha recusada: a senha atual não conferiu.')
        return false
      }
      await replacePassword(ctx, session, { passwordHash, how: 'session', keep: session.token })
      return true
    })
  })
  if (!changed) throw new AppError('invalid-input', 'A senha atual não confere.')
  await forgetTries({ db }, currentLimit, who)
}

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

async function findHash({ db }: Pick<Context, 'db'>, { workspaceId, accountId }: Owner): Promise<string | undefined> {
  const account = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('account')
      .select('password_hash')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', accountId)
      .executeTakeFirst(),
  )
  return account?.password_hash
}

/** The account, held until the end of the transaction: whoever replaces its password takes turns, and no login comes between. */
export function lockAccount({ db }: Pick<Context, 'db'>, { workspaceId, accountId }: Owner) {
  return db
    .selectFrom('account')
    .select(['name', 'email', 'password_hash'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', accountId)
    .forUpdate()
    .executeTakeFirst()
}

/** Replaces the password in the transaction that holds the account; ends its links and its sessions, but for the one of `keep`. */
export async function replacePassword(
  { db }: Pick<Context, 'db'>,
  owner: Owner & Pick<Caller, 'address'>,
  { passwordHash, how, keep }: { passwordHash: string; how: 'link' | 'session'; keep?: string },
): Promise<{ email: string }> {
  const { workspaceId, accountId, address } = owner
  const account = await db
    .updateTable('account')
    .set({ password_hash: passwordHash })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', accountId)
    .returning(['name', 'email'])
    .executeTakeFirstOrThrow()
  await db
    .updateTable('password_recovery')
    .set({ used_at: sql<Date>`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .where('used_at', 'is', null)
    .execute()
  await db
    .deleteFrom('session')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .$if(keep !== undefined, (query) => query.where('token_hash', '<>', tokenHash(keep!)))
    .execute()
  const sentence = {
    link: 'Senha trocada pelo link enviado por e-mail; todas as sessões foram encerradas.',
    session: 'Senha trocada com a senha atual; as outras sessões foram encerradas.',
  }[how]
  await recordDeed({ db }, { workspaceId, accountId, accountName: account.name, address }, 'senha', sentence)
  const payload = { at: new Date().toISOString(), address, how }
  await queueMail({ db }, { workspaceId, kind: 'senha-alterada', recipient: account.email, payload })
  return account
}
