import { createHmac } from 'node:crypto'
import type { Context } from '../../platform/context.ts'
import { OutboundError, type OutsideAnswer, postOutside } from '../../platform/http/outbound.ts'

/** Outcome of an attempt to deliver. */
export interface Attempt {
  delivered: boolean
  /** Null: there was no response. */
  status: number | null
  answer: string | null
  /** For the person; null when it was delivered. */
  problem: string | null
  durationMs: number
}

export interface Message {
  url: string
  publicId: string
  body: string
  /** The current one first. */
  secrets: readonly string[]
}

const problems: Record<OutboundError['problem'], string> = {
  'no-address': 'O endereço não é um endereço https.',
  'not-public': 'O endereço leva a uma rede interna, para onde nada é enviado.',
  unreachable: 'Não foi possível conectar a este endereço, ou a conexão caiu.',
  'too-slow': 'O endereço não respondeu em 10 segundos.',
  refused: 'O endereço recusou.',
  'too-large': 'O endereço respondeu demais.',
}

const unreadable = 'O segredo deste webhook já não pode ser lido: nada foi enviado. Troque o segredo.'

/** Sends a message once. Never throws, but when `stop` ended it. */
export async function send(
  { config }: Pick<Context, 'config'>,
  { url, publicId, body, secrets }: Message,
  stop: AbortSignal,
): Promise<Attempt> {
  if (secrets.length === 0) return { delivered: false, status: null, answer: null, problem: unreadable, durationMs: 0 }
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Vigia-Fiscal-Webhook',
    'vigia-id': publicId,
    'vigia-timestamp': timestamp,
    'vigia-signature': secrets.map((secret) => `v1=${signatureOf(secret, timestamp, body)}`).join(','),
  }
  const began = performance.now()
  const attempt = (more: Omit<Attempt, 'durationMs'>) => ({
    ...more,
    durationMs: Math.round(performance.now() - began),
  })
  let answer: OutsideAnswer
  try {
    answer = await postOutside(url, body, { headers, exempt: config.webhookHosts, stop })
  } catch (error) {
    if (stop.aborted || !(error instanceof OutboundError)) throw error
    return attempt({ delivered: false, status: null, answer: null, problem: problems[error.problem] })
  }
  const { status, text } = answer
  const delivered = status >= 200 && status < 300
  const isRedirect = status >= 300 && status < 400
  const problem = isRedirect
    ? `O endereço respondeu ${status}: redirecionamentos não são seguidos. Informe o endereço final.`
    : `O endereço respondeu ${status}.`
  return attempt({ delivered, status, answer: text, problem: delivered ? null : problem })
}

/** HMAC-SHA256 over the timestamp, a dot and the bytes of the body, in hexadecimal. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}
