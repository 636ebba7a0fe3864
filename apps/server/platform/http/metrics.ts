import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import { bearerOf } from './http.ts'

// A scrape that waits longer than this for the database gets a response without its metrics.
export const databaseMs = 3_000

export type MetricsContext = Pick<Context, 'db' | 'config' | 'log' | 'storage'>

/** Metrics that an operator acts on (deploy/prometheus-rules.yml). */
export interface Metrics {
  /** Names, types and values as Prometheus reads them. */
  collect(): Promise<{ type: string; text: string }>
  add(more: Registry): void
}

/** A value that the database gives; `of` is that of its label. */
export type MetricRow = { name: string; of: string | null; value: number | null }

/** Metrics that are read from the database. */
export interface DatabaseMetrics {
  /** By name, without the prefix; with the label of those that have one. */
  described: Readonly<Record<string, [help: string, label?: string]>>
  read(ctx: MetricsContext): Promise<MetricRow[]>
}

/** `parts` are what others count; `ready` tells of each role whether it can work. */
export function createMetrics(
  ctx: MetricsContext,
  stored: DatabaseMetrics,
  parts: readonly Registry[] = [],
  ready?: () => Promise<{ roles: Record<string, string> }>,
): Metrics {
  const database = new Registry()
  const readDatabase = readDatabaseMetrics(ctx, stored, database)
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

/** Returns a function that gives null when the database does not respond in time. */
function readDatabaseMetrics(
  ctx: MetricsContext,
  stored: DatabaseMetrics,
  registry: Registry,
): () => Promise<Registry | null> {
  const metrics = new Registry()
  const gauges = Object.entries(stored.described).map(([name, [help, label]]) => {
    return { name, label, gauge: gaugeIn(metrics, name, help, label) }
  })
  const up = gaugeIn(registry, 'database_up', 'Whether the database answered this scrape in time.')
  const writable = gaugeIn(
    registry,
    'storage_writable',
    'Whether a row could be written just now; 0: nothing is captured.',
  )
  const free = gaugeIn(registry, 'disk_free_bytes', 'Free on the disk of the data folder.')
  return async () => {
    try {
      const rows = await inTime(stored.read(ctx))
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
}

/** The result of `work`, or an error after `ms`. */
export async function inTime<T>(work: Promise<T>, ms = databaseMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it took too long')), ms)
  })
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
