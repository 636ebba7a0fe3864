import { createHash, timingSafeEqual } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RouteDefinition } from '@vigia/contract/route'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { lateLoops } from '../jobs/jobs.ts'
import type { Context, Database } from '../platform/context.ts'
import { asOperator, inCapture, poolUse } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { lateMinutes, type ServiceCode, serviceOf } from '../platform/service.ts'
import { stuckAt } from '../platform/stuck.ts'
import { measureCertificate } from './certificate.ts'
import { bearerOf, fastifyPath } from './http.ts'

// A scrape that waits longer than this for the database gets a response without its metrics.
const databaseMs = 3_000

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS']

type MetricsContext = Pick<Context, 'db' | 'config' | 'log' | 'storage' | 'printer'>

/** Metrics of one process, as another can show them beside its own. */
export type MeasuredProcess = MetricObjectWithValues<MetricValue<string>>[]

/** What this process tells Prometheus. */
export interface Metrics {
  /** Names, types and values as Prometheus reads them. */
  collect(): Promise<{ type: string; text: string }>
  /** What is of this process alone, not of the installation. */
  measure(): Promise<MeasuredProcess>
  /** More of this process; one of a name that is there already is left out. */
  add(others: readonly Registry[], pools: Record<string, Database>): void
  /** Shows what the process of a role of its own measures too, with the role as label; null: nothing is known of it at the moment. */
  besides(role: string, read: () => Promise<MeasuredProcess | null>): void
}

/** `pools` are the connections of this process by their names, `own` what its parts count themselves, `installation` what they know of all. */
export function createMetrics(
  ctx: MetricsContext,
  pools: Record<string, Database>,
  { own = [], installation = [] }: { own?: readonly Registry[]; installation?: readonly Registry[] } = {},
): Metrics {
  const [ofPools, ofDatabase] = [new Registry(), new Registry()]
  const allPools = { ...pools }
  measurePools(ofPools, allPools)
  const readDatabase = readDatabaseMetrics(ctx, ofDatabase)
  const shared = [ofDatabase, measureCertificate(ctx.config.publicUrl), ...installation]
  const parts: Registry[] = [ofProcess(), ofPools, ctx.printer.metrics, ...own]
  const others = new Map<string, () => Promise<MeasuredProcess | null>>()
  const measure = () => Registry.merge(parts).getMetricsAsJSON() as Promise<MeasuredProcess>
  return {
    measure,
    async collect() {
      const known = await readDatabase()
      const processes = [labelled(await measure())]
      for (const [role, read] of others) processes.push(labelled((await read()) ?? [], { role }))
      const all = Registry.merge([...shared, ...(known ? [known] : []), AggregatorRegistry.aggregate(processes)])
      return { type: all.contentType, text: await all.metrics() }
    },
    add(more, morePools) {
      Object.assign(allPools, morePools)
      const names = new Set(parts.flatMap((part) => part.getMetricsAsArray().map(({ name }) => name)))
      parts.push(...more.filter((part) => part.getMetricsAsArray().every(({ name }) => !names.has(name))))
    },
    besides: (role, read) => void others.set(role, read),
  }
}

// Each series of a process stays itself: "sum" of what has labels of its own.
function labelled(measured: MeasuredProcess, labels: Record<string, string> = {}): MeasuredProcess {
  return measured.map((metric) => ({
    ...metric,
    aggregator: 'sum',
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } })),
  }))
}

/** Serves `GET /metrics` for Prometheus to clients that send the configured token; without a token there is no such address. */
export function serveMetrics(
  app: FastifyInstance,
  { config: { metricsToken } }: Pick<Context, 'config'>,
  routes: readonly RouteDefinition[],
  metrics: Metrics,
): void {
  if (!metricsToken) return
  const requests = new Registry()
  measureRequests(app, requests, routes)
  metrics.add([requests], {})
  app.get('/metrics', async (request, reply) => {
    if (!isSame(bearerOf(request), metricsToken))
      throw new AppError('unauthenticated', 'Informe o token de METRICS_TOKEN.')
    const { type, text } = await metrics.collect()
    return reply.type(type).header('cache-control', 'no-store').send(text)
  })
}

/** Whether `given` is the token. Digests have one length, so the time of the comparison reveals nothing. */
export function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

let processRegistry: Registry | undefined

