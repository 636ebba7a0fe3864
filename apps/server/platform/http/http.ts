import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { Envelope, RouteData, RouteDefinition, RouteInput } from '@vigia/contract/route'
import { mayAs, refusesShared } from '@vigia/contract/route'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { Context, Database } from '../context.ts'
import { limitTo } from '../database.ts'
import { AppError } from '../errors.ts'
import { createLimiter, type Limiter } from '../limiter.ts'
import { createDoor, type Door, type Visit } from './door.ts'
import { bodyBytesMax, doorLimits } from './door-limits.ts'
import { hasTag, sendText, tagOf } from './encoding.ts'
import { addCors, addHeaders, framedPolicy } from './headers.ts'
import { fieldCharactersMax, parseJson, readInput } from './input.ts'
import { admitKey, type Keys, keyShape, keyStart } from './keys.ts'
import { requireRecentProof } from './proof.ts'
import { bodyTooLarge, fail, fileTooLarge, notJson, refuseConnection } from './refusals.ts'
import type { Authenticate, Caller, Session } from './session.ts'
import { networkOf } from './throttle.ts'

type SessionOf<R extends RouteDefinition> = R['access'] extends 'session' ? Session : null

/** A response without an envelope. */
export interface FileResponse {
  /** A stream is read as fast as the caller takes it, and destroyed when the caller leaves. */
  content: Uint8Array | Readable
  /** Absent: it is shown, not saved. */
  fileName?: string
  /** A client that has these bytes already may ask whether they are still current, instead of downloading them. */
  keepable?: boolean
  /** A page of ours shows it in a frame. */
  framed?: boolean
  /** For streams: the whole file, and the first byte sent; lost downloads can resume. */
  whole?: { bytes: number; tag: string; from: number }
}

type RouteResponse<R extends RouteDefinition> = R['produces'] extends string
  ? FileResponse
  : { data: DataOf<R>; message?: string }

/** Data of a call as its handler returns it: JSON writes a `Date` as the text that the contract names. */
export type DataOf<R extends RouteDefinition> = Sendable<RouteData<R>>
type Sendable<T> = T extends string ? (string extends T ? T | Date : T) : { [K in keyof T]: Sendable<T[K]> }

/** A route with the function that carries it out. */
export interface Handled {
  route: RouteDefinition
  cost: Cost
  run(ctx: Context, input: RouteInput<RouteDefinition>, session: Session | null, caller: Caller): Promise<unknown>
}

type Handler<R extends RouteDefinition> = (
  ctx: Context,
  input: RouteInput<R> & { session: SessionOf<R>; caller: Caller },
) => Promise<RouteResponse<R>>

/**
 * `slow`: reports, searches, exports and uploads, one at a time per workspace; `search`: a list
 * that is slow with a text; `waiting`: not counted, because it mostly waits or has its own limit.
 */
type Cost = 'usual' | 'slow' | 'search' | 'waiting'

/** Binds `handler` to `route`: validates its input, and wraps its result into the envelope. */
export function handle<const R extends RouteDefinition>(route: R, handler: Handler<R>): Handled
export function handle<const R extends RouteDefinition>(route: R, cost: Cost, handler: Handler<R>): Handled
export function handle<const R extends RouteDefinition>(route: R, ...rest: [Handler<R>] | [Cost, Handler<R>]): Handled {
  const [cost, handler] = rest.length === 1 ? (['usual', rest[0]] as const) : rest
  return {
    route,
    cost,
    run: async (ctx, input, session, caller) => {
      if (session?.shared && refusesShared(route)) throw new AppError('conflict', ofOneOwner)
      if (session && (route.proof === 'always' || route.proof?.(input as never))) requireRecentProof(session)
      return handler(ctx, { ...(input as RouteInput<R>), session: session as SessionOf<R>, caller })
    },
  }
}

const ofOneOwner =
  'Esta conta é compartilhada: o que muda nela muda para todos que a visitam, e por isso isto não pode ser feito aqui. Nada foi alterado. Para experimentar, crie uma conta só sua.'

