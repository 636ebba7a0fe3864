import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Config } from '../../config.ts'
import type { HeldMail } from './queue.ts'

/** Hands a message over to the mail server or the folder; throws when it cannot. */
export interface Transport {
  /** Resolves with the path of the file that holds the message, for the log; null: no file. */
  deliver(
    mail: Pick<HeldMail, 'id' | 'recipient' | 'createdAt'>,
    message: Buffer,
    signal: AbortSignal,
  ): Promise<string | null>
}

/** The way out that the configuration names: its mail server, or files in the data directory. */
export function openTransport(config: Pick<Config, 'mail' | 'dataDir'>): Transport {
  const { smtpUrl, from } = config.mail
  return smtpUrl ? smtpTransport(new URL(smtpUrl), from) : outboxTransport(join(config.dataDir, 'outbox'))
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

function smtpTransport(url: URL, from: string): Transport {
  const secure = url.protocol === 'smtps:'
  const hasLogin = url.username !== ''
  // Only these parts of the address count: nothing in it can turn the verification off.
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    secure,
    ...(hasLogin && { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    // Otherwise encrypted when the server offers it. A password leaves this machine encrypted or not at all.
    requireTLS: hasLogin && !secure && !loopback.test(url.hostname),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    dnsTimeout: 15_000,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 60_000,
  })
  return {
    deliver: async ({ recipient }, message, signal) => {
      await transport.sendMail({ envelope: { from, to: { name: '', address: recipient } }, raw: message, signal })
      return null
    },
  }
}

/** How long letters that became files are kept: their rows go after as long. */
const outboxDays = 90

/** Deletes letters of the folder that were written long ago, as they hold names, addresses and links. */
export async function forgetOutbox({ dataDir }: Pick<Config, 'dataDir'>): Promise<void> {
  const folder = join(dataDir, 'outbox')
  const ifThere = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  }
  const names = (await readdir(folder).catch(ifThere)) ?? []
  for (const name of names.filter((one) => /\.eml(\.|$)/.test(one))) {
    const path = join(folder, name)
    // Another process gives a new letter its name, or deletes an old one.
    const found = await stat(path).catch(ifThere)
    if (found && found.mtimeMs < Date.now() - outboxDays * 24 * 3_600_000) await rm(path, { force: true })
  }
}

function outboxTransport(folder: string): Transport {
  return {
    deliver: async ({ id, createdAt }, message) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // An attempt with an unknown end is replaced by the next one.
      const path = join(folder, `${createdAt.toISOString().replace(/[:.]/g, '-')}-${id}.eml`)
      const draft = `${path}.draft`
      await writeFile(draft, message, { mode: 0o600, flush: true })
      await rename(draft, path)
      return path
    },
  }
}

/** Why a message did not leave. */
interface SmtpRefusal {
  /** The text for the operator. */
  problem: string
  /** It is about this message or its recipient: a retry would fail in the same way. */
  final: boolean
  /** For the log, which holds no addresses. */
  facts: { code: string | undefined; command: string | undefined; status: number | undefined }
}

/** Classifies an error of `deliver`. */
export function readRefusal(error: unknown): SmtpRefusal {
  const { code, command, responseCode: status, response, message } = error as SmtpError
  const facts = { code, command, status }
  const said = clean(response || message || String(error))
  return { problem: `${problemOf(facts, said)}: ${said}`, final: isFinal(facts, said), facts }
}

function problemOf({ code, status }: SmtpRefusal['facts'], said: string): string {
  if (code === 'EAUTH') return 'O servidor de e-mail não aceitou o usuário e a senha'
  if (code === 'ETLS' || /certificate|self.signed/i.test(said)) return 'Não há conexão segura com o servidor de e-mail'
  if (status) return 'O servidor de e-mail recusou'
  if (code === 'ETIMEDOUT') return 'O servidor de e-mail não respondeu a tempo'
  if (code === 'EENVELOPE') return 'O servidor de e-mail não serve para este endereço'
  return 'O e-mail não pôde ser entregue ao servidor'
}

interface SmtpError {
  code?: string
  command?: string
  responseCode?: number
  response?: string
  message?: string
}

// 530 asks for a login, 5.7 to a recipient denies relaying: mails wait until the operator fixes it.
function isFinal({ code, command, status }: SmtpRefusal['facts'], said: string): boolean {
  if (code === 'EENVELOPE' && command === 'API') return true
  if (!status || status < 500 || status === 530 || code === 'EAUTH') return false
  if (command === 'RCPT TO') return !/^\d{3}[ -]5\.7\.\d/.test(said)
  return command === 'DATA'
}

function clean(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 500)
}