// Its observers cannot be removed: there is one for the process, however many servers it starts.
function ofProcess(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
    new Gauge({
      name: 'vigia_late_loops',
      help: 'Loops of this process (captures, mails, exports, …) that should have turned by now: what they wait for hangs.',
      labelNames: ['loop'],
      registers: [processRegistry],
      collect() {
        this.reset()
        for (const loop of lateLoops()) this.inc({ loop })
      },
    })
  }
  return processRegistry
}

function measureRequests(app: FastifyInstance, registry: Registry, routes: readonly RouteDefinition[]): void {
  const templates = new Map(routes.map((route) => [fastifyPath(route), route.path]))
  const duration = new Histogram({
    name: 'vigia_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, by route template ("other": pages, files, unknown addresses).',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { url = '' } = request.routeOptions
    duration.observe(
      {
        method: methods.includes(request.method) ? request.method : 'other',
        route: templates.get(url) ?? 'other',
        status: reply.statusCode,
      },
      reply.elapsedTime / 1000,
    )
    done()
  })
}

function measurePools(registry: Registry, pools: Record<string, Database>): void {
  const registers = [registry]
  new Gauge({
    name: 'vigia_database_connections',
    help: 'Open connections of this process to the database, by pool and state (busy, idle).',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, db] of Object.entries(pools)) {
        const { open, idle } = poolUse(db)
        this.set({ pool, state: 'busy' }, open - idle)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'vigia_database_connection_waiters',
    help: 'Pieces of work of this process that wait for a connection to the database, by pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, db] of Object.entries(pools)) this.set({ pool }, poolUse(db).waiting)
    },
  })
}

interface Counted {
  lines: { service: ServiceCode; state: string; count: number; late: number; lateSeconds: number }[]
  circuits: number
  skews: { service: ServiceCode; seconds: number }[]
  stuck: { service: ServiceCode; state: string; count: number }[]
  lost: { service: ServiceCode; positions: number }[]
  conflicts: { service: ServiceCode; positions: number }[]
  silentSeconds: number | null
  mails: { waiting: number; waitingSeconds: number; failed: number }
  events: { waiting: number; sending: number; dueSeconds: number }
  alerts: { building: number; behindSeconds: number }
  troubles: { key: string; seconds: number }[]
  /** Null: the owner of the database may not see it. */
  use: { wal: number | null; temp: number | null }
  unpacked: number
}

/**
 * Counts rows of the whole installation and reads nothing else of them. What it returns gives null when the database does not respond in
 * time; simultaneous scrapes share one query.
 */
function readDatabaseMetrics(ctx: MetricsContext, registry: Registry): () => Promise<Registry | null> {
  const metrics = new Registry()
  const gauges = createGauges(metrics)
  const up = new Gauge({
    name: 'vigia_database_up',
    help: 'Whether the database answered this scrape in time; otherwise the figures that it knows are absent.',
    registers: [registry],
  })
  const response = new Gauge({
    name: 'vigia_database_response_seconds',
    help: 'How long the database took for the smallest question; absent while it does not respond.',
    registers: [metrics],
  })
  const { storage } = ctx
  const writable = new Gauge({
    name: 'vigia_storage_writable',
    help: 'Whether a row could be written just now; 0: nothing is asked of the authority until one can.',
    registers: [registry],
  })
  const free = new Gauge({
    name: 'vigia_disk_free_bytes',
    help: 'Free on the disk of the data folder.',
    registers: [registry],
  })
  const read = async () => {
    try {
      const asked = performance.now()
      await inTime(sql`select 1`.execute(ctx.db))
      response.set((performance.now() - asked) / 1000)
      show(gauges, await inTime(count(ctx)))
      up.set(1)
      writable.set((await inTime(storage.prove())) ? 1 : 0)
      if (storage.freeBytes !== null) free.set(storage.freeBytes)
      return metrics
    } catch (error) {
      ctx.log.warn({ err: error }, 'the metrics of the database are missing')
      up.set(0)
      writable.set(0)
      return null
    }
  }
  let reading: Promise<Registry | null> | undefined
  return () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the database did not answer a scrape in time')), databaseMs)
  })
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

