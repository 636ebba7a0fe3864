import type { RouteDefinition } from '@vigia/contract/route'
import { formatInteger } from '@vigia/contract/text'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Context, WithDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { createLimiter } from '../limiter.ts'
import type { Authenticate, Caller, Session } from './session.ts'
import { addTry, type Limit } from './throttle.ts'

/** How programs come in, that show a key instead of the token of a session. */
export interface Keys {
  /** The key as a session, with its scopes, or null when there is none, or none any more. */
  find: Authenticate
  /** Writes down that a key called `route`, and whether it was let in. */
  note(
    ctx: WithDatabase,
    key: Session,
    route: Pick<RouteDefinition, 'method' | 'path'>,
    wasLetIn: boolean,
  ): Promise<void>
}

/** How every key begins; what scanners of sources look for. */
export const keyStart = 'vigia_'
export const keyShape = /^vigia_[0-9a-f]{64}$/
const callLimit: Limit = { name: 'chamadas de uma chave', times: 120, withinMs: 60_000 }
// Each change leaves an audit entry, which is kept for good.
const changeLimit: Limit = { name: 'mudanças de uma chave', times: 1_000, withinMs: 3_600_000 }

// Calls of a workspace are counted one after the other: they write the same rows, and each waits with a connection that all share.
const takeTurn = createLimiter({
  each: 1,
  waiting: 100,
  full: 'Há chamadas demais com chaves de API desta conta ao mesmo tempo. Nada foi lido nem alterado; tente de novo em instantes.',
})

// A key over its limit costs no more than the refusal.
const refusedUntil = new LRUCache<string, number>({ max: 10_000 })

/** The key that a call shows, as the session of the call; refuses a key that may not make it, or makes too many. */
export async function admitKey(
  ctx: Context,
  keys: Keys,
  route: RouteDefinition,
  { token, caller, reply }: { token: string; caller: Caller; reply: FastifyReply },
): Promise<Session> {
  const key = keyShape.test(token) ? await keys.find(ctx, token, caller) : null
  if (!key) throw new AppError('unauthenticated', unknownKey)
  const who = `${key.workspaceId}/${key.accountId}`
  const restMs = (refusedUntil.get(who) ?? 0) - Date.now()
  if (restMs > 0) throw new AppError('too-many', tooManyCalls, { retryAfterMs: restMs })
  using _ = await takeTurn(key.workspaceId)
  const { count, leftMs } = await addTry(ctx, callLimit, who)
  void reply.headers({
    'ratelimit-limit': callLimit.times,
    'ratelimit-remaining': Math.max(0, callLimit.times - count),
    'ratelimit-reset': Math.max(1, Math.ceil(leftMs / 1000)),
  })
  if (count > callLimit.times) refusedUntil.set(who, Date.now() + leftMs)
  if (count > callLimit.times) throw new AppError('too-many', tooManyCalls, { retryAfterMs: leftMs })
  const mayCall = route.scope !== undefined && mayDo(key, route.scope)
  if (mayCall && route.method !== 'GET') {
    const changes = await addTry(ctx, changeLimit, who)
    if (changes.count > changeLimit.times)
      throw new AppError('too-many', tooManyChanges, { retryAfterMs: changes.leftMs })
  }
  // A call that cannot be recorded is refused.
  await keys.note(ctx, key, route, mayCall)
  if (!route.scope) throw new AppError('forbidden', onlyPeople)
  if (!mayCall) throw lacking(key, route.scope)
  return key
}

const unknownKey =
  'Esta chave de API não existe, foi apagada ou venceu. Nada foi lido nem alterado; crie outra em Integrações.'
const tooManyCalls = `Esta chave de API já fez ${callLimit.times} chamadas em um minuto. Nada foi lido nem alterado; espere o tempo de Retry-After e repita a chamada.`
const tooManyChanges = `Esta chave de API já fez ${formatInteger(changeLimit.times)} chamadas que mudam algo em uma hora. Nada foi alterado; ler continua possível. Espere o tempo de Retry-After, ou mande mais em cada chamada.`
const onlyPeople = 'Esta chamada é só de pessoas com login: chaves de API não a fazem. Nada foi lido nem alterado.'

const mayDo = ({ scopes }: Session, scope: string) => scopes === undefined || scopes.includes(scope)

/** Refuses a key that lacks `scope`, for what a call does besides its own; a person may do everything. */
export function requireScope(session: Session, scope: NonNullable<RouteDefinition['scope']>): void {
  if (!mayDo(session, scope)) throw lacking(session, scope)
}

function lacking({ accountName }: Session, scope: string): AppError {
  return new AppError(
    'forbidden',
    `A ${accountName} não tem a permissão ${scope}, que esta chamada pede. Nada foi lido nem alterado; crie em Integrações uma chave que a tenha.`,
  )
}
