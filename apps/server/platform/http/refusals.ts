import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Envelope } from '@vigia/contract/route'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { AppError, type ErrorCode, errorCodes } from '../errors.ts'
import { doorLimits } from './door-limits.ts'
import { closedPolicy } from './headers.ts'

/** Refuses a request: what is no refusal of ours is a failure, which is logged. */
export async function fail(
  ctx: Context,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = error instanceof AppError ? error : refusalOf(error)
  const statusCode = refusal ? errorCodes[refusal.code] : 500
  const where = { requestId: request.id, route: request.routeOptions.url }
  // Mistakes of clients are no warnings: any client could fill the log with them.
  const level = statusCode >= 500 ? 'warn' : 'info'
  if (refusal?.cause) ctx.log[level]({ err: refusal.cause, ...where, code: refusal.code }, refusal.message)
  if (!refusal) ctx.log.error({ err: error, ...where }, 'request failed')
  const message =
    refusal?.message ??
    `Algo falhou do nosso lado. Seus documentos estão seguros; tente de novo em instantes. Código: ${request.id}`
  const envelope: Envelope<null> = {
    success: false,
    message,
    data: null,
    errors: refusal?.errors ?? [message],
    statusCode,
  }
  if (refusal?.retryAfterMs !== undefined)
    void reply.header('retry-after', Math.max(1, Math.ceil(refusal.retryAfterMs / 1000)))
  // Fastify would close the connection, and a client that still sends would lose the response.
  if (statusCode === 413) void reply.removeHeader('connection')
  if (!request.raw.complete) dropBody(request.raw, reply.raw)
  if (statusCode === 401) void reply.header('www-authenticate', 'Bearer')
  // RFC 9470, but for its status: who gets a 401 takes the session for ended.
  if (refusal?.code === 'needs-proof')
    void reply.header('www-authenticate', 'Bearer error="insufficient_user_authentication", max_age="600"')
  if (refusal?.code === 'forbidden') void reply.header('www-authenticate', 'Bearer error="insufficient_scope"')
  return reply
    .status(statusCode)
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(envelope)
}

// Node drops an unread body. A large one is cut: the client has a moment to read the response first.
function dropBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  answered.set(socket, request)
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= doorLimits.unreadBody) return
    request.pause()
    if (response.writableFinished) socket.end()
    else response.once('finish', () => socket.end())
    setTimeout(() => socket.destroy(), doorLimits.refusedMs).unref()
  })
}

const connectionRefusals: Record<string, [status: string, message: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Os cabeçalhos da requisição são grandes demais.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'A requisição demorou demais para chegar. Tente de novo.'],
}

// Connections on which a body may still come that was refused, and its request: the next one on the same connection is responded to like any other.
const answered = new WeakMap<Socket, IncomingMessage>()

/** Answers what is not HTTP at all, too large, or too slow: there is no request to respond to. */
export function refuseConnection({ log }: Context, error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || answered.get(socket)?.complete === false) {
    socket.destroy()
    return
  }
  const requestId = crypto.randomUUID()
  const [status, message] = connectionRefusals[error.code ?? ''] ?? [
    '400 Bad Request',
    'Não conseguimos entender a requisição.',
  ]
  log.info({ requestId, code: error.code, status: Number(status.slice(0, 3)) }, 'request')
  const statusCode = Number(status.slice(0, 3))
  const body = JSON.stringify({ success: false, message, data: null, errors: [message], statusCode })
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `Content-Security-Policy: ${closedPolicy}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const unreadable = 'Não conseguimos entender a requisição: o corpo não está no formato esperado.'
export const fileTooLarge = 'O arquivo enviado é grande demais.'
export const bodyTooLarge = 'O corpo da requisição é grande demais.'
const tooManyFields = 'O formulário tem campos ou arquivos demais.'

export const notJson =
  'Envie os dados como JSON (application/json) ou, com arquivos, como formulário (multipart/form-data).'

const libraryRefusals: Record<string, [ErrorCode, message: string]> = {
  FST_REQ_FILE_TOO_LARGE: ['too-large', fileTooLarge],
  FST_ERR_CTP_BODY_TOO_LARGE: ['too-large', bodyTooLarge],
  FST_FILES_LIMIT: ['too-large', tooManyFields],
  FST_FIELDS_LIMIT: ['too-large', tooManyFields],
  FST_PARTS_LIMIT: ['too-large', tooManyFields],
  FST_PROTO_VIOLATION: ['invalid-input', 'O formulário tem um campo que não é aceito.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['invalid-input', notJson],
}

// A database that is away, starting, or full, and rows that others hold for too long: the next try may succeed.
const passing = /^(08...|40001|40P01|53...|57P0[123]|55P03|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/
// Errors of the PostgreSQL client for an ended connection carry no code.
const disconnected = /^Connection terminated|^Client has encountered a connection error|^Client was closed/
// Citus errors with the generic code XX000: a worker node is away, or its shards have just moved.
const serverAway =
  /^failure on connection marked as essential|^server closed the connection|^could not find valid entry for shard|^could not commit transaction|^connection not open|SSL SYSCALL error/
const busy =
  'O sistema está sobrecarregado ou em manutenção neste momento. Seus documentos estão seguros; tente de novo em instantes.'

// A statement that took longer than statements of the API may.
const canceled = '57014'
const tooSlow =
  'A consulta demorou demais e foi interrompida. Nada foi alterado, e seus documentos estão seguros; escolha um período menor ou mais um filtro e tente de novo.'

// Maps errors of the HTTP library, and those that pass by themselves, to a refusal; null: another
// error.
function refusalOf(error: unknown): AppError | null {
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown }
  const known = libraryRefusals[String(code)]
  if (known) return new AppError(known[0], known[1], { cause: error })
  if (code === canceled) return new AppError('unavailable', tooSlow, { cause: error, retryAfterMs: 60_000 })
  const message = error instanceof Error ? error.message : ''
  const passes =
    typeof code === 'string'
      ? passing.test(code) || (code === 'XX000' && serverAway.test(message))
      : disconnected.test(message)
  if (passes) return new AppError('unavailable', busy, { cause: error, retryAfterMs: 5_000 })
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return null
  return new AppError(statusCode === 413 ? 'too-large' : 'invalid-input', unreadable, { cause: error })
}
