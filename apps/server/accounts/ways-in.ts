import { formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { z } from 'zod'
import type { WithDatabase } from '../platform/context.ts'
import type { Session } from '../platform/http/session.ts'
import { holdLock } from '../platform/locks.ts'
import { recordAudit } from './audit/audit.ts'
import { removePasskeys } from './passkeys.ts'
import { inEachPlace, type Place } from './places.ts'
import { removeSecondFactor } from './second-factor.ts'
import { unlistTokens } from './tokens.ts'

// Besides the password: passkeys, the API keys that the account has made, and what it has sent to others by itself.

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

const names = z.array(z.string()).default([])

/** Passkeys, API keys, hosts of webhooks and answer rules that send, each as its person knows it, and the e-mails of the people let in lately. */
export const WaysIn = z
  .object({ passkeys: names, keys: names, webhooks: names, rules: names, people: names })
  .prefault({})
export type WaysIn = z.infer<typeof WaysIn>

// Owners who notice an intruder react within this time; most API keys in use are older.
const recently = sql<Date>`now() - interval '30 days'`

/**
 * Closes ways in that an intruder with the password may have opened: all passkeys, in each
 * workspace the API keys of the last 30 days; pauses webhooks and sending answer rules. Without a
 * proved e-mail, all keys and the second factor go, too. `atHome` is the audit text. `ctx.db` is
 * inside the workspace.
 */
export async function closeWaysIn(
  { db }: WithDatabase,
  owner: Owner,
  { wasProved, name }: { wasProved: boolean; name: string },
): Promise<WaysIn & { atHome: string }> {
  if (!wasProved) await removeSecondFactor({ db }, owner)
  const passkeys = await removePasskeys({ db }, owner)
  const since = wasProved ? recently : sql`'-infinity'::timestamptz`
  const closed: WaysIn = { passkeys, keys: [], webhooks: [], rules: [], people: [] }
  let atHome = ''
  await inEachPlace({ db }, owner, async ({ workspaceId, accountId }) => {
    const { rows } = await sql<NamedKey>`
      select name, start from end_keys_made_by(${workspaceId}, ${accountId}, ${since})`.execute(db)
    const keys = rows.map(nameOf)
    // Events that are being signed by these rules are committed first.
    await holdLock({ db }, 'answerRules', workspaceId)
    const { rows: sending } = await sql<Sending>`
      select webhook, rule from pause_sending_of(${workspaceId}, ${accountId})`.execute(db)
    const { webhooks, rules } = namesOf(sending)
    closed.keys.push(...keys)
    closed.webhooks.push(...webhooks)
    closed.rules.push(...rules)
    const isHome = workspaceId === owner.workspaceId
    const sentence = sentenceOf({ passkeys: isHome ? passkeys : [], keys, webhooks, rules })
    // Each workspace gets its own audit entry.
    if (isHome) atHome = sentence
    else if (sentence)
      await recordAudit(
        { db },
        { workspaceId, accountId, accountName: name },
        keys.length > 0 ? 'chave' : 'conta',
        `Trocou uma senha esquecida${sentence}.`,
      )
    // An intruder may have invited a mailbox of their own.
    await sql`delete from invitation where workspace_id = ${workspaceId} and invited_by = ${accountId}`.execute(db)
  })
  return { ...closed, atHome }
}

function sentenceOf({ passkeys, keys, webhooks, rules }: Omit<WaysIn, 'people'>): string {
  return [
    ...(passkeys.length > 0 ? [`; passkeys removidas: ${formatList(passkeys.map((name) => `“${name}”`))}`] : []),
    ...(keys.length > 0 ? [`; chaves de API apagadas: ${formatList(keys)}`] : []),
    ...(webhooks.length > 0 ? [`; webhooks pausados: ${formatList(webhooks)}`] : []),
    ...(rules.length > 0 ? [`; regras de resposta desligadas: ${formatList(rules)}`] : []),
  ].join('')
}

/** Lists the ways in that are open. `ctx.db` is a transaction inside the workspace. */
export async function listWaysIn({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<WaysIn> {
  const { rows: passkeys } = await sql<{ name: string }>`
    select name from passkey where workspace_id = ${workspaceId} and account_id = ${accountId}
    order by created_at`.execute(db)
  const open: WaysIn = { passkeys: passkeys.map(({ name }) => name), keys: [], webhooks: [], rules: [], people: [] }
  await inEachPlace({ db }, { workspaceId, accountId }, async (place) => {
    const { rows } = await sql<NamedKey>`
      select name, start from api_key
       where workspace_id = ${place.workspaceId} and created_by = ${place.accountId} and token_hash is not null
         and (expires_at is null or expires_at > now()) order by created_at`.execute(db)
    open.keys.push(...rows.map(nameOf))
    const { rows: sending } = await sql<Sending>`
      select webhook, rule from sending_of(${place.workspaceId}, ${place.accountId})`.execute(db)
    const { webhooks, rules } = namesOf(sending)
    open.webhooks.push(...webhooks)
    open.rules.push(...rules)
    const { rows: letIn } = await sql<{ email: string }>`
      select email from account
       where workspace_id = ${place.workspaceId} and invited_by = ${place.accountId} and created_at > ${recently}
       order by created_at`.execute(db)
    open.people.push(...letIn.map(({ email }) => email))
  })
  return open
}

interface NamedKey {
  name: string
  start: string
}

const nameOf = ({ name, start }: NamedKey) => `“${name}” (${start}…)`

/** One of both is null. */
interface Sending {
  webhook: string | null
  rule: string | null
}

const namesOf = (sending: readonly Sending[]) => ({
  webhooks: sending.flatMap(({ webhook }) => (webhook === null ? [] : new URL(webhook).host)),
  rules: sending.flatMap(({ rule }) => (rule === null ? [] : `“${rule}”`)),
})

/**
 * Ends the secret addresses at which calendars read the deadlines and payments of a person, or only that of one kind; returns whether there was one.
 * `ctx.db` is a transaction inside the workspace.
 */
export async function endCalendar(
  { db }: WithDatabase,
  { workspaceId, accountId }: Place,
  kind?: number,
): Promise<boolean> {
  const { rows: ended } = await sql<{ token_hash: Buffer }>`
    delete from calendar_feed
     where workspace_id = ${workspaceId} and account_id = ${accountId}
       and kind = coalesce(${kind ?? null}::int, kind) returning token_hash`.execute(db)
  await unlistTokens(
    { db },
    ended.map(({ token_hash }) => token_hash),
  )
  return ended.length > 0
}
