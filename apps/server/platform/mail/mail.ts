import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../context.ts'
import { fromNow } from '../jobs/claim.ts'
import { queueJob } from '../jobs/jobs.ts'

/** The text of a letter; the layout is the same for all. */
export interface Letter {
  /** Says what and which CNPJ, in our words: no name that somebody typed or that a document brought. */
  subject: string
  /** A plain text shows them too, and has no button: they speak of the address below. */
  paragraphs: string[]
  /** A list below them, each line with the address that shows it. */
  lines?: LetterLine[]
  button?: { label: string; url: string }
  /** In small print below. */
  footnote?: string
  /** One-click unsubscribe address, which works without opening the mail (RFC 8058). */
  stopUrl?: string
  /** The address for replies, when that is not the sender. */
  replyTo?: { name: string; address: string }
}

/** A line of a list: what it is, what there is to say of it, and where it is shown. */
export interface LetterLine {
  title: string
  detail?: string
  url: string
}

/** Why a person gets a letter that they did not request, as the first sentence of its footnote. */
export function whyReceived({ productName }: Pick<Context['config'], 'productName'>): string {
  return `Você recebe este e-mail porque tem uma conta no ${productName}.`
}

/**
 * Words that somebody else wrote, for a letter: programs that make links of what looks like an address find none in them. Numbers stay as they
 * are, and so do "S/A" and "nº".
 */
export function withoutLinks(text: string): string {
  return text
    .replace(/[^ºª\u00a0]+/g, (part) => part.normalize('NFKC'))
    .replace(/[\u3002\uff0e\uff61]/g, '.')
    .replace(/:\/+/g, ': ')
    .replace(/\S+/g, (word) => {
      const dot = word.indexOf('.')
      return dot < 0 ? word : word.slice(0, dot) + word.slice(dot).replace(/\/(?=\p{L})/gu, '/ ')
    })
    .replace(/[.@:](?=\p{L})/gu, '$& ')
}

/** A mail that waits to leave. */
export interface WaitingMail {
  /** The same for every attempt to send it. */
  id: bigint
  workspaceId: number | null
  recipient: string
  /** Payload that `queueMail` was given. */
  payload: unknown
}

/** Writes the letter at the moment it leaves; null: there is nothing to say (any more), and nothing leaves. */
export type MailKind = (ctx: Context, mail: WaitingMail) => Promise<Letter | null>

/**
 * Queues a mail, in the transaction of `ctx.db` if it is one: it leaves after the commit. `kind`
 * names its writer; the payload holds no secret. `usefulMs`: it would only confuse afterwards.
 */
export async function queueMail(
  { db }: WithDatabase,
  mail: { workspaceId?: number; kind: string; recipient: string; payload?: object; usefulMs?: number },
): Promise<void> {
  const { workspaceId = null, kind, recipient, payload = {}, usefulMs } = mail
  const messageId = randomUUID()
  const uselessAt = usefulMs === undefined ? null : fromNow(usefulMs)
  await sql`
    insert into mail (workspace_id, kind, recipient, payload, useless_at, message_id)
    values (${workspaceId}, ${kind}, ${recipient}, ${JSON.stringify(payload)}, ${uselessAt}, ${messageId})`.execute(db)
  await queueJob({ db }, { kind: 'mail', workspaceId, key: messageId })
}
