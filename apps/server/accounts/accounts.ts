import { createHash, randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http.ts'

const sessionDays = 30
// Argon2id with the parameters of OWASP: 19 MiB, two passes.
const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
// Of a password that nobody has: an unknown e-mail costs as much time as a known one.
const nobody = '$argon2id$v=19$m=19456,t=2,p=1$J8CMWI3coC8R1Flq8Ds9Rg$RQIhUxz96/Gu/Xci+fLipjILpi5lshF0VBsAYYQhync'

export interface NewAccount {
  name: string
  email: string
  password: string
  phone?: string
  plan: number
}

/** Creates an account in a workspace of its own; refuses an e-mail that is taken. */
export async function signUp({ db }: Pick<Context, 'db'>, account: NewAccount): Promise<void> {
  const passwordHash = await hash(account.password, argon)
  // The number comes first: the row can only be written by somebody who is in its workspace already.
  const { rows } = await sql<{
    id: number
  }>`select nextval(pg_get_serial_sequence('workspace', 'id'))::int as id`.execute(db)
  const workspaceId = rows[0]!.id
  try {
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      await db.insertInto('workspace').values({ id: workspaceId, name: account.name, plan: account.plan }).execute()
      await db
        .insertInto('account')
        .values({
          workspace_id: workspaceId,
          email: account.email.toLowerCase(),
          name: account.name,
          phone: account.phone,
          password_hash: passwordHash,
        })
        .execute()
    })
  } catch (cause) {
    if ((cause as { constraint?: string }).constraint === 'account_email_key') {
      throw new AppError('conflict', 'Já existe uma conta com este email. Faça login para continuar.', { cause })
    }
    throw cause
  }
}

/** Opens a session; null when e-mail and password do not match, after the same time whether or not the e-mail exists. */
export async function logIn(
  { db }: Pick<Context, 'db'>,
  email: string,
  password: string,
): Promise<{ token: string; workspacePublicId: string } | null> {
  const { rows } = await sql<{
    workspace_id: number
    workspace_public_id: string
    account_id: number
    password_hash: string
  }>`
    select * from account_for_login(${email.toLowerCase()})`.execute(db)
  const account = rows[0]
  const matches = await verify(account?.password_hash ?? nobody, password)
  if (!account || !matches) return null
  const token = randomBytes(32).toString('base64url')
  await inWorkspace({ db }, account.workspace_id, ({ db }) =>
    db
      .insertInto('session')
      .values({
        token_hash: digest(token),
        workspace_id: account.workspace_id,
        account_id: account.account_id,
        expires_at: sql<Date>`now() + ${sessionDays} * interval '1 day'`,
      })
      .execute(),
  )
  return { token, workspacePublicId: account.workspace_public_id }
}

/** The session that `token` opened, or null when it has ended. */
export async function findSession(
  { db }: Pick<Context, 'db'>,
  token: string,
  { address }: Caller,
): Promise<Session | null> {
  const { rows } = await sql<{
    workspace_id: number
    workspace_public_id: string
    account_id: number
    account_name: string
    session_public_id: string
  }>`
    select * from session_for_token(${digest(token)})`.execute(db)
  const row = rows[0]
  return row
    ? {
        workspaceId: row.workspace_id,
        workspacePublicId: row.workspace_public_id,
        accountId: row.account_id,
        accountName: row.account_name,
        publicId: row.session_public_id,
        token,
        address,
      }
    : null
}

/** Ends the session: its token is worth nothing from here on. */
export async function logOut({ db }: Pick<Context, 'db'>, session: Session): Promise<void> {
  await inWorkspace({ db }, session.workspaceId, ({ db }) =>
    db
      .deleteFrom('session')
      .where('token_hash', '=', digest(session.token))
      .where('workspace_id', '=', session.workspaceId)
      .execute(),
  )
}

// The database keeps only this: whoever reads it cannot open a session.
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
