import type { X509Certificate } from 'node:crypto'
import {
  findChain,
  listAddresses,
  type RevocationList,
  RevocationListError,
  readRevocationList,
} from '@vigia/sefaz/chain'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { fetchOutside, OutboundError } from '../http/outbound.ts'
import { readHolderAuthorities } from '../platform/authorities.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, readWorkspace } from '../platform/database.ts'

/** Why it is not known whether a certificate was revoked. */
const problems = {
  'incomplete-file':
    'o arquivo não traz as autoridades intermediárias, e a SEFAZ pode recusá-lo; exporte-o de novo com todos os certificados do caminho e envie-o',
  'unknown-authority': 'a autoridade que o emitiu não está entre as que este sistema conhece',
  'no-address': 'o certificado não diz onde a autoridade publica os que revogou',
  unreachable: 'a lista da autoridade não pôde ser baixada',
  unverifiable: 'a lista da autoridade não pôde ser verificada',
  old: 'a lista que a autoridade publica já venceu',
}
type RevocationProblem = keyof typeof problems

/** A problem as the database keeps it, in words for people that follow "porque" or a colon. */
export function revocationProblemText(problem: string): string {
  return problems[problem as RevocationProblem]
}

// Many companies have certificates of the same authority.
const keptMs = 3_600_000
const keptBytesMax = 128 << 20
// A turn of reviews must not belong to one workspace for long; the others of its certificates are due in the next.
const withinMs = 60_000

interface DueCertificate {
  id: number
  certificate: string
  chain: string[]
}

type RevocationContext = Pick<Context, 'db' | 'config' | 'log'>
type Lists = ReturnType<typeof createLists>

/**
 * A review that asks the issuers of a workspace's certificates, and the authorities above them, whether they revoked one: each once a day, and
 * once an hour while the answer is not to be had. A certificate that no trusted authority issued is no reason to ask anybody: the address in
 * it may be anything. `stop` ends what goes on.
 */
export function createRevocationReview(stop: AbortSignal) {
  const lists = createLists(stop)
  return async function checkRevocations(ctx: RevocationContext, workspaceId: number): Promise<void> {
    const due = await listDue(ctx, workspaceId)
    if (due.length === 0) return
    const roots = await readHolderAuthorities(ctx.config)
    const started = performance.now()
    for (const one of due) {
      const chain = findChain(one, roots)
      const found = chain
        ? await askIssuers(ctx, lists, chain)
        : one.chain.length === 0
          ? 'incomplete-file'
          : 'unknown-authority'
      if (stop.aborted) return
      await noteRevocation(ctx, workspaceId, one.id, found)
      if (performance.now() - started > withinMs) return
    }
  }
}

async function listDue(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<DueCertificate[]> {
  return readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('certificate')
      .select(['id', 'certificate_pem as certificate', 'chain_pem as chain'])
      .where('workspace_id', '=', workspaceId)
      .where('replaced_at', 'is', null)
      .where('valid_from', '<=', sql<Date>`now()`)
      .where('valid_to', '>', sql<Date>`now()`)
      // Reviews are an hour apart, and never to the second.
      .where(
        sql<boolean>`coalesce(revocation_tried_at < now() - case when revocation_problem is null then interval '23 hours 30 minutes' else interval '30 minutes' end, true)`,
      )
      .orderBy(sql`revocation_tried_at nulls first`)
      .orderBy('id')
      .execute(),
  )
}

/** When a certificate was revoked, null when it was not, or why that is not known. */
type Finding = Date | null | RevocationProblem

// A revoked authority takes all that it issued with it. Nobody is above a root.
async function askIssuers(ctx: RevocationContext, lists: Lists, chain: X509Certificate[]): Promise<Finding> {
  let finding: Finding = chain.length > 1 ? null : 'unknown-authority'
  for (const [index, certificate] of chain.entries()) {
    const issuer = chain[index + 1]
    if (!issuer) break
    const found = await askIssuer(ctx, lists, certificate, issuer)
    if (found instanceof Date) return found
    finding ??= found
  }
  return finding
}

async function askIssuer(
  ctx: RevocationContext,
  lists: Lists,
  certificate: X509Certificate,
  issuer: X509Certificate,
): Promise<Finding> {
  let problem: RevocationProblem = 'no-address'
  for (const address of listAddresses(certificate)) {
    const list = await lists.fetch(`${issuer.fingerprint256} ${address}`, { context: { ctx, address, issuer } })
    if (list === undefined || typeof list === 'string') {
      problem = list ?? 'unreachable'
      continue
    }
    try {
      const revokedAt = list.find(certificate)
      // What an old list names stays revoked.
      if (revokedAt || (list.nextUpdate && list.nextUpdate > new Date())) return revokedAt
      problem = 'old'
    } catch (error) {
      if (!(error instanceof RevocationListError)) throw error
      ctx.log.warn({ err: error, address }, 'a list of revoked certificates does not tell of a certificate')
      problem = 'unverifiable'
    }
  }
  return problem
}

interface ListSource {
  ctx: RevocationContext
  address: string
  issuer: X509Certificate
}

// What failed is kept as well: three hundred certificates must not wait three hundred times for the same address.
function createLists(stop: AbortSignal) {
  return new LRUCache<string, RevocationList | RevocationProblem, ListSource>({
    maxSize: keptBytesMax,
    sizeCalculation: (list) => (typeof list === 'string' ? 1 : list.bytes),
    ttl: keptMs,
    fetchMethod: async (_key, _stale, { context, options }) => {
      const list = await fetchList(context, stop)
      const holdsMs = typeof list === 'string' || !list.nextUpdate ? keptMs : list.nextUpdate.getTime() - Date.now()
      // There is a newer one then.
      if (holdsMs > 0) options.ttl = Math.min(keptMs, holdsMs)
      return list
    },
  })
}

async function fetchList(
  { ctx, address, issuer }: ListSource,
  stop: AbortSignal,
): Promise<RevocationList | RevocationProblem> {
  const { simulator, sefaz } = ctx.config
  const exempt = simulator && new URL(sefaz.endpoints.distribution.nfe).host
  try {
    return await readRevocationList(await fetchOutside(address, { exempt, stop }), issuer)
  } catch (error) {
    if (!(error instanceof OutboundError || error instanceof RevocationListError)) throw error
    ctx.log.warn({ err: error, address }, 'a list of revoked certificates cannot be used')
    return error instanceof OutboundError ? 'unreachable' : 'unverifiable'
  }
}

async function noteRevocation(
  ctx: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  certificateId: number,
  found: Finding,
): Promise<void> {
  const isKnown = typeof found !== 'string'
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .updateTable('certificate')
      .set({
        revocation_tried_at: sql<Date>`now()`,
        revocation_problem: isKnown ? null : found,
        // While the answer is not to be had, the last one holds.
        ...(isKnown && { revocation_checked_at: sql<Date>`now()`, revoked_at: found }),
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', certificateId)
      .execute(),
  )
  if (found instanceof Date)
    ctx.log.warn({ workspaceId, certificateId, revokedAt: found }, 'a certificate was revoked by its issuer')
}
