import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '../../config.ts'
import { bearerOf } from './http.ts'
import { inTime, isSame, type Metrics } from './metrics.ts'

/** Throws when a role cannot do its work at this moment. */
type Check = () => Promise<unknown>

/** Health of a process, by role. */
export interface Health {
  /** A role is there; it is ready while `check` does not throw. */
  add(role: string, check: Check): void
  /** The text of `/metrics`, from the first role that has one. */
  tell(metrics: Metrics): void
  /** It ends: nothing new should come. */
  drain(): void
  ready(): Promise<{ ready: boolean; roles: Record<string, string> }>
  /** Absent: no role has told anything yet. */
  metrics: Metrics | undefined
}

/** `roles`: required for being ready. */
export function createHealth(roles: readonly string[]): Health {
  const checks = new Map<string, Check>()
  let draining = false
  return {
    metrics: undefined,
    add: (role, check) => void checks.set(role, check),
    tell(metrics) {
      this.metrics ??= metrics
    },
    drain() {
      draining = true
    },
    async ready() {
      const states: Record<string, string> = {}
      for (const role of roles) {
        const check = checks.get(role)
        states[role] = draining ? 'draining' : check ? await stateOf(check) : 'starting'
      }
      return { ready: Object.values(states).every((state) => state === 'ready'), roles: states }
    },
  }
}

/**
 * Opens a port on this machine for the operator: `/live` while the process reacts, `/ready` while
 * its roles can work, `/metrics` with the token. Responses contain no user data.
 */
export async function openProbes(
  { probePort, metricsToken }: Pick<Config, 'probePort' | 'metricsToken'>,
  health: Pick<Health, 'ready' | 'metrics'>,
): Promise<{ port: number } & AsyncDisposable> {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number, body: string, type = 'application/json; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    const path = request.url?.split('?')[0]
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, '{}')
      if (path === '/live') return answer(200, '{"live":true}')
      if (path === '/ready') {
        const states = await health.ready()
        return answer(states.ready ? 200 : 503, JSON.stringify(states))
      }
      if (path !== '/metrics' || !metricsToken) return answer(404, '{}')
      if (!isSame(bearerOf(request), metricsToken)) return answer(401, '{}')
      if (!health.metrics) return answer(503, '{}')
      const { type, text } = await health.metrics.collect()
      return answer(200, text, type)
    } catch {
      return answer(500, '{}')
    }
  }
  const server = createServer((request, response) => void respond(request, response))
  server.requestTimeout = 5_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(probePort ?? 0, '127.0.0.1', resolve)
  })
  // It must not keep alive what has ended.
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function stateOf(check: Check): Promise<'ready' | 'not-ready'> {
  return inTime(check()).then(
    () => 'ready' as const,
    () => 'not-ready' as const,
  )
}
