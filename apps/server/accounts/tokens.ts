import { createHash, randomBytes } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'

/** A random secret of 43 characters, for one purpose. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Hash of a token for the database: it cannot be used to log in. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Lists a token in the directory, where its workspace is looked up, until `keptUntil`; `ctx.db` is a transaction inside the workspace. */
export async function listToken(
  { db }: WithDatabase,
  workspaceId: number,
  token: string,
  keptUntil: RawBuilder<Date>,
): Promise<void> {
  await sql`
    insert into token_directory (token_hash, workspace_id, kept_until) values (${tokenHash(token)}, ${workspaceId}, ${keptUntil})
    on conflict (token_hash) do update set kept_until = excluded.kept_until`.execute(db)
}

/** Takes tokens, by their hashes, out of the directory. `ctx.db` is a transaction inside their workspace. */
export async function unlistTokens({ db }: WithDatabase, hashes: readonly Buffer[]): Promise<void> {
  await sql`delete from token_directory where token_hash = any (${hashes}::bytea[])`.execute(db)
}
