import { isDeepStrictEqual } from 'node:util'
import { hubPath, hubWithoutEcho } from '@vigia/contract/workspace'
import { type Client, createHub, type Hub } from '@vigia/signalr/hub'
import { sql } from 'kysely'
import { Gauge, Registry } from 'prom-client'
import { sessionChannel } from '../accounts/session-ends.ts'
import { type Access, findAccess } from '../accounts/sessions.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { doorLimits } from '../platform/http/door-limits.ts'
import { type Guest, rawCaller, sessionOf } from '../platform/http/http.ts'
import type { Authenticate } from '../platform/http/session.ts'
import { networkOf } from '../platform/http/throttle.ts'
import { keepListening } from '../platform/listen.ts'
import { pause } from '../platform/pause.ts'
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
  /** Rights of its person when the connection was opened. */
  access: Access
  /** Companies of `access`; null: all. */
  companies: ReadonlySet<number> | null
}

/** A connection that is open. */
interface HubClient {
  client: Client<HubSession>
  /** The last announcement that it was sent; null: it has just opened, and what its session missed is not sent yet. */
  cursor: bigint | null
  openedAt: number
  /** The last announcement before it opened: its session may have missed earlier ones; later ones are all sent to it. */
  openedAfter: bigint | null
  /** Start of the wait for its confirmation; null: it has confirmed everything. */
  pendingSince: number | null
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

interface Position {
  /** The last announcement that is known to have arrived at the session. */
  position: bigint
  /** The last one of the workspace before the connection opened. */
  openedAfter: bigint
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
      const { workspaceId, workspacePublicId, accountId, shared, newcomer, publicId: sessionId, expiresAt } = session
      const access = (await findAccess(ctx, workspaceId, [sessionId])).get(sessionId)
      if (!access) return null
      // The sessions of an account that many share are counted one by one.
      const key = shared ? `session ${sessionId}` : `account ${workspaceId}/${accountId}`
      const withoutEcho = new URL(request.url ?? '', 'http://hub').searchParams.get(hubWithoutEcho) === '1'
      return {
        key,
        user: {
          workspaceId,
          workspacePublicId,
          sessionId,
          counted: shared || newcomer === true,
          withoutEcho,
          access,
          companies: access.companies && new Set(access.companies),
        },
        expiresAt: Math.min(expiresAt.getTime(), access.until?.getTime() ?? Infinity),
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
      listening: () => audience.lookUp(endSessions),
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
// Missed announcements go to one page of a session. Other pages wait up to 5 s for it to confirm.
const arrivingMs = 5_000
// Arrivals within this time are written together: writing rows for thousands of sessions would slow
// down the delivery to the rest. A page that comes back meanwhile gets its position from memory.
const gatheringMs = 250

/** The open connections of this process, by workspace, and what each was told. */
class Audience implements AsyncDisposable {
  hub: Hub<HubSession> | undefined
  readonly #ctx: Context
  readonly #connections = new Map<number, Map<string, HubClient>>()
  /** Deliveries under way, by workspace; true: there is more since they began. */
  readonly #delivering = new Map<number, boolean>()
  /** Arrivals at sessions that are not being written yet. */
  readonly #arrived = new Map<number, { upTo: Map<string, bigint>; written: Promise<void> }>()
  /** Arrivals that are being written now. */
  readonly #writing = new Map<number, { upTo: ReadonlyMap<string, bigint>; written: Promise<void> }>()
  /** Workspaces in which a page waits for another page of its session to confirm. */
  readonly #deferred = new Set<number>()
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
      connections.set(client.connectionId, {
        client,
        cursor: null,
        openedAt: performance.now(),
        openedAfter: null,
        pendingSince: null,
      }),
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

  /** After the listening connection was lost: reads announcements, ended sessions and changed rights. */
  lookUp(endSessions: (ids: ReadonlySet<string>) => void): void {
    for (const workspaceId of this.#connections.keys()) {
      this.deliver(workspaceId)
      this.#run(this.#endEnded(workspaceId, endSessions))
    }
  }

  // Retries until it succeeds: otherwise an ended session would receive announcements as long as its page is open.
  async #endEnded(workspaceId: number, endSessions: (ids: ReadonlySet<string>) => void): Promise<void> {
    const connections = this.#connections.get(workspaceId)
    if (this.#closing.signal.aborted || !connections) return
    try {
      const users = [...connections.values()].map(({ client }) => client.user)
      const now = await findAccess(this.#ctx, workspaceId, [...new Set(users.map(({ sessionId }) => sessionId))])
      const changed = users.filter(({ sessionId, access }) => !isDeepStrictEqual(now.get(sessionId), access))
      endSessions(new Set(changed.map(({ sessionId }) => sessionId)))
    } catch (error) {
      setTimeout(() => this.#run(this.#endEnded(workspaceId, endSessions)), retryMs).unref()
      throw error
    }
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
      // Listening again looks everything up, unless it was never interrupted.
      setTimeout(() => this.deliver(workspaceId), retryMs).unref()
      throw error
    } finally {
      this.#delivering.delete(workspaceId)
    }
  }

  async #deliverOnce(workspaceId: number): Promise<void> {
    const connections = [...(this.#connections.get(workspaceId)?.values() ?? [])]
    if (connections.length === 0) return
    const justOpened = connections.filter(({ cursor }) => cursor === null)
    // Before the positions are read: a confirmation that comes meanwhile may not be in them.
    const arriving = sessionsOf(connections.filter(isArriving))
    const positions = await this.#readPositions(workspaceId, justOpened)
    const starts = this.#startsOf(workspaceId, connections, positions, arriving)
    const announcements = await this.#readAfter(workspaceId, lowest([...starts.values()]))
    const latest = announcements.at(-1)?.id
    for (const announcement of announcements) {
      const targets = new Set<string>()
      for (const [{ client }, start] of starts)
        if (start < announcement.id && isFor(announcement, client.user)) targets.add(client.connectionId)
      this.#send(announcement, connections[0]!.client.user.workspacePublicId, targets)
    }
    for (const [connection, start] of starts) {
      const isBehind = latest !== undefined && start < latest
      connection.cursor = isBehind ? latest : start
      if (isBehind) this.#awaitArrival(workspaceId, connection, latest)
    }
    if (announcements.length === readAtOnce) this.#delivering.set(workspaceId, true)
    // Confirmations that a page waits for have come by now.
    if (!connections.some(isArriving)) this.#deliverDeferred(workspaceId)
  }

  #send({ kind, header, body }: SentAnnouncement, target: string, targets: ReadonlySet<string>): void {
    this.hub?.send((_, connectionId) => targets.has(connectionId), target, [header, body, kind])
  }

  // Missed announcements go to one page of a session; its other pages wait for it to confirm.
  #startsOf(
    workspaceId: number,
    connections: readonly HubClient[],
    positions: ReadonlyMap<HubClient, Position>,
    arriving: Set<string>,
  ): Map<HubClient, bigint> {
    const starts = new Map<HubClient, bigint>()
    for (const connection of connections) {
      const { sessionId } = connection.client.user
      if (connection.cursor !== null) {
        starts.set(connection, connection.cursor)
        continue
      }
      const known = positions.get(connection)
      // Its session has just ended, and so does the connection.
      if (!known) continue
      connection.openedAfter ??= known.openedAfter
      if (arriving.has(sessionId)) {
        this.#deferred.add(workspaceId)
        setTimeout(() => this.#deliverDeferred(workspaceId), arrivingMs).unref()
        continue
      }
      const start = lowest([known.position, connection.openedAfter])!
      if (start < connection.openedAfter) arriving.add(sessionId)
      starts.set(connection, start)
    }
    return starts
  }

  #deliverDeferred(workspaceId: number): void {
    if (this.#deferred.delete(workspaceId)) this.deliver(workspaceId)
  }

  async #readPositions(workspaceId: number, justOpened: readonly HubClient[]): Promise<Map<HubClient, Position>> {
    if (justOpened.length === 0) return new Map()
    const sessions = justOpened.map(({ client }) => client.user.sessionId)
    // Before the database is asked: what is written meanwhile is in neither of the two afterwards.
    const known = new Map(justOpened.map((one) => [one, this.#arrivedAt(workspaceId, one.client.user.sessionId)]))
    const rows = await inWorkspace(this.#ctx, workspaceId, async ({ db }) => {
      // By the clock of the database, and rather too early than too late, so that an announcement to an open page never counts as seen elsewhere.
      const clock = await sql<{
        ms: number
      }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(db)
      const [now, nowThere] = [performance.now(), clock.rows[0]!.ms]
      const openedThere = justOpened.map(({ openedAt }) => nowThere - (now - openedAt))
      // A session without a position gets the announcements since it began.
      const { rows } = await sql<Position & { index: number }>`
        select n.index::int, greatest(
                 coalesce(p.announcement_id, (
                   select max(a.id) from announcement a where a.workspace_id = s.workspace_id and a.at < s.created_at), 0),
                 (select a.id from announcement a where a.workspace_id = s.workspace_id order by a.id desc offset ${replayedMax} limit 1)) as position,
               coalesce((
                 select a.id from announcement a
                  where a.workspace_id = s.workspace_id and a.at < to_timestamp(n.opened / 1000)
                  order by a.id desc limit 1), 0) as "openedAfter"
          from unnest(${sessions}::uuid[], ${openedThere}::float8[]) with ordinality n (session_id, opened, index)
          join session s on s.public_id = n.session_id and s.workspace_id = ${workspaceId}
          left join announcement_position p on p.workspace_id = s.workspace_id and p.session_id = s.public_id`.execute(
        db,
      )
      return rows
    })
    return new Map(
      rows.map(({ index, position, openedAfter }) => {
        const connection = justOpened[index - 1]!
        const arrived = known.get(connection)!
        return [connection, { position: highest(position, arrived), openedAfter }]
      }),
    )
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

  #awaitArrival(workspaceId: number, connection: HubClient, upTo: bigint): void {
    connection.pendingSince ??= performance.now()
    const settled = () => {
      if (connection.cursor === upTo) connection.pendingSince = null
      this.#deliverDeferred(workspaceId)
    }
    const wait = async () => {
      if (await connection.client.reached())
        await this.#noteArrival(workspaceId, connection.client.user.sessionId, upTo)
      settled()
    }
    this.#run(wait())
  }

  #noteArrival(workspaceId: number, sessionId: string, upTo: bigint): Promise<void> {
    const arrived = this.#arrived.get(workspaceId)
    if (arrived) {
      arrived.upTo.set(sessionId, highest(upTo, arrived.upTo.get(sessionId) ?? 0n))
      return arrived.written
    }
    const next = new Map([[sessionId, upTo]])
    const before = this.#writing.get(workspaceId)?.written.catch(() => {})
    const write = async () => {
      await Promise.all([before, pause(gatheringMs, this.#closing.signal)])
      this.#arrived.delete(workspaceId)
      const written = this.#writeArrivals(workspaceId, next)
      this.#writing.set(workspaceId, { upTo: next, written })
      await written.finally(() => this.#writing.delete(workspaceId))
    }
    const written = write()
    this.#arrived.set(workspaceId, { upTo: next, written })
    return written
  }

  // Position in memory that the database does not have yet.
  #arrivedAt(workspaceId: number, sessionId: string): bigint {
    const [arrived, writing] = [this.#arrived.get(workspaceId), this.#writing.get(workspaceId)]
    return highest(arrived?.upTo.get(sessionId) ?? 0n, writing?.upTo.get(sessionId) ?? 0n)
  }

  async #writeArrivals(workspaceId: number, upTo: ReadonlyMap<string, bigint>): Promise<void> {
    const [sessions, ids] = [[...upTo.keys()], [...upTo.values()]]
    await inWorkspace(this.#ctx, workspaceId, ({ db }) =>
      sql`
        insert into announcement_position as p (session_id, workspace_id, announcement_id)
        select s.public_id, s.workspace_id, u.id from unnest(${sessions}::uuid[], ${ids}::bigint[]) u (session_id, id)
          join session s on s.public_id = u.session_id and s.workspace_id = ${workspaceId}
         order by 1
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
const isArriving = ({ pendingSince }: HubClient) =>
  pendingSince !== null && performance.now() - pendingSince < arrivingMs
const sessionsOf = (connections: readonly HubClient[]) =>
  new Set(connections.map(({ client }) => client.user.sessionId))
const highest = (a: bigint, b: bigint) => (a > b ? a : b)
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
