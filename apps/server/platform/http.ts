import type { Socket } from 'node:net'
import multipart from '@fastify/multipart'
import type { Envelope, RouteData, RouteDefinition, RouteInput } from '@vigia/contract/route'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Context } from './context.ts'
import { AppError, errorCodes } from './errors.ts'

/** Where a call comes from. */
export interface Caller {
  address: string
  /** As the program calls itself; empty when it says nothing. */
  agent: string
}

/** Whose call it is. */
export interface Session {
  workspaceId: number
  workspacePublicId: string
  accountId: number
  accountName: string
  /** Names the session to its owner; the token opens it. */
  publicId: string
  token: string
  address: string
}

/** The session that a token opened, or null when it has ended. */
export type Authenticate = (ctx: Context, token: string, caller: Caller) => Promise<Session | null>

type SessionOf<R extends RouteDefinition> = R['access'] extends 'session' ? Session : null
type Answer<R extends RouteDefinition> = R['produces'] extends string
  ? Uint8Array
  : { data: RouteData<R>; message?: string }

/** A route with the function that carries it out. */
export interface Handled {
  route: RouteDefinition
  run(ctx: Context, input: RouteInput<RouteDefinition>, session: Session | null, caller: Caller): Promise<unknown>
}

/** Binds `handler` to `route`; what it receives is validated, what it returns becomes the envelope. */
export function handle<const R extends RouteDefinition>(
  route: R,
  handler: (ctx: Context, input: RouteInput<R> & { session: SessionOf<R>; caller: Caller }) => Promise<Answer<R>>,
): Handled {
  return {
    route,
    run: (ctx, input, session, caller) =>
      handler(ctx, { ...(input as RouteInput<R>), session: session as SessionOf<R>, caller }),
  }
}

// A certificate file has a few kilobytes; nothing else is uploaded.
const fileBytesMax = 128 * 1024
const bodyBytesMax = 256 * 1024

/** A Fastify server that answers `handlers`; call `listen` or `inject` on it. */
export async function serveRoutes(
  ctx: Context,
  handlers: Handled[],
  authenticate: Authenticate,
): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: 30_000,
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    routerOptions: { maxParamLength: 500 },
    // Errors before a route is found: a broken address, one that is too long.
    frameworkErrors: (error, request, reply) => {
      void fail(ctx, error, request, reply)
    },
    clientErrorHandler: refuseMalformed,
    genReqId: () => crypto.randomUUID(),
  })
  await app.register(multipart, { limits: { fileSize: fileBytesMax, files: 2, fields: 50, fieldSize: 64 * 1024 } })
  // A call without a body may still say that it would be JSON.
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch (cause) {
      done(new AppError('invalid-input', 'O corpo da requisição não é um JSON válido.', { cause }))
    }
  })
  app.setErrorHandler((error, request, reply) => fail(ctx, error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    fail(ctx, new AppError('not-found', 'Endereço não encontrado.'), request, reply),
  )
  app.addHook('onResponse', (request, reply, done) => {
    ctx.log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })
  for (const { route, run } of handlers) {
    app.route({
      method: route.method,
      url: route.path.replace(/\{(\w+)\}/g, ':$1'),
      handler: async (request, reply) => {
        const caller = { address: request.ip, agent: (request.headers['user-agent'] ?? '').slice(0, 200) }
        const session = route.access === 'session' ? await requireSession(ctx, request, authenticate, caller) : null
        const answer = await run(ctx, await readInput(route, request), session, caller)
        if (route.produces)
          return reply
            .type(route.produces)
            .header('cache-control', 'private, no-store')
            .send(Buffer.from(answer as Uint8Array))
        const { data, message } = answer as { data: unknown; message?: string }
        const envelope: Envelope<unknown> = {
          success: true,
          message: message ?? 'Operação realizada com sucesso',
          data,
          errors: [],
        }
        return reply.header('cache-control', 'no-store').send(envelope)
      },
    })
  }
  return app
}

async function requireSession(
  ctx: Context,
  request: FastifyRequest,
  authenticate: Authenticate,
  caller: Caller,
): Promise<Session> {
  const token = /^Bearer ([\w-]{20,200})$/i.exec(request.headers.authorization ?? '')?.[1]
  const session = token ? await authenticate(ctx, token, caller) : null
  if (!session) throw new AppError('unauthenticated', 'Sessão expirada. Faça login novamente.')
  return session
}

async function readInput(route: RouteDefinition, request: FastifyRequest): Promise<RouteInput<RouteDefinition>> {
  const errors: string[] = []
  const check = (schema: z.ZodType | undefined, value: unknown) => {
    const result = schema?.safeParse(value, { error: describe })
    if (result && !result.success) errors.push(...result.error.issues.map((issue) => issue.message))
    return result?.data
  }
  const query = Object.fromEntries(
    Object.entries(request.query as Record<string, unknown>).filter(([, value]) => value !== ''),
  )
  const input = {
    params: check(route.params, request.params),
    query: check(route.query, query),
    body: check(route.body, request.body ?? {}),
    form: route.form ? check(route.form, await readForm(request)) : undefined,
  }
  // PostgreSQL cannot hold it in a text, and no form of ours asks for it.
  if (hasNul(input)) errors.push('A requisição traz um caractere que não é aceito.')
  if (errors.length > 0)
    throw new AppError('invalid-input', asText([...new Set(errors)]), { errors: [...new Set(errors)] })
  return input as RouteInput<RouteDefinition>
}

// The contract's own messages win over this one, which stands for what only the library can say (a missing field, a wrong type).
const describe: z.core.$ZodErrorMap = ({ path = [] }) =>
  path.length > 0 ? `O campo ${path.join('.')} não é válido.` : 'A requisição não é válida.'

// One message stands alone; several become sentences.
function asText(errors: string[]): string {
  if (errors.length === 1) return errors[0]!
  return errors.map((error) => (/[.!?]$/.test(error) ? error : `${error}.`)).join(' ')
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNul)
}

async function readForm(request: FastifyRequest): Promise<Record<string, string | File>> {
  if (!request.isMultipart())
    throw new AppError('invalid-input', 'Envie os dados como formulário (multipart/form-data).')
  const form: Record<string, string | File> = Object.create(null)
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') form[part.fieldname] = new File([new Uint8Array(await part.toBuffer())], part.filename)
      else form[part.fieldname] = String(part.value)
    }
  } catch (cause) {
    throw refusalOf(cause) ?? new AppError('invalid-input', 'Não conseguimos ler o formulário enviado.', { cause })
  }
  return form
}

async function fail(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const refusal = error instanceof AppError ? error : refusalOf(error)
  const statusCode = refusal ? errorCodes[refusal.code] : 500
  const where = { requestId: request.id, route: request.routeOptions.url }
  if (refusal?.cause) ctx.log.warn({ err: refusal.cause, ...where, code: refusal.code }, refusal.message)
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
  return reply.status(statusCode).header('cache-control', 'no-store').send(envelope)
}

// What is not HTTP at all, or too much of it; there is no request to answer yet.
function refuseMalformed(_: unknown, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
}

// What the HTTP library refuses before a handler runs.
function refusalOf(error: unknown): AppError | null {
  const status = (error as { statusCode?: unknown }).statusCode
  if (status === 413) return new AppError('too-large', 'O arquivo enviado é grande demais.', { cause: error })
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AppError(
      'invalid-input',
      'Não conseguimos entender a requisição: o corpo não está no formato esperado.',
      { cause: error },
    )
  }
  return null
}
