import type { Context } from './context.ts'
import { keepWorking } from './keep-working.ts'
import type { MailKind } from './mail.ts'
import { isMailbox, writeMessage } from './mail-message.ts'
import { claimMail, type HeldMail, leaseMs, type Outcome, settleMail } from './mail-queue.ts'
import { openTransport, readRefusal, type Transport } from './mail-transport.ts'
import { pause } from './pause.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
// Each after one failure more; together three days.
const waits = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, ...Array<number>(11).fill(6 * hourMs)]

const atOnce = 4
// What failed before may fail slowly again, and must not keep those from leaving that were never tried.
const againAtOnce = 2
const idleMs = 1_000
const sendMs = 3 * minuteMs
// What a message under way gets when the program ends.
const graceMs = 5_000

/** Sends the mails that are due, until disposed; `kinds` write the letters. */
export function startMailWorker(ctx: Context, kinds: Readonly<Record<string, MailKind>>): AsyncDisposable {
  const transport = openTransport(ctx.config)
  let retrying = 0
  return keepWorking(
    {
      claim: async () => (retrying < againAtOnce ? await claimMail(ctx, 'again') : null) ?? claimMail(ctx, 'first'),
      carryOut: async (mail, signal) => {
        const claimedAt = performance.now()
        const lane = mail.failures > 0 ? 1 : 0
        retrying += lane
        try {
          const outcome = await sendMail(ctx, kinds, transport, mail, signal)
          await settle(ctx, mail, outcome, claimedAt + leaseMs, signal)
        } finally {
          retrying -= lane
        }
      },
      atOnce,
      idleMs,
    },
    ctx.log,
  )
}

async function sendMail(
  ctx: Context,
  kinds: Readonly<Record<string, MailKind>>,
  transport: Transport,
  mail: HeldMail,
  signal: AbortSignal,
): Promise<Outcome> {
  const { log } = ctx
  const about = { mail: String(mail.id), kind: mail.kind }
  if (mail.tooLate) {
    // Without a failure, nothing ran in the meantime.
    log[mail.failures > 0 ? 'error' : 'warn'](about, 'a mail did not leave while it was of use')
    return { state: 'dropped', problem: 'Ficou tarde demais para este e-mail: o que ele diria já não serve.' }
  }
  const write = Object.hasOwn(kinds, mail.kind) ? kinds[mail.kind] : undefined
  if (!write) {
    log.error(about, 'a mail is of an unknown kind')
    return { state: 'failed', problem: `Este programa não conhece e-mails do tipo "${mail.kind}".` }
  }
  // Anybody may sign up with such an address: it is nobody's failure.
  if (!isMailbox(mail.recipient)) {
    log.warn(about, 'a mail has no usable recipient')
    return {
      state: 'dropped',
      problem: 'O endereço do destinatário não é um endereço de e-mail que se possa usar.',
    }
  }
  let message: Buffer
  try {
    const letter = await write(ctx, mail)
    if (!letter) return { state: 'dropped', problem: 'Não havia o que dizer quando ele sairia.' }
    message = await writeMessage(ctx.config, letter, mail)
  } catch (error) {
    log.error({ err: error, ...about }, 'a letter could not be written')
    return again(ctx, mail, 'O e-mail não pôde ser escrito por uma falha nossa, anotada no log.')
  }
  try {
    const path = await within(signal, (limit) => transport.deliver(mail, message, limit))
    if (path) log.warn({ ...about, path }, 'no mail server is configured: a mail became a file')
    else log.info(about, 'a mail left')
    return { state: 'sent' }
  } catch (error) {
    if (signal.aborted) return { state: 'released' }
    const { problem, final, facts } = readRefusal(error)
    if (!final) {
      log.warn({ ...about, ...facts }, 'a mail could not leave')
      return again(ctx, mail, problem)
    }
    // Nor is a mailbox that does not exist.
    log[facts.command === 'RCPT TO' ? 'warn' : 'error']({ ...about, ...facts }, 'a mail was refused for good')
    return { state: 'failed', problem }
  }
}

function again({ log }: Pick<Context, 'log'>, { id, kind, failures }: HeldMail, problem: string): Outcome {
  const waitMs = waits[failures]
  if (waitMs !== undefined) return { state: 'waiting', problem, waitMs }
  log.error({ mail: String(id), kind }, 'a mail was given up')
  return { state: 'failed', problem }
}

/** Does `work` with a signal that comes when it takes too long, or a little after `end`. */
async function within<T>(end: AbortSignal, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController()
  const late = setTimeout(() => limit.abort(), sendMs)
  let ending: NodeJS.Timeout | undefined
  const hurry = () => {
    ending = setTimeout(() => limit.abort(), graceMs)
  }
  if (end.aborted) hurry()
  end.addEventListener('abort', hurry, { once: true })
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(late)
    clearTimeout(ending)
    end.removeEventListener('abort', hurry)
  }
}

// What happened to a mail is true also when the database is away for a moment: otherwise a mail that left would leave again.
async function settle(
  ctx: Context,
  mail: HeldMail,
  outcome: Outcome,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await settleMail(ctx, mail, outcome)
    } catch (error) {
      if (signal.aborted || performance.now() > until) throw error
      ctx.log.warn({ err: error, mail: String(mail.id) }, 'what became of a mail could not be written yet')
      await pause(1_000, signal)
    }
  }
}
