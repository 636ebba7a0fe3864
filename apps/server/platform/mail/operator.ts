import { randomUUID } from 'node:crypto'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../context.ts'
import { asOperator } from '../database.ts'
import { repeat } from '../jobs/loop.ts'
import { storageTask } from '../storage.ts'
import { endTrouble, noteTrouble, type TroubleKey, titleOf } from '../trouble.ts'
import { type Letter, type MailKind, queueMail } from './mail.ts'
import { writeMessage } from './message.ts'
import { openTransport, readRefusal } from './transport.ts'

const lookEveryMs = 10_000
// A hiccup writes no letter, and what comes and goes writes few: it must last a while, and stay away for longer.
const lastsMinutes = 5
const quietMinutes = 30

interface Told {
  key: TroubleKey
  sentence: string
  /** Texts in a payload that comes back from the queue. */
  since: Date | string
  /** It is over since then. */
  endedAt: Date | string | null
  /** It was told before. */
  again: boolean
}

/** Queues the letters that are due: one when a trouble has begun, one for each day that it lasts, one when it is over. */
export async function tellOperator(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const recipient = ctx.config.operatorEmail
  await asOperator(ctx, async (ctx) => {
    const { db, log } = ctx
    // A second process waits for the row locks of the first, and then finds nothing due.
    const { rows: lasting } = await sql<Told>`
      with due as (
        select key, told_at is not null as again from trouble
         where ended_at is null and (told_at is null and ${isAgo(sql`since`, lastsMinutes)} or ${isAgo(sql`told_at`, 1_440)})
           for no key update)
      update trouble t set told_at = now() from due where t.key = due.key
      returning t.key, sentence, since, null as "endedAt", again`.execute(db)
    const { rows: over } = await sql<Told>`
      delete from trouble where ${isAgo(sql`ended_at`, quietMinutes)}
      returning key, sentence, since, ended_at as "endedAt", true as again`.execute(db)
    for (const told of [...lasting, ...over]) {
      const { key, endedAt, again } = told
      if (endedAt === null) log.error({ trouble: key, again }, 'something is wrong with this installation')
      else log.warn({ trouble: key }, 'what was wrong with this installation is over')
      // A day later the next letter says it better.
      const useful = endedAt === null ? { usefulMs: dayMs } : {}
      if (recipient) await queueMail(ctx, { kind: 'operador', recipient, payload: told, ...useful })
    }
  })
}

const dayMs = 86_400_000

const isAgo = (column: RawBuilder<unknown>, minutes: number) =>
  sql`${column} < now() - ${minutes} * interval '1 minute'`

const writeOperator: MailKind = async (_, { payload }) => letterOf(payload as Told)

function letterOf({ key, sentence, since, endedAt, again }: Told): Letter {
  const title = titleOf(key)
  const began = formatBrasiliaMoment(new Date(since))
  const footnote =
    'Você recebe este e-mail porque cuida desta instalação (OPERATOR_EMAIL). Avisamos quando um problema começa, uma vez por dia enquanto dura e quando termina.'
  if (endedAt !== null)
    return {
      subject: `Resolvido: ${title}`,
      paragraphs: [
        `O problema que começou em ${began} terminou em ${formatBrasiliaMoment(new Date(endedAt))} (horário de Brasília).`,
        `O que dissemos dele: ${sentence}`,
        'Não é preciso fazer nada.',
      ],
      footnote,
    }
  return {
    subject: again ? `Continua: ${title}` : title,
    paragraphs: [sentence, `${again ? 'Continua assim desde' : 'Começou em'} ${began} (horário de Brasília).`],
    footnote,
  }
}

const directEveryMs = 3_600_000
const directRetryMs = 5 * 60_000
const directLimitMs = 60_000
let directNextAt = Number.NEGATIVE_INFINITY

/**
 * Writes to the operator without the database, because it cannot be written: at most once an hour from this process. Returns whether a letter
 * left.
 */
export async function writeDirectly(
  { config, log }: Pick<Context, 'config' | 'log'>,
  key: TroubleKey,
  sentence: string,
): Promise<boolean> {
  const recipient = config.operatorEmail
  if (!recipient || performance.now() < directNextAt) return false
  directNextAt = performance.now() + directEveryMs
  const now = new Date()
  try {
    const letter = letterOf({ key, sentence, since: now, endedAt: null, again: false })
    const message = await writeMessage(config, letter, { recipient, messageId: randomUUID() })
    const mail = { id: 0n, recipient, createdAt: now }
    await openTransport(config).deliver(mail, message, AbortSignal.timeout(directLimitMs))
    return true
  } catch (error) {
    directNextAt = performance.now() + directRetryMs
    log.error({ trouble: key, ...readRefusal(error).facts }, 'the operator could not be told')
    return false
  }
}

/** Tells the operator and everybody, until disposed, that nothing can be stored; without a row where none can be written. */
export function watchStorage(ctx: Pick<Context, 'db' | 'config' | 'log' | 'storage'>): AsyncDisposable {
  const tellOfStorage = async () => {
    const { trouble } = ctx.storage
    if (!trouble) return endTrouble(ctx, 'espaco')
    const sentence = storageTask(trouble)
    await noteTrouble(ctx, 'espaco', sentence).catch(() => writeDirectly(ctx, 'espaco', sentence))
  }
  return repeat(lookEveryMs, tellOfStorage, ctx.log)
}

/** The letters to the operator. */
export const operatorMails: Readonly<Record<string, MailKind>> = { operador: writeOperator }
