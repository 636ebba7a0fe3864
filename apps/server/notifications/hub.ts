import { hubPath, hubWithoutEcho } from '@vigia/contract/workspace'
import { type Client, createHub, type Hub } from '@vigia/signalr/hub'
import { sql } from 'kysely'
import { Gauge, Registry } from 'prom-client'
import { sessionChannel } from '../accounts/session-ends.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { doorLimits } from '../platform/http/door-limits.ts'
import { type Guest, rawCaller, sessionOf } from '../platform/http/http.ts'
import type { Authenticate } from '../platform/http/session.ts'
import { networkOf } from '../platform/http/throttle.ts'
import { keepListening } from '../platform/listen.ts'
import { announcementChannel } from './notifications.ts'

/** The session to which a connection belongs. */
interface HubSession {
  workspaceId: number
  workspacePublicId: string
  /** The public id of the session. */
  sessionId: string
  /** Its calls count with those of its address. */
  counted: boolean
  /** Its page shows by itself what was done in its session. */
  withoutEcho: boolean
  /** Companies that its person sees; null: all. */
  companies: ReadonlySet<number> | null
}

/** A connection that is open. */
interface HubClient {
  client: Client<HubSession>
  /** The last announcement that it was sent, or that its session has; null: it has just opened. */
  cursor: bigint | null
  openedAt: Date
}

interface SentAnnouncement {
  id: bigint
  kind: string
  header: string
  body: string
  /** The session of the person whose action it is. */
  sessionId: string | null
  /** Kind of happening; null: the operator wrote it, for everybody. */
  what: string | null
  /** Companies that it concerns; null: the whole workspace. */
  companies: number[] | null
}

/** The channel to open pages. */
interface NotificationHub extends Guest, AsyncDisposable {
  metrics: Registry
}

/**
 * Opens the channel to the pages of this process, on the database at `databaseUrl`. Every announcement goes to the connections of its
 * workspace, and to no other; after connecting, a session gets what it missed. Dispose to end all connections; their pages connect again later.
 */
export function openHub(ctx: Context, databaseUrl: string, authenticate: Authenticate): NotificationHub {
  const audience = new Audience(ctx)
  const hub = createHub<HubSession>({
    path: hubPath,
    async authenticate(token, request) {
      const session = await sessionOf(ctx, token, rawCaller(ctx.config, request), authenticate)
      if (!session || session.lacksFactor || session.isAccessOver) return null
      const { workspaceId, workspacePublicId, accountId, shared, companies, publicId: sessionId } = session
      // The sessions of an account that many share are counted one by one.
      const key = shared ? `session ${sessionId}` : `account ${workspaceId}/${accountId}`
      const withoutEcho = new URL(request.url ?? '', 'http://hub').searchParams.get(hubWithoutEcho) === '1'
      return {
        key,
        user: {
          workspaceId,
          workspacePublicId,
          sessionId,
          counted: shared || session.newcomer === true,
          withoutEcho,
          companies: companies && new Set(companies),
        },
        expiresAt: Math.min(session.expiresAt.getTime(), session.accessUntil?.getTime() ?? Infinity),
      }
    },
    opened: (client) => audience.enter(client),
    ended: (client) => audience.leave(client),
    origins: [...ctx.config.corsOrigins, new URL(ctx.config.publicUrl).origin],
    // Count an IPv6 client by its network.
    addressOf: (request) => networkOf(rawCaller(ctx.config, request).address),
    log: ctx.log,
    times: ctx.config.hub,
    limits: { bodyBytesMax: doorLimits.body },
  })
  audience.hub = hub
  const endSessions = (ids: ReadonlySet<string>) => hub.disconnect(({ sessionId }) => ids.has(sessionId))
  const listening = keepListening(
    databaseUrl,
    {
      channels: [announcementChannel, sessionChannel],
      // Nobody knows what was notified while nothing was heard: pages come back, are looked up anew and get what they missed.
      listening: () => void hub.disconnect(() => true, { allowReconnect: true }),
      heard(channel, payload) {
        if (channel === sessionChannel) endSessions(new Set([payload]))
        else audience.deliver(Number(payload.split('.', 1)[0]))
      },
    },
    ctx.log,
  )
  return {
    path: hubPath,
    knows: (request) => {
      const user = hub.knows(request)
      return user ? (user.counted ? 'counted' : 'free') : null
    },
    handle: (request, response) => hub.handle(request, response),
    upgrade: (request, socket, head) => hub.upgrade(request, socket, head),
    metrics: measure(hub),
    async [Symbol.asyncDispose]() {
      await hub.close()
      await listening[Symbol.asyncDispose]()
      await audience[Symbol.asyncDispose]()
    },
  }
}

