import type { RouteDefinition } from '@vigia/contract/route'

/** The numbers of the door, per address (with IPv6, its network). docs/security.md has the same table. */
export const doorLimits = {
  /** Calls without a token that this process saw valid. */
  calls: { perSecond: 20, burst: 200 },
  /** Pages and files of the site. */
  files: { perSecond: 100, burst: 2_000 },
  /** Look-ups of tokens that found nothing. */
  failures: { perSecond: 30 / 60, burst: 30 },
  /** Look-ups at once of tokens that are not known. */
  lookups: 4,
  /** Calls with one unknown token that count as one, because they share its look-up. */
  shared: 20,
  /** How long a token counts as known, or as dead. */
  rememberedMs: 3_600_000,
  /** Refused calls that wait at once, and how long each does. */
  refused: 32,
  refusedMs: 1_000,
  /** Maximum body bytes: of calls without a session, of other calls, and of a body dropped unread. */
  openBody: 16 * 1024,
  body: 256 * 1024,
  unreadBody: 256 * 1024,
}

/** The largest body that a call of `route` may have. */
export function bodyBytesMax({ access }: Pick<RouteDefinition, 'access'>): number {
  return access === 'public' ? doorLimits.openBody : doorLimits.body
}