/** A part that serves requests itself, bodies and upgrades included. */
export interface Guest {
  /** Its address; it has those below it too. */
  path: string
  handle(request: IncomingMessage, response: ServerResponse): boolean
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /** How calls of the request's connection are counted; null: the guest does not know the connection. */
  knows(request: IncomingMessage): 'free' | 'counted' | null
}

// A certificate file has a few kilobytes, a logo is made as small by the page; nothing else is uploaded.
const fileBytesMax = 128 * 1024
const headerBytesMax = 16 * 1024

const formLimits = {
  fileSize: fileBytesMax,
  files: 2,
  fields: 50,
  parts: 50,
  fieldSize: fieldCharactersMax,
  headerPairs: 20,
}

// A page of the application asks for six things at once. The database has ten connections for all.
const callsMax = { each: 4, waiting: 100 }
const slowMax = { each: 1, waiting: 100 }
const ofWorkspaces = 'Há chamadas demais desta conta ao mesmo tempo. Nada foi perdido; tente de novo em instantes.'
const ofStrangers =
  'Há chamadas demais deste endereço ao mesmo tempo. Nada foi perdido nem alterado; tente de novo em instantes.'

/**
 * A Fastify server of `handlers`, in which `guest` serves its own path, and `keys` open calls too;
 * call `listen` or `inject` on it. Serves people limited to some companies from `limited` only.
 */