function show(gauges: ReturnType<typeof createGauges>, counted: Counted): void {
  const { lines, circuits, skews, mails, events, troubles, use } = counted
  for (const gauge of Object.values(gauges)) gauge.reset()
  for (const row of lines) {
    const service = serviceOf(row.service)
    gauges.lines.set({ service, state: row.state }, row.count)
    gauges.linesLate.inc({ service }, row.late)
  }
  gauges.lateSeconds.set(Math.max(0, ...lines.map((row) => row.lateSeconds)))
  for (const { service, state, count } of counted.stuck)
    gauges.linesStuck.set({ service: serviceOf(service), state }, count)
  for (const { service, positions } of counted.lost) gauges.lost.set({ service: serviceOf(service) }, positions)
  for (const { service, positions } of counted.conflicts)
    gauges.conflicts.set({ service: serviceOf(service) }, positions)
  if (counted.silentSeconds !== null) gauges.silentSeconds.set(counted.silentSeconds)
  gauges.circuitsOpen.set(circuits)
  for (const { service, seconds } of skews) gauges.clockSkew.set({ service: serviceOf(service) }, seconds)
  gauges.mailsWaiting.set(mails.waiting)
  gauges.mailsWaitingSeconds.set(mails.waitingSeconds)
  gauges.mailsFailed.set(mails.failed)
  gauges.events.set({ state: 'waiting' }, events.waiting)
  gauges.events.set({ state: 'sending' }, events.sending)
  gauges.eventsDueSeconds.set(events.dueSeconds)
  gauges.alertsBuilding.set(counted.alerts.building)
  gauges.alertsBehindSeconds.set(counted.alerts.behindSeconds)
  gauges.unpacked.set(counted.unpacked)
  for (const { key, seconds } of troubles) gauges.trouble.set({ key }, seconds)
  for (const [kind, bytes] of Object.entries(use)) if (bytes !== null) gauges.databaseUse.set({ kind }, bytes)
}

function createGauges(registry: Registry) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `vigia_${name}`, help, labelNames, registers: [registry] })
  return {
    lines: gauge(
      'capture_lines',
      'Conversations with the authority by service and state (waiting, capturing, blocked, failed, stopped, paused).',
      ['service', 'state'],
    ),
    linesLate: gauge(
      'capture_lines_late',
      `Conversations that should have asked ${lateMinutes} minutes ago or earlier.`,
      ['service'],
    ),
    lateSeconds: gauge(
      'capture_late_seconds',
      'How long the latest of the late conversations has been due; 0 when none is late.',
    ),
    linesStuck: gauge(
      'capture_lines_stuck',
      'Conversations that stopped, failed for hours or were blocked beyond their hour, by service and state.',
      ['service', 'state'],
    ),
    lost: gauge(
      'capture_lost_positions',
      'Positions of the last 90 days that were missing and that the authority has no more, by service.',
      ['service'],
    ),
    conflicts: gauge(
      'capture_conflicting_positions',
      'Positions for which the authority brought two different documents, in conversations where that happened within 90 days, by service.',
      ['service'],
    ),
    silentSeconds: gauge(
      'capture_last_query_seconds',
      'Seconds since the last query to the authority; absent before the first.',
    ),
    circuitsOpen: gauge('circuits_open', 'Web services of the authority that served nobody when last asked.'),
    clockSkew: gauge(
      'clock_skew_seconds',
      'How far the clock of the database is ahead of the authority (negative: behind), by service; a response that takes long looks like a clock behind.',
      ['service'],
    ),
    mailsWaiting: gauge('mails_waiting', 'Mails that have not left yet.'),
    mailsWaitingSeconds: gauge('mails_waiting_seconds', 'Age of the oldest mail that has not left yet.'),
    mailsFailed: gauge('mails_failed_last_day', 'Mails given up within the last 24 hours.'),
    events: gauge('outgoing_events', 'Events of documents that are not settled, by state (waiting, sending).', [
      'state',
    ]),
    eventsDueSeconds: gauge(
      'outgoing_events_due_seconds',
      'How long the unsettled event that is due longest has been due.',
    ),
    unpacked: gauge(
      'receipts_unpacked',
      'Received documents that wait for their small form, about, as of the last vacuum.',
    ),
    alertsBuilding: gauge('alerts_building', 'Workspaces whose older documents are still being read for alerts.'),
    alertsBehindSeconds: gauge(
      'alerts_behind_seconds',
      'How long the change of a document that was not judged yet has waited, the longest.',
    ),
    trouble: gauge('trouble', 'Seconds since which something is wrong with the whole installation, by what it is.', [
      'key',
    ]),
    databaseUse: gauge(
      'database_use_bytes',
      'What the database uses beside its tables: write-ahead log, and what went to temporary files since its statistics began; where that may be seen.',
      ['kind'],
    ),
  }
}

