import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import { createLimiter } from '../limiter.ts'
import { doorLimits } from './door-limits.ts'
import type { Authenticate, Session } from './session.ts'
import { networkOf } from './throttle.ts'

/** A request before anything is done for it. `session`: it is looked up whose token it shows. */
export interface Visit {
  network: string
  token: string
  kind: 'file' | 'open' | 'session'
}

/** Limits what strangers may ask for. */
export interface Door {
  /**
   * Undefined: the request may go on. Otherwise pauses `socket` for a second and gives the refusal,
   * or null when too many wait and the connection has to end.
   */
  enter(visit: Visit, socket: Duplex): Promise<AppError | null | undefined>
  /** Wraps `find`, so that the door learns which tokens are known and which are dead. */
  watch(find: Authenticate): Authenticate
  /** Notes the token of a session that has just been opened, so that failed look-ups of its address do not keep it out. */
  learn(token: string): void
}

const rememberedMax = 50_000
const tooManyCalls =
  'Há chamadas demais deste endereço. Nada foi lido nem alterado, e seus documentos estão seguros; espere o tempo de Retry-After e tente de novo.'

/**
 * A door; `isProved` tells whether a certificate has proved a company of a workspace: until then its calls count with those of their address.
 */
export function createDoor(
  isProved: (ctx: Context, workspaceId: number) => Promise<boolean>,
  limits: typeof doorLimits = doorLimits,
): Door {
  const rates = {
    calls: createRate(limits.calls),
    files: createRate(limits.files),
    failures: createRate(limits.failures),
  }
  // A number: how many calls came with it while nothing is known of it.
  const tokens = new LRUCache<string, 'known' | 'counted' | 'dead' | number>({
    max: rememberedMax,
    ttl: limits.rememberedMs,
  })
  const proved = new LRUCache<number, true>({ max: rememberedMax })
  const lookups = new Map<string, Promise<Session | null>>()
  const takeLookup = createLimiter({ each: limits.lookups, waiting: 1_000, full: tooManyCalls })
  const waiting = new Map<string, number>()

  const waitOf = ({ network, token, kind }: Visit): number => {
    if (kind === 'file') return rates.files.take(network)
    const name = nameOf(token)
    const seen = tokens.get(name)
    if (seen === 'known') return 0
    if (kind === 'open' || !token || typeof seen === 'string') return rates.calls.take(network)
    if (seen !== undefined && seen < limits.shared) {
      tokens.set(name, seen + 1)
      return rates.failures.waitOf(network)
    }
    const waitMs = rates.calls.take(network) || rates.failures.waitOf(network)
    if (waitMs === 0 && seen === undefined) tokens.set(name, 1)
    return waitMs
  }

  const isNewcomer = async (ctx: Context, { workspaceId }: Session): Promise<boolean> => {
    if (proved.has(workspaceId)) return false
    if (!(await isProved(ctx, workspaceId))) return true
    proved.set(workspaceId, true)
    return false
  }

  return {
    async enter(visit, socket) {
      const waitMs = waitOf(visit)
      if (waitMs === 0) return undefined
      const { network } = visit
      const others = waiting.get(network) ?? 0
      // Also a connection that ends waits: a client that connects anew at once would cost more than one that reads a response.
      socket.pause()
      const waited = new Promise((resolve) => setTimeout(resolve, limits.refusedMs))
      if (others >= limits.refused) return waited.then(() => null)
      waiting.set(network, others + 1)
      await waited
      socket.resume()
      const left = waiting.get(network)! - 1
      if (left > 0) waiting.set(network, left)
      else waiting.delete(network)
      return new AppError('too-many', tooManyCalls, { retryAfterMs: waitMs })
    },

    learn: (token) => void tokens.set(nameOf(token), 'counted'),

    watch: (find) => async (ctx, token, caller) => {
      const name = nameOf(token)
      const network = networkOf(caller.address)
      const isKnown = () => ['known', 'counted'].includes(String(tokens.get(name)))
      const lookUp = async () => {
        const wasKnown = isKnown()
        const session = await find(ctx, token, caller)
        if (!session) {
          if (!wasKnown) rates.failures.take(network)
          tokens.set(name, 'dead')
          return null
        }
        const newcomer = await isNewcomer(ctx, session)
        tokens.set(name, newcomer || session.shared ? 'counted' : 'known')
        return newcomer ? { ...session, newcomer } : session
      }
      const lookUpInTurn = async () => {
        using _ = await takeLookup(network)
        const retryAfterMs = rates.failures.waitOf(network)
        if (retryAfterMs > 0) throw new AppError('too-many', tooManyCalls, { retryAfterMs })
        return lookUp()
      }
      if (tokens.get(name) === 'dead') return null
      if (isKnown()) return lookUp()
      const key = `${name} ${network}`
      const shared = lookups.get(key) ?? lookUpInTurn().finally(() => lookups.delete(key))
      lookups.set(key, shared)
      return shared
    },
  }
}

// Tokens themselves are not kept.
function nameOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Counts calls by network: `burst` at once, and `perSecond` in the long run. Both functions tell after how many milliseconds the next may come; 0: now. */
function createRate({ perSecond, burst }: { perSecond: number; burst: number }) {
  const networks = new LRUCache<string, { left: number; at: number }>({ max: 20_000 })
  const leftOf = (network: string) => {
    const { left, at } = networks.get(network) ?? { left: burst, at: performance.now() }
    return Math.min(burst, left + ((performance.now() - at) / 1_000) * perSecond)
  }
  const waitFor = (left: number) => (left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1_000))
  return {
    waitOf: (network: string) => waitFor(leftOf(network)),
    take(network: string) {
      const left = leftOf(network)
      if (left >= 1) networks.set(network, { left: left - 1, at: performance.now() })
      return waitFor(left)
    },
  }
}