export async function serveRoutes(
  ctx: Context,
  handlers: Handled[],
  authenticate: Authenticate,
  {
    guest,
    keys,
    limited,
    door = createDoor(async () => true, ctx.config.door),
  }: { guest?: Guest; keys?: Keys; limited?: Database; door?: Door } = {},
): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    bodyLimit: doorLimits.body,
    // Until the last byte of the request has arrived.
    requestTimeout: 30_000,
    // Without a byte in either direction: a client that does not read loses its connection, and with it the places of its calls.
    connectionTimeout: 120_000,
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 5_000,
      // Any other request for an upgrade gets an ordinary response.
      shouldUpgradeCallback: ({ url }) => guest !== undefined && isOf(guest, url),
    },
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    // The size of the headers is the limit of every parameter.
    routerOptions: { maxParamLength: headerBytesMax },
    // An unreadable address is refused like an unknown one, with the headers of every response.
    rewriteUrl: ({ url = '/' }) => (isReadable(url) ? url : '/v1/'),
    clientErrorHandler: (error, socket) => refuseConnection(ctx, error, socket),
    genReqId: () => crypto.randomUUID(),
  })
  await addHeaders(app, ctx.config)
  guardDoor(app, door, guest)
  refuseOtherHosts(app, ctx.config)
  if (guest) receive(app, ctx.config, door, guest)
  await addCors(app, ctx.config)
  await app.register(multipart, { limits: formLimits })
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_: FastifyRequest, body: string) =>
    parseJson(body),
  )
  // Mail programs end letters with a form that says only that (RFC 8058): of public calls without an input it is not read, others refuse it.
  const inputless = new Set(
    handlers.flatMap(({ route }) =>
      route.access === 'public' && !route.body && !route.form ? fastifyPath(route) : [],
    ),
  )
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async ({ routeOptions: { url = '' } }: FastifyRequest) => {
      if (!inputless.has(url)) throw new AppError('invalid-input', notJson)
    },
  )
  app.setErrorHandler((error, request, reply) => fail(ctx, error, request, reply))
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    fail(ctx, refuseAddress(app, handlers, request, reply), request, reply)
  app.setNotFoundHandler(notFound)
  // Before a body is looked at.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? notFound(request, reply) : undefined))
  app.addHook('onResponse', (request, reply, done) => {
    ctx.log.info(
      {
        requestId: request.id,
        method: request.method,
        // Never the address itself: a link of an e-mail has its secret there.
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })
  const limitersOf = (full: string) => ({
    calls: createLimiter({ ...callsMax, full }),
    slow: createLimiter({ ...slowMax, full }),
  })
  const limiters = { session: limitersOf(ofWorkspaces), public: limitersOf(ofStrangers) }
  for (const handled of handlers)
    addRoute(app, ctx, handled, {
      door,
      authenticate: door.watch(authenticate),
      keys: keys && { ...keys, find: door.watch(keys.find) },
      limiters,
      limited,
    })
  return app
}

// A page of another site may give its own name this machine's address; what it then asks for carries that name.
function refuseOtherHosts(
  app: FastifyInstance,
  { publicUrl, hostNames }: Pick<Config, 'publicUrl' | 'hostNames'>,
): void {
  app.addHook('onRequest', (request, _, done) => {
    if (isOurHost({ hostNames }, request.raw)) return done()
    done(new AppError('invalid-input', `Este serviço atende em ${publicUrl}: refaça a chamada para esse endereço.`))
  })
}

function isOurHost({ hostNames }: Pick<Config, 'hostNames'>, { headers, rawHeaders }: IncomingMessage): boolean {
  // A proxy in front may have gone by the other one (RFC 9112 §3.2).
  if (rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1) return false
  const name = headers.host?.toLowerCase().split(/:\d*$/, 1)[0]
  return !name || hostNames.includes(name)
}

const freePath = '/health'

function guardDoor(app: FastifyInstance, door: Door, guest: Guest | undefined): void {
  app.addHook('onRequest', async (request, reply) => {
    const { raw, routeOptions } = request
    const known = guest && isOf(guest, raw.url) ? guest.knows(raw) : undefined
    if (raw.url === freePath || known === 'free') return
    const { access } = routeOptions.config as { access?: RouteDefinition['access'] }
    // A page of the site has dozens of files; the description of the API has few and large ones.
    const isOfDocs = (routeOptions.url ?? raw.url)?.startsWith('/docs')
    const isFile = !access && ['GET', 'HEAD', 'OPTIONS'].includes(raw.method ?? '') && !isOfDocs
    const isSession = known === undefined ? access === 'session' : known === null
    const kind = isSession ? 'session' : isFile && known === undefined ? 'file' : 'open'
    const visit: Visit = { network: networkOf(callerOf(request).address), token: tokenOf(raw), kind }
    const refusal = await door.enter(visit, raw.socket)
    if (refusal === null) {
      raw.socket.destroy()
      return reply.hijack()
    }
    if (refusal) throw refusal
    if (access && Number(raw.headers['content-length']) > bodyBytesMax({ access }))
      throw new AppError(
        'too-large',
        /^multipart\//i.test(raw.headers['content-type'] ?? '') ? fileTooLarge : bodyTooLarge,
      )
  })
}

async function admitUpgrade(
  config: Pick<Config, 'trustedProxies'>,
  door: Door,
  request: IncomingMessage,
  socket: Duplex,
  kind: Visit['kind'],
): Promise<boolean> {
  const network = networkOf(rawCaller(config, request).address)
  const refusal = await door.enter({ network, token: tokenOf(request), kind }, socket)
  if (refusal === undefined) return true
  const seconds = Math.max(1, Math.ceil((refusal?.retryAfterMs ?? 0) / 1_000))
  if (refusal && socket.writable)
    // Nothing else ends a connection that asked for an upgrade, when its client stays.
    socket.end(
      `HTTP/1.1 429 Too Many Requests\r\nRetry-After: ${seconds}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      () => socket.destroy(),
    )
  else socket.destroy()
  return false
}

function receive(
  app: FastifyInstance,
  config: Pick<Config, 'hostNames' | 'trustedProxies'>,
  door: Door,
  guest: Guest,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!isOf(guest, request.raw.url)) return done()
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value) reply.raw.setHeader(name, value)
    if (!guest.handle(request.raw, reply.raw)) return done()
    reply.hijack()
  })
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    const known = guest.knows(request)
    const kind = known ? 'open' : 'session'
    if (known !== 'free' && !(await admitUpgrade(config, door, request, socket, kind))) return
    if (!isOurHost(config, request) || !guest.upgrade(request, socket, head)) socket.destroy()
    socket.off('error', ignore)
  }
  app.server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head))
}

function isOf({ path }: Guest, url = ''): boolean {
  const own = url.split('?', 1)[0]!
  return own === path || own.startsWith(`${path}/`)
}

function addRoute(
  app: FastifyInstance,
  ctx: Context,
  { route, run, cost }: Handled,
  {
    door,
    authenticate,
    keys,
    limiters,
    limited,
  }: {
    door: Door
    authenticate: Authenticate
    keys: Keys | undefined
    limiters: Record<'session' | 'public', Record<'calls' | 'slow', Limiter>>
    limited: Database | undefined
  },
): void {
  const sessions = new WeakMap<FastifyRequest, Session>()
  app.route({
    method: route.method,
    url: fastifyPath(route),
    config: { access: route.access },
    bodyLimit: bodyBytesMax(route),
    // Before the body is read: without a session no body is read.
    onRequest: async (request, reply) => {
      if (route.access !== 'session') return
      const token = bearerOf(request)
      const session =
        keys && token.startsWith(keyStart)
          ? await admitKey(ctx, keys, route, { token, caller: callerOf(request), reply })
          : await requireSession(ctx, request, authenticate)
      requireMay(session, route)
      sessions.set(request, session)
    },
    handler: async (request, reply) => {
      const input = await readInput(route, request)
      const caller = callerOf(request)
      let session = sessions.get(request) ?? null
      const { calls, slow } = limiters[session ? 'session' : 'public']
      const isSlow = cost === 'slow' || (cost === 'search' && (input.query as { CampoPesquisa?: string }).CampoPesquisa)
      const taken = cost === 'waiting' ? [] : isSlow ? [slow, calls] : [calls]
      const answer = await withPlaces(reply, taken, clientOf(session, caller), async () => {
        if (request.raw.socket.destroyed) return reply.hijack()
        // A body may take its time: who was put out meanwhile, or may do less, does nothing with it any more.
        if (session && (route.body || route.form)) {
          // A key was counted and written down when it came.
          session = await requireSession(ctx, request, authenticate, session.scopes && keys)
          requireMay(session, route)
        }
        return run(contextOf(ctx, limited, session, route), input, session, caller)
      })
      if (answer === reply) return reply
      if (route.produces) return sendFile(ctx, request, reply.type(route.produces), answer as FileResponse)
      const { data, message } = answer as { data: { token?: unknown } | null; message?: string }
      if (typeof data?.token === 'string') door.learn(data.token)
      const envelope: Envelope<unknown> = {
        success: true,
        message: message ?? 'Operação realizada com sucesso',
        data,
        errors: [],
      }
      void reply.header('cache-control', 'no-store')
      if (!isCompressible(route)) return reply.send(envelope)
      return sendText(request, reply.type('application/json; charset=utf-8'), Buffer.from(JSON.stringify(envelope)))
    },
  })
}

// The places are free when the response has left and the work has ended: statements go on when their client goes.
async function withPlaces<T>(
  { raw }: FastifyReply,
  limiters: readonly Limiter[],
  client: number | string,
  work: () => Promise<T>,
): Promise<T> {
  const closed = new Promise<void>((resolve) => {
    raw.once('close', resolve)
    if (raw.closed) resolve()
  })
  const places = new DisposableStack()
  try {
    for (const limiter of limiters) places.use(await limiter(client))
    return await work()
  } finally {
    void closed.then(() => places.dispose())
  }
}

// Roles are read again for each call: a demotion takes effect with the next one.
function requireMay({ role, companies, lacksFactor, isAccessOver }: Session, { atLeast }: RouteDefinition): void {
  if (atLeast === 'pessoa') return
  if (isAccessOver) throw new AppError('forbidden', accessOver)
  if (lacksFactor) throw new AppError('forbidden', needsFactor)
  if (!mayAs(role, atLeast)) throw new AppError('forbidden', atLeast === 'fiscal' ? ofFiscal : ofAdministrators)
  // Also of keys.
  if (companies && (atLeast ?? 'administrador') === 'administrador') throw new AppError('forbidden', ofAllCompanies)
}

const accessOver =
  'O seu acesso a este workspace terminou no dia combinado. Nada foi lido nem alterado: para voltar, peça a quem administra que mude a data. A sua conta continua aberta.'
const needsFactor =
  'Este workspace pede verificação em duas etapas ou a entrada com passkey. Nada foi lido nem alterado: ligue uma delas em "Minha conta" ou, se já tem, saia e entre de novo com ela.'
const ofFiscal =
  'O seu acesso a este workspace é só de leitura. Nada foi alterado: para isto, peça a quem administra o papel de fiscal.'
const ofAdministrators =
  'Isto é só para quem administra este workspace. Nada foi lido nem alterado: peça a uma dessas pessoas.'
const ofAllCompanies =
  'Isto é só para quem vê todas as empresas do workspace. Nada foi lido nem alterado: peça a quem administra.'

// Data of the person alone does not depend on companies.
function contextOf(
  ctx: Context,
  limited: Database | undefined,
  session: Session | null,
  route: RouteDefinition,
): Context {
  if (!session?.companies || route.atLeast === 'pessoa') return ctx
  if (!limited) throw new Error('there is no database for who may see some companies only')
  return { ...ctx, db: limitTo(limited, session.companies, ctx.db) }
}

// All who visit a shared account are strangers to each other, however many sessions each of them begins; so are new accounts.
function clientOf(session: Session | null, { address }: Caller): number | string {
  return session && !session.shared && !session.newcomer ? session.workspaceId : networkOf(address)
}

// Compress only what people read: other responses may hold a token or a ticket, about which the
// length of compressed bytes leaks something.
function isCompressible({ method, access }: RouteDefinition): boolean {
  return method === 'GET' && access === 'session'
}

function sendFile(
  { log }: Pick<Context, 'log'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { content, fileName, keepable = false, framed = false, whole }: FileResponse,
): FastifyReply {
  // Shared machines must keep no copy of a document; programs with a cache of their own ask by tag.
  void reply.header('cache-control', 'private, no-store')
  if (fileName !== undefined) void reply.header('content-disposition', attachment(fileName))
  if (framed) void reply.headers({ 'content-security-policy': framedPolicy, 'x-frame-options': 'SAMEORIGIN' })
  if (!(content instanceof Readable)) {
    if (keepable) {
      const tag = tagOf(content)
      void reply.header('etag', tag)
      if (hasTag(request.headers['if-none-match'], tag)) return reply.status(304).send()
    }
    return reply.send(Buffer.from(content.buffer, content.byteOffset, content.length))
  }
  // HEAD gets no tag, which is for resuming a download.
  const isEmpty = whole && request.method !== 'HEAD' ? describePart(reply, whole) : false
  if (request.method === 'HEAD' || isEmpty) {
    // The library would read it to the end although no client takes it.
    content.destroy()
    return reply.send()
  }
  // The status has left by then: the caller sees the connection break off, never a shorter file.
  content.on('error', (err) =>
    log.error({ err, requestId: request.id, route: request.routeOptions.url }, 'a file broke off'),
  )
  return reply.send(content)
}

// Sets the headers for resuming later (RFC 9110 §14, §15.3.7, §15.5.17). Returns true when
// nothing is left to send.
function describePart(reply: FastifyReply, { bytes, tag, from }: NonNullable<FileResponse['whole']>): boolean {
  void reply.headers({ 'accept-ranges': 'bytes', etag: tag })
  if (from >= bytes && from > 0) {
    void reply.status(416).headers({ 'content-range': `bytes */${bytes}`, 'content-length': 0 })
    return true
  }
  void reply.header('content-length', bytes - from)
  if (from > 0) void reply.status(206).header('content-range', `bytes ${from}-${bytes - 1}/${bytes}`)
  return false
}

// Both ways to write it, for programs that read only the first one (RFC 6266 §4.3, appendix D).
function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\w .()-]/g, '_')
  const exact = encodeURIComponent(fileName).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

/** How the HTTP library writes the path of `route`. */
function fastifyPath({ path }: Pick<RouteDefinition, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

async function requireSession(
  ctx: Context,
  request: FastifyRequest,
  authenticate: Authenticate,
  key?: Keys,
): Promise<Session> {
  const [token, caller] = [bearerOf(request), callerOf(request)]
  const session = await (key ? key.find(ctx, token, caller) : sessionOf(ctx, token, caller, authenticate))
  if (!session) throw new AppError('unauthenticated', 'Sessão expirada. Faça login novamente.')
  return session
}

const sessionShape = /^[\w-]{20,200}$/

/** The session of `token`, or null; what cannot be one is not looked up. */
export async function sessionOf(
  ctx: Context,
  token: string,
  caller: Caller,
  authenticate: Authenticate,
): Promise<Session | null> {
  // A key that somebody shows as a session would count as one that is over.
  return sessionShape.test(token) && !token.startsWith(keyStart) ? authenticate(ctx, token, caller) : null
}

/** The token that the call carries, or nothing. */
export function bearerOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** The token of any request, when it can be one: those of the hub have it in their address. */
function tokenOf(request: IncomingMessage): string {
  const token = bearerOf(request) || (new URLSearchParams(request.url?.split('?')[1]).get('access_token') ?? '')
  const shape = token.startsWith(keyStart) ? keyShape : sessionShape
  return shape.test(token) ? token : ''
}

/** Caller of a request that did not pass through the routes, as trusted proxies report it. */
export function rawCaller(
  { trustedProxies }: Pick<Context['config'], 'trustedProxies'>,
  { headers, socket }: IncomingMessage,
): Caller {
  const trusted = new BlockList()
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  const passedOn = headers['x-forwarded-for'] ?? ''
  let address = socket.remoteAddress ?? ''
  // From the nearest proxy on, for as long as the proxy is trusted.
  for (const farther of String(passedOn).split(',').reverse()) {
    if (!isTrusted(address) || !isIP(farther.trim())) break
    address = farther.trim()
  }
  return { address, agent: (headers['user-agent'] ?? '').slice(0, 200) }
}

function callerOf(request: FastifyRequest): Caller {
  // A proxy may pass on anything as the address that it saw.
  const address = isIP(request.ip ?? '') ? request.ip : (request.socket.remoteAddress ?? '')
  const continues = continuationOf(request)
  const agent = (request.headers['user-agent'] ?? '').slice(0, 200)
  return { address, agent, ...(request.method === 'HEAD' && { isHead: true }), ...(continues && { continues }) }
}

// Accept only the range that resumes a download; others may be ignored (RFC 9110 §14.2).
function continuationOf({ headers }: FastifyRequest): Caller['continues'] {
  const [, from] = /^bytes=(\d{1,15})-$/.exec(headers.range ?? '') ?? []
  if (from === undefined || Number(from) === 0) return undefined
  const tag = headers['if-range'] ?? headers['if-match'] ?? null
  return { from: Number(from), tag: tag === null ? null : String(tag) }
}

function isReadable(url: string): boolean {
  try {
    decodeURI(url.split('?')[0]!)
    return true
  } catch {
    return false
  }
}

// No route: no valid address, an unknown one, or one with another method.
function refuseAddress(
  app: FastifyInstance,
  handlers: Handled[],
  request: FastifyRequest,
  reply: FastifyReply,
): AppError {
  if (!isReadable(request.originalUrl)) return new AppError('invalid-input', 'O endereço não está bem escrito.')
  const path = request.url.split('?')[0]!
  const methods = handlers.flatMap(({ route }) => {
    const pattern = new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return pattern.test(path) ? [route.method] : []
  })
  // An address that is no route of the contract: the metrics, the description, a file of the site.
  if (methods.length === 0 && !/[:*]/.test(path) && app.hasRoute({ method: 'GET', url: path })) methods.push('GET')
  if (methods.length === 0) return new AppError('not-found', 'Endereço não encontrado.')
  void reply.header('allow', [...(methods.includes('GET') ? ['HEAD'] : []), ...methods].join(', '))
  return new AppError('wrong-method', `Este endereço aceita somente ${methods.join(' e ')}.`)
}
