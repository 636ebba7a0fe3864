import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Context } from '../context.ts'
import { asOperator, inCapture } from '../database.ts'
import { AppError } from '../errors.ts'
import { lateMinutes } from '../service.ts'
import { stuckAt } from '../stuck.ts'
import { bearerOf } from './http.ts'

// A scrape that waits longer than this for the database gets a response without its metrics.
const databaseMs = 3_000

type MetricsContext = Pick<Context, 'db' | 'config' | 'log' | 'storage'>

/** Metrics that an operator acts on (deploy/prometheus-rules.yml). */
export interface Metrics {
  /** Names, types and values as Prometheus reads them. */
  collect(): Promise<{ type: string; text: string }>
  add(more: Registry): void
}

/** `parts` are what others count; `ready` tells of each role whether it can work. */
export function createMetrics(
  ctx: MetricsContext,
  parts: readonly Registry[] = [],
  ready?: () => Promise<{ roles: Record<string, string> }>,
): Metrics {
  const database = new Registry()
  const readDatabase = readDatabaseMetrics(ctx, database)
  const roles = gaugeIn(database, 'ready', 'Whether a role of this program can do its work at this moment.', 'role')
  const all = [ofProcess(), database, ...parts]
  return {
    async collect() {
      const [known, states] = await Promise.all([readDatabase(), ready?.()])
      for (const [role, state] of Object.entries(states?.roles ?? {})) roles.set({ role }, state === 'ready' ? 1 : 0)
      const merged = Registry.merge(known ? [...all, known] : all)
      return { type: merged.contentType, text: await merged.metrics() }
    },
    add: (more) => void all.push(more),
  }
}

/** Serves `GET /metrics` for Prometheus to clients that send the configured token; without a token there is no such address. */
export function serveMetrics(
  app: FastifyInstance,
  { config: { metricsToken } }: Pick<Context, 'config'>,
  metrics: Metrics,
): void {
  if (!metricsToken) return
  metrics.add(measureRequests(app))
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

function gaugeIn(registry: Registry, name: string, help: string, label?: string): Gauge {
  return new Gauge({ name: `vigia_${name}`, help, labelNames: label ? [label] : [], registers: [registry] })
}

let processRegistry: Registry | undefined

// Its observers cannot be removed: there is one for the process, however many servers it starts.
function ofProcess(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

function measureRequests(app: FastifyInstance): Registry {
  const registry = new Registry()
  const duration = new Histogram({
    name: 'vigia_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, by status.',
    labelNames: ['status'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  app.addHook('onResponse', (_request, reply, done) => {
    duration.observe({ status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })
  return registry
}

// Names and helps of what the database knows of all workspaces, with the label of those that have one.
const counted: Record<string, [help: string, label?: string]> = {
  capture_late_seconds: ['How long the latest of the late conversations has been due; 0 when none is late.'],
  capture_last_query_seconds: ['Seconds since the last query to the authority; absent before the first.'],
  capture_lines_stuck: ['Conversations that stopped, failed for hours or were blocked beyond their hour.', 'state'],
  capture_lost_positions: ['Positions of the last 90 days that were missing and that the authority has no more.'],
  circuits_open: ['Web services of the authority that served nobody when last asked.'],
  clock_skew_seconds: ['How far the clock of the database is ahead of the authority (negative: behind), the most.'],
  mails_waiting_seconds: ['Age of the oldest mail that has not left yet.'],
  outgoing_events_due_seconds: ['How long the unsettled event that is due longest has been due.'],
  trouble: ['Seconds since which something is wrong with the whole installation, by its name.', 'key'],
}

/** Returns a function that gives null when the database does not respond in time; simultaneous scrapes share one query. */
function readDatabaseMetrics(ctx: MetricsContext, registry: Registry): () => Promise<Registry | null> {
  const metrics = new Registry()
  const gauges = Object.entries(counted).map(([name, [help, label]]) => {
    return { name, label, gauge: gaugeIn(metrics, name, help, label) }
  })
  const up = gaugeIn(registry, 'database_up', 'Whether the database answered this scrape in time.')
  const writable = gaugeIn(
    registry,
    'storage_writable',
    'Whether a row could be written just now; 0: nothing is captured.',
  )
  const free = gaugeIn(registry, 'disk_free_bytes', 'Free on the disk of the data folder.')
  const read = async () => {
    try {
      const rows = await inTime(count(ctx))
      for (const { name, label, gauge } of gauges) {
        const own = rows.filter((row) => row.name === name && row.value !== null)
        gauge.reset()
        if (own.length === 0 && !label) gauge.remove()
        for (const { of, value } of own) gauge.set(label ? { [label]: of ?? '' } : {}, Number(value))
      }
      up.set(1)
      writable.set((await inTime(ctx.storage.prove())) ? 1 : 0)
      if (ctx.storage.freeBytes !== null) free.set(ctx.storage.freeBytes)
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

type Row = { name: string; of: string | null; value: number | null }

function count(ctx: MetricsContext): Promise<Row[]> {
  return asOperator(ctx, (ctx) =>
    inCapture(ctx, async (ctx) => {
      const { db } = ctx
      await sql`select set_config('statement_timeout', ${String(databaseMs)}, true)`.execute(db)
      // A statement for each kind: their tables may come to stand in different places.
      const found = [
        await sql<Row>`
        select 'capture_late_seconds' as name, null as of,
               coalesce(max(extract(epoch from now() - greatest(next_at, allowed_at))), 0)::float8 as value from capture_line
         where next_at is not null and (automatic or wanted) and not paused and coalesce(lease_until <= now(), true)
           and greatest(next_at, allowed_at) < now() - ${lateMinutes} * interval '1 minute'
        union all select 'capture_last_query_seconds', null, extract(epoch from now() - max(at)) from capture_call
        union all select 'capture_lines_stuck', state, count(*) from capture_line where ${stuckAt(ctx)} <= now() group by state
        union all select 'capture_lost_positions', null, coalesce(sum(to_nsu - from_nsu + 1), 0) from capture_gap
         where lost and not passed and found_at > now() - interval '90 days'
        union all select 'circuits_open', null, count(*) from circuit where open_until is not null
        union all select 'clock_skew_seconds', null, (array_agg(seconds order by abs(seconds) desc))[1] from clock_skew`.execute(
          db,
        ),
        await sql<Row>`
        select 'mails_waiting_seconds' as name, null as of,
               coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as value from mail where state = 'waiting'`.execute(
          db,
        ),
        await sql<Row>`
        select 'outgoing_events_due_seconds' as name, null as of,
               greatest(0, coalesce(extract(epoch from now() - min(next_at)), 0))::float8 as value
          from outgoing_event where state in ('waiting', 'sending')`.execute(db),
        await sql<Row>`
        select 'trouble' as name, key as of, greatest(0, extract(epoch from now() - since))::float8 as value
          from trouble where ended_at is null`.execute(db),
      ]
      return found.flatMap(({ rows }) => rows)
    }),
  )
}
