import type { Context } from '../context.ts'
import type { Again, Job, JobKind } from '../jobs/jobs.ts'
import { afterGrace } from '../jobs/loop.ts'
import type { MailKind } from './mail.ts'
import { isMailbox, writeMessage } from './message.ts'
import { type HeldMail, type MailOutcome, readMail, settleMail } from './queue.ts'
import { openTransport, readRefusal, type Transport } from './transport.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
// Each after one failure more; together three days.
const waits = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, ...Array<number>(11).fill(6 * hourMs)]

const sendMs = 3 * minuteMs
// How long a message under way may still take when the program ends.
const graceMs = 5_000

/** Sends the mails that wait; `kinds` write the letters. */
export function mailJob(kinds: Readonly<Record<string, MailKind>>): JobKind {
  let transport: Transport | null = null
  return {
    name: 'mail',
    concurrency: 4,
    placesOfEach: 3,
    isHeld: true,
    waits,
    run: async (ctx, job, signal) => {
      const mail = await readMail(ctx, job)
      if (!mail) return null
      transport ??= openTransport(ctx.config)
      const outcome = await sendMail(ctx, kinds, transport, mail, job, signal)
      if (outcome.state === 'waiting') return outcome.again
      await settleMail(ctx, mail, job, outcome)
      return null
    },
  }
}

type Sent = MailOutcome | { state: 'waiting'; again: Again }

async function sendMail(
  ctx: Context,
  kinds: Readonly<Record<string, MailKind>>,
  transport: Transport,
  mail: HeldMail,
  job: Job,
  signal: AbortSignal,
): Promise<Sent> {
  const { log } = ctx
  const about = { mail: String(mail.id), kind: mail.kind }
  if (mail.tooLate) {
    // Without a failure, nothing ran in the meantime.
    log[job.failures > 0 ? 'error' : 'warn'](about, 'a mail did not leave while it was of use')
    return { state: 'dropped', problem: 'Ficou tarde demais para este e-mail: o que ele diria já não serve.' }
  }
  const write = Object.hasOwn(kinds, mail.kind) ? kinds[mail.kind] : undefined
  if (!write) {
    log.error(about, 'a mail is of an unknown kind')
    return { state: 'failed', problem: `Este programa não conhece e-mails do tipo "${mail.kind}".` }
  }
  // A visitor may sign up with such an address: it is no failure.
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
    return retryLater(ctx, mail, job, 'O e-mail não pôde ser escrito por uma falha nossa, anotada no log.')
  }
  try {
    const cut = new AbortController()
    using _ = afterGrace(signal, graceMs, () => cut.abort())
    const limit = AbortSignal.any([cut.signal, AbortSignal.timeout(sendMs)])
    const path = await transport.deliver(mail, message, limit)
    // The demonstration needs no mail server.
    const level = ctx.config.sefaz.ambiente === 'simulado' ? 'info' : 'warn'
    if (path) log[level]({ ...about, path }, 'no mail server is configured: a mail became a file')
    else log.info(about, 'a mail left')
    return { state: 'sent' }
  } catch (error) {
    if (signal.aborted) throw error
    const { problem, final, facts } = readRefusal(error)
    if (!final) {
      log.warn({ ...about, ...facts }, 'a mail could not leave')
      return retryLater(ctx, mail, job, problem)
    }
    // Nor is a mailbox that does not exist.
    log[facts.command === 'RCPT TO' ? 'warn' : 'error']({ ...about, ...facts }, 'a mail was refused for good')
    return { state: 'failed', problem }
  }
}

function retryLater({ log }: Pick<Context, 'log'>, { id, kind }: HeldMail, { failures }: Job, problem: string): Sent {
  const waitMs = waits[failures]
  if (waitMs !== undefined) return { state: 'waiting', again: { waitMs, error: problem } }
  log.error({ mail: String(id), kind }, 'a mail was given up')
  return { state: 'failed', problem }
}