// A session that missed more gets only the newest: a thousand would not be read.
const replayedMax = 500
const readAtOnce = 500
const retryMs = 1_000
/** The open connections of this process, by workspace, and what each was told. */
class Audience implements AsyncDisposable {
  hub: Hub<HubSession> | undefined
  readonly #ctx: Context
  readonly #connections = new Map<number, Map<string, HubClient>>()
  /** Deliveries under way, by workspace; true: there is more since they began. */
  readonly #delivering = new Map<number, boolean>()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  enter(client: Client<HubSession>): void {
    const { workspaceId } = client.user
    const connections = this.#connections.get(workspaceId) ?? new Map<string, HubClient>()
    this.#connections.set(
      workspaceId,
      connections.set(client.connectionId, { client, cursor: null, openedAt: new Date() }),
    )
    this.deliver(workspaceId)
  }

  leave({ user: { workspaceId }, connectionId }: Client<HubSession>): void {
    const connections = this.#connections.get(workspaceId)
    connections?.delete(connectionId)
    if (connections?.size === 0) this.#connections.delete(workspaceId)
  }

  /** Sends each connection of the workspace its missing announcements. */
  deliver(workspaceId: number): void {
    if (this.#closing.signal.aborted || !this.#connections.has(workspaceId)) return
    const busy = this.#delivering.has(workspaceId)
    this.#delivering.set(workspaceId, busy)
    if (!busy) this.#run(this.#deliverAll(workspaceId))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #run(work: Promise<void>): void {
    const running: Promise<void> = work
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'a delivery of announcements failed'))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #deliverAll(workspaceId: number): Promise<void> {
    try {
      do {
        this.#delivering.set(workspaceId, false)
        await this.#deliverOnce(workspaceId)
      } while (this.#delivering.get(workspaceId) && !this.#closing.signal.aborted)
    } catch (error) {
      setTimeout(() => this.deliver(workspaceId), retryMs).unref()
      throw error
    } finally {
      this.#delivering.delete(workspaceId)
    }
  }

  async #deliverOnce(workspaceId: number): Promise<void> {
    const connections = [...(this.#connections.get(workspaceId)?.values() ?? [])]
    if (connections.length === 0) return
    await this.#findCursors(
      workspaceId,
      connections.filter(({ cursor }) => cursor === null),
    )
    const starts = new Map<HubClient, bigint>()
    for (const connection of connections) if (connection.cursor !== null) starts.set(connection, connection.cursor)
    const announcements = await this.#readAfter(workspaceId, lowest([...starts.values()]))
    const latest = announcements.at(-1)?.id
    for (const announcement of announcements) {
      const targets = new Set<string>()
      for (const [{ client }, start] of starts)
        if (start < announcement.id && isFor(announcement, client.user)) targets.add(client.connectionId)
      this.#send(announcement, connections[0]!.client.user.workspacePublicId, targets)
    }
    for (const [connection, start] of starts) {
      if (latest === undefined || start >= latest) continue
      connection.cursor = latest
      this.#run(this.#noteArrival(connection, latest))
    }
    if (announcements.length === readAtOnce) this.#delivering.set(workspaceId, true)
  }

  #send({ kind, header, body }: SentAnnouncement, target: string, targets: ReadonlySet<string>): void {
    this.hub?.send((_, connectionId) => targets.has(connectionId), target, [header, body, kind])
  }

  // A session without a position gets the announcements since it began. What came while a page was open already it gets whatever others of its session have.
  async #findCursors(workspaceId: number, justOpened: readonly HubClient[]): Promise<void> {
    if (justOpened.length === 0) return
    const sessions = justOpened.map(({ client }) => client.user.sessionId)
    const { rows } = await inWorkspace(this.#ctx, workspaceId, ({ db }) =>
      sql<{ index: number; cursor: bigint }>`
        select n.index::int, least(
                 greatest(
                   coalesce(p.announcement_id, (
                     select max(a.id) from announcement a where a.workspace_id = s.workspace_id and a.at < s.created_at), 0),
                   (select a.id from announcement a where a.workspace_id = s.workspace_id order by a.id desc offset ${replayedMax} limit 1)),
                 coalesce((select max(a.id) from announcement a where a.workspace_id = s.workspace_id and a.at < n.opened), 0)) as cursor
          from unnest(${sessions}::uuid[], ${justOpened.map(({ openedAt }) => openedAt)}::timestamptz[]) with ordinality n (session_id, opened, index)
          join session s on s.public_id = n.session_id and s.workspace_id = ${workspaceId}
          left join announcement_position p on p.workspace_id = s.workspace_id and p.session_id = s.public_id`.execute(
        db,
      ),
    )
    // A session that has just ended has no row, and its connections end soon.
    for (const { index, cursor } of rows) justOpened[index - 1]!.cursor = cursor
  }

  async #readAfter(workspaceId: number, after: bigint | null): Promise<SentAnnouncement[]> {
    if (after === null) return []
    return inWorkspace(this.#ctx, workspaceId, ({ db }) =>
      db
        .selectFrom('announcement')
        .select(['id', 'kind', 'header', 'body', 'session_id as sessionId', 'what', 'company_ids as companies'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(readAtOnce)
        .execute(),
    )
  }

  // Only what has arrived counts: what was lost on the way comes again with the next connection.
  async #noteArrival({ client }: HubClient, upTo: bigint): Promise<void> {
    if (!(await client.reached())) return
    const { workspaceId, sessionId } = client.user
    await inWorkspace(this.#ctx, workspaceId, ({ db }) =>
      sql`
        insert into announcement_position as p (session_id, workspace_id, announcement_id)
        select public_id, workspace_id, ${upTo}::bigint from session where workspace_id = ${workspaceId} and public_id = ${sessionId}::uuid
        on conflict (workspace_id, session_id) do update set announcement_id = greatest(p.announcement_id, excluded.announcement_id)`.execute(
        db,
      ),
    )
  }
}

// The same is a policy of the table (`migrate`), for those who read the history.
const isShown = ({ what, companies: told }: SentAnnouncement, { companies }: HubSession) =>
  companies === null || (told ? told.every((id) => companies.has(id)) : what === null)
const isEcho = ({ sessionId }: SentAnnouncement, user: HubSession) => user.withoutEcho && user.sessionId === sessionId
const isFor = (announcement: SentAnnouncement, user: HubSession) =>
  isShown(announcement, user) && !isEcho(announcement, user)
const lowest = (ids: readonly bigint[]) =>
  ids.reduce<bigint | null>((low, id) => (low === null || id < low ? id : low), null)

function measure(hub: Hub<HubSession>): Registry {
  const registry = new Registry()
  new Gauge({
    name: 'vigia_hub_connections',
    help: 'Open pages that are told what happens, by transport ("waiting": not open yet).',
    labelNames: ['transport'],
    registers: [registry],
    collect() {
      const { open, waiting } = hub.metrics()
      for (const [transport, count] of Object.entries(open)) this.set({ transport }, count)
      this.set({ transport: 'waiting' }, waiting)
    },
  })
  return registry
}