// The owner of the embedded database is no superuser, but its files are ours.
async function embeddedWal({ dataDir, databaseUrl }: Context['config']): Promise<number | null> {
  if (databaseUrl) return null
  try {
    const folder = join(dataDir, 'postgres', 'pg_wal')
    const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile())
    const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(folder, name))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  } catch {
    return null
  }
}

async function count(ctx: MetricsContext): Promise<Counted> {
  return asOperator(ctx, (ctx) =>
    inCapture(ctx, async (ctx) => {
      const { db } = ctx
      await sql`select set_config('statement_timeout', ${String(databaseMs)}, true)`.execute(db)
      // A statement for the lines, the mails and the events each: they may come to stand in different places.
      const captures = await sql<
        Pick<Counted, 'lines' | 'circuits' | 'skews' | 'stuck' | 'lost' | 'conflicts' | 'silentSeconds'>
      >`
        with line as (
          select service, paused, state, lease_until > now() as held,
                 case when next_at is not null and (automatic or wanted) and not paused
                       and coalesce(lease_until <= now(), true) and greatest(next_at, allowed_at) < now() - ${lateMinutes} * interval '1 minute'
                      then extract(epoch from now() - greatest(next_at, allowed_at)) end as late
            from capture_line),
        lines as (
          select service, case when paused then 'paused' when held then 'capturing' else state end as state,
                 count(*) as count, count(late) as late, coalesce(max(late), 0) as "lateSeconds"
            from line group by 1, 2),
        stuck as (
          select service, state, count(*) as count from capture_line where ${stuckAt(ctx)} <= now() group by 1, 2),
        lost as (
          select l.service, sum(g.to_nsu - g.from_nsu + 1) as positions from capture_gap g join capture_line l on l.id = g.line_id
           where g.lost and not g.passed and g.found_at > now() - interval '90 days' group by 1),
        conflicts as (
          select service, sum(conflicts) as positions from capture_line where conflict_at > now() - interval '90 days' group by 1)
        select coalesce((select json_agg(lines) from lines), '[]') as lines,
               coalesce((select json_agg(stuck) from stuck), '[]') as stuck, coalesce((select json_agg(lost) from lost), '[]') as lost,
               coalesce((select json_agg(conflicts) from conflicts), '[]') as conflicts,
               (select extract(epoch from now() - max(at))::float8 from capture_call) as "silentSeconds",
               (select count(*)::int from circuit where open_until is not null) as circuits,
               coalesce((select json_agg(json_build_object('service', service, 'seconds', seconds)) from clock_skew), '[]') as skews`.execute(
        db,
      )
      const mails = await sql<Counted['mails']>`
        select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "waitingSeconds",
               (select count(*)::int from mail where state = 'failed' and settled_at > now() - interval '1 day') as failed
          from mail where state = 'waiting'`.execute(db)
      const events = await sql<Counted['events']>`
        select count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'sending')::int as sending,
               greatest(0, coalesce(extract(epoch from now() - min(next_at)), 0))::float8 as "dueSeconds"
          from outgoing_event where state in ('waiting', 'sending')`.execute(db)
      const alerts = await sql<Counted['alerts']>`
        select count(a.walked_type)::int as building,
               coalesce(max(extract(epoch from now() - (
                 select c.at from document_change c where c.workspace_id = a.workspace_id and c.version > a.version order by c.version limit 1))), 0)::float8 as "behindSeconds"
          from alert_position a join change_position p on p.workspace_id = a.workspace_id
         where p.version > a.version or a.walked_type is not null`.execute(db)
      const troubles = await sql<Counted['troubles'][number]>`
        select key, greatest(0, extract(epoch from now() - since))::float8 as seconds from trouble where ended_at is null`.execute(
        db,
      )
      // As of the last vacuum: counting them would read them.
      const unpacked = await sql<{ receipts: number }>`
        select greatest(0, reltuples)::float8 as receipts from pg_class where oid = 'receipt_unpacked_ix'::regclass`.execute(
        db,
      )
      const use = await sql<Counted['use']>`select wal_bytes as wal, temp_bytes as temp from storage_use()`.execute(db)
      return {
        ...captures.rows[0]!,
        mails: mails.rows[0]!,
        events: events.rows[0]!,
        alerts: alerts.rows[0]!,
        troubles: troubles.rows,
        unpacked: unpacked.rows[0]!.receipts,
        use: { ...use.rows[0]!, wal: use.rows[0]!.wal ?? (await embeddedWal(ctx.config)) },
      }
    }),
  )
}
