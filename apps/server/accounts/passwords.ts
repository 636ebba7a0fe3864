import { hash, verify } from '@node-rs/argon2'
import { sql } from 'kysely'
import { recordDeed } from '../platform/audit.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http.ts'
import { queueMail } from '../platform/mail.ts'
import { countTry, forgetTries, type Limit, tooMany } from '../platform/throttle.ts'
import { tokenHash } from './tokens.ts'

// Argon2id with the parameters of OWASP: 19 MiB, two passes.
const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
// Of a password that nobody has: an unknown e-mail costs as much time as a known one.
const nobody = '$argon2id$v=19$m=19456,t=2,p=1$J8CMWI3coC8R1Flq8Ds9Rg$RQIhUxz96/Gu/Xci+fLipjILpi5lshF0VBsAYYQhync'

// The same letter with its accent is one character or two, as the keyboard likes.
const asTyped = (password: string) => password.normalize('NFC')

export function hashPassword(password: string): Promise<string> {
  return hash(asTyped(password), argon)
}

/** Whether `password` is the one of `known`; without `known` it never is, after the same time. */
export async function matchesPassword(known: string | undefined, password: string): Promise<boolean> {
  const stored = known ?? nobody
  const typed = asTyped(password)
  // Older hashes are of what the keyboard sent.
  const matches = (await verify(stored, typed)) || (typed !== password && (await verify(stored, password)))
  return matches && known !== undefined
}

const lanes = new Map<string, { last: Promise<unknown>; length: number }>()
// An office whose people all come back at once waits two seconds at most.
const waitingMax = 100
// By then they have had their turn.
const laneMs = 5_000

/**
 * Carries out `work` when what came before it in the same lane has ended: guesses sent at once count like guesses sent in a row. Refused when
 * a hundred wait already.
 */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const lane = lanes.get(name) ?? { last: Promise.resolve(), length: 0 }
  if (lane.length > waitingMax) throw tooMany(laneMs)
  lanes.set(name, lane)
  const turn = lane.last.then(work, work)
  lane.last = turn
  lane.length++
  try {
    return await turn
  } finally {
    lane.length--
    if (lane.length === 0) lanes.delete(name)
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
  if (session.shared)
    throw new AppError(
      'conflict',
      'Esta conta é compartilhada: todos entram com a mesma senha, e por isso ela não pode ser trocada. Nada foi alterado. Para ter uma senha só sua, crie uma conta.',
    )
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
  owner: Owner & Partial<Pick<Caller, 'address'>>,
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
