import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireReady } from './accounts/readiness.ts'
import { findSession } from './accounts/sessions.ts'
import { isProved } from './capture/capture.ts'
import { keys } from './companies/keys/keys.ts'
import { openHub } from './notifications/hub.ts'
import { backupMetrics } from './operations/backup/worker.ts'
import { productMetrics } from './operations/metrics.ts'
import type { Context, Database } from './platform/context.ts'
import { prepareClosing } from './platform/http/closing.ts'
import { serveDocs } from './platform/http/docs.ts'
import { createDoor } from './platform/http/door.ts'
import { serveRoutes } from './platform/http/http.ts'
import { createMetrics, serveMetrics } from './platform/http/metrics.ts'
import { describeApi } from './platform/http/openapi.ts'
import type { Health } from './platform/http/probes.ts'
import { serveSite, siteSettings } from './platform/http/site.ts'
import { routes } from './slices.ts'

const site = fileURLToPath(new URL('../web/dist', import.meta.url))

export interface ApiOptions {
  databaseUrl: string
  /** Connections of the login that sees some companies only. */
  limited: Database
  /** Awaited before the port is opened. */
  listening: (() => Promise<void>) | undefined
  health: Health | undefined
}

/** Serves the calls, the hub, the metrics and the pages until `stack` is disposed; returns where. */
export async function openApi(
  ctx: Context,
  stack: AsyncDisposableStack,
  { databaseUrl, limited, listening, health }: ApiOptions,
): Promise<string> {
  const { config } = ctx
  const door = createDoor(isProved, config.door)
  const hub = openHub(ctx, databaseUrl, door.watch(findSession))
  const app = await serveRoutes(ctx, routes, findSession, { guest: hub, keys, limited, door })
  const close = prepareClosing(app)
  // Clients that are sent away to come back later find nobody listening here any more.
  stack.defer(async () => {
    const closed = close()
    await hub[Symbol.asyncDispose]()
    await closed
  })
  const contract = routes.map(({ route }) => route)
  await serveDocs(app, describeApi(contract, config.productName))
  const metrics = createMetrics(
    ctx,
    productMetrics,
    [hub.metrics, backupMetrics(ctx)],
    health && (() => health.ready()),
  )
  serveMetrics(app, ctx, metrics)
  health?.tell(metrics)
  if (existsSync(join(site, 'index.html'))) await serveSite(app, site, siteSettings(config))
  await listening?.()
  const url = await app.listen({ port: config.port, host: config.listenHost })
  health?.add('api', () => requireReady(ctx))
  return url
}
