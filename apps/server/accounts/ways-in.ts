import { formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../audit/audit.ts'
import type { Session } from '../http/http.ts'
import type { WithDatabase } from '../platform/context.ts'
import { removePasskeys } from './passkeys.ts'
import { inEachPlace } from './places.ts'
import { removeSecondFactor } from './second-factor.ts'

// Besides the password: passkeys, and the API keys that the account has made.

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

/** Passkeys and API keys of an account, each as its person knows it, and the e-mails of the people whom it has let in lately. */
export interface WaysIn {
  passkeys: string[]
  keys: string[]
  people: string[]
}

// Whoever knew of an intruder reacts within this time, and most keys of programs in use are older.
const recently = sql<Date>`now() - interval '30 days'`

/**
 * Closes what somebody else may have opened while the password was known to them: all passkeys, and the API keys of the last thirty days, in each
 * workspace of the person. Of an account
 * whose e-mail nobody had confirmed, which somebody else may have made: all keys, and the second factor. Returns what was closed. `ctx.db` is a transaction
 * inside the workspace.
 */
export async function closeWaysIn(
  { db }: WithDatabase,
  owner: Owner,
  { wasProved, name }: { wasProved: boolean; name: string },
): Promise<WaysIn & { keysAtHome: string[] }> {
  if (!wasProved) await removeSecondFactor({ db }, owner)
  const passkeys = await removePasskeys({ db }, owner)
  const since = wasProved ? recently : sql`'-infinity'::timestamptz`
  const keys: string[] = []
  let keysAtHome: string[] = []
  await inEachPlace({ db }, owner, async ({ workspaceId, accountId }) => {
    const { rows } = await sql<NamedKey>`
      select name, start from end_keys_made_by(${workspaceId}, ${accountId}, ${since})`.execute(db)
    const ended = rows.map(nameOf)
    keys.push(...ended)
    // Each workspace is told of its own.
    if (workspaceId === owner.workspaceId) keysAtHome = ended
    else if (ended.length > 0)
      await recordAudit(
        { db },
        { workspaceId, accountId, accountName: name },
        'chave',
        `Trocou uma senha esquecida; chaves de API apagadas: ${formatList(ended)}.`,
      )
    // Whoever else knew the password may have asked a mailbox of their own to come in.
    await db
      .deleteFrom('invitation')
      .where('workspace_id', '=', workspaceId)
      .where('invited_by', '=', accountId)
      .execute()
  })
  return { passkeys, keys, people: [], keysAtHome }
}

/** What is open. `ctx.db` is a transaction inside the workspace. */
export async function listWaysIn({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<WaysIn> {
  const passkeys = await db
    .selectFrom('passkey')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .execute()
  const keys: string[] = []
  const people: string[] = []
  await inEachPlace({ db }, { workspaceId, accountId }, async (place) => {
    const { rows } = await sql<NamedKey>`
      select name, start from api_key
       where workspace_id = ${place.workspaceId} and created_by = ${place.accountId} and token_hash is not null
         and (expires_at is null or expires_at > now()) order by created_at`.execute(db)
    keys.push(...rows.map(nameOf))
    const { rows: letIn } = await sql<{ email: string }>`
      select email from account
       where workspace_id = ${place.workspaceId} and invited_by = ${place.accountId} and created_at > ${recently} order by created_at`.execute(
      db,
    )
    people.push(...letIn.map(({ email }) => email))
  })
  return { passkeys: passkeys.map(({ name }) => name), keys, people }
}

interface NamedKey {
  name: string
  start: string
}

const nameOf = ({ name, start }: NamedKey) => `“${name}” (${start}…)`
