import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { listToken, tokenHash } from './tokens.ts'

/** The purpose of a link that a mail carries. */
export type LinkPurpose = 'password' | 'email' | 'new-email'

/** A kind of link that a letter carries, each for one purpose. */
export interface LinkKind {
  purpose: LinkPurpose
  /** The page that it opens, in the address before the token. */
  page: string
  hours: number
  /** Messages for links that do not work. */
  unknown: string
  used: string
  expired: string
}

interface Owner {
  workspaceId: number
  accountId: number
}

/**
 * The link that a mail brings to an account, valid from now on. It is the same at each attempt to send the mail: the letter of an attempt that
 * seemed to fail may have arrived. Null: the earlier link was used. `first`: nobody made it before. `ctx.db` is a transaction inside the
 * workspace.
 */
export async function createLink(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  kind: LinkKind,
  { workspaceId, accountId }: Owner,
  mail: { id: bigint; at: string },
): Promise<{ token: string; expiresAt: Date; first: boolean } | null> {
  const secret = `${kind.purpose} ${mail.id} ${mail.at} ${workspaceId}/${accountId}`
  const token = vault.derive(secret).toString('base64url')
  // A row that was updated bears the mark of this transaction.
  const { rows } = await sql<{ expiresAt: Date; first: boolean }>`
    insert into mail_link as l (token_hash, workspace_id, account_id, purpose, expires_at, mail_id)
    values (${tokenHash(token)}, ${workspaceId}, ${accountId}, ${kind.purpose},
            now() + ${kind.hours} * interval '1 hour', ${mail.id})
    on conflict (workspace_id, mail_id) do update
       set token_hash = excluded.token_hash, expires_at = excluded.expires_at where l.used_at is null
    returning expires_at as "expiresAt", xmax = 0 as first`.execute(db)
  if (!rows[0]) return null
  // Used and expired links are told apart for as long as they are kept.
  await listToken({ db }, workspaceId, token, sql`now() + interval '30 days'`)
  return { token, ...rows[0] }
}

type FoundLink = Owner & { expiresAt: Date }

/**
 * The link that still works; refuses one that is unknown, expired or used, each in its own words. `text` is its token or all of it. `inside`: its
 * workspace, in which the transaction `ctx.db` looks again whether another call has used the link since.
 */
export async function getLink(
  { db }: WithDatabase,
  kind: LinkKind,
  text: string,
  inside?: Pick<Owner, 'workspaceId'>,
): Promise<FoundLink> {
  const hash = tokenHash(tokenOf(kind, text))
  // On several servers the session of the function may not read what this transaction has written.
  const found = inside
    ? sql`(select * from mail_link where workspace_id = ${inside.workspaceId} and token_hash = ${hash})`
    : sql`link_for_token(${hash})`
  const { rows } = await sql<FoundLink & { used: boolean; expired: boolean }>`
    select workspace_id as "workspaceId", account_id as "accountId", expires_at as "expiresAt",
           used_at is not null as used, expires_at <= now() as expired
      from ${found} l where purpose = ${kind.purpose}`.execute(db)
  const link = rows[0]
  if (!link) throw new AppError('not-found', kind.unknown)
  if (link.used) throw new AppError('gone', kind.used)
  if (link.expired) throw new AppError('gone', kind.expired)
  return link
}

/** Whether the text is the token, or all, of a link of this kind, whether or not it still works. */
export async function isLink({ db }: WithDatabase, kind: LinkKind, text: string): Promise<boolean> {
  const { rows } = await sql`
    select from link_for_token(${tokenHash(tokenOf(kind, text))}) where purpose = ${kind.purpose}`.execute(db)
  return rows.length > 0
}

function tokenOf({ page }: LinkKind, text: string): string {
  const parts = text.trim().split(/[?#]/, 1)[0]!.split('/')
  if (parts.at(-1) === '') parts.pop()
  return parts.length === 1 || parts.at(-2) === page ? (parts.at(-1) ?? '') : ''
}

/** Ends the links of an account, or those for some purposes. `ctx.db` is a transaction inside the workspace. */
export async function endLinks(
  { db }: WithDatabase,
  { workspaceId, accountId }: Owner,
  purposes?: readonly LinkPurpose[],
): Promise<void> {
  await sql`
    update mail_link set used_at = now()
     where workspace_id = ${workspaceId} and account_id = ${accountId} and used_at is null
       and (${purposes ?? null}::text[] is null or purpose = any (${purposes ?? null}::text[]))`.execute(db)
}
