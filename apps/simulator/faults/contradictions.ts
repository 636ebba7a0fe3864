import { gunzipSync, gzipSync } from 'node:zlib'
import type { Authority } from '../authority.ts'
import {
  type DistributionOutcome,
  type DistributionQuery,
  isExpired,
  misuse,
  pageSize,
  type ReturnedDocument,
  rejection,
  toDocument,
} from '../distribution.ts'
import type { Service } from '../inspect.ts'
import type { ServiceUsage } from '../ledger.ts'
import type { Contradiction, Fault, FaultName } from './faults.ts'

/** A query, the truthful response to it, and what was known of its sender before. */
interface TruthfulCall {
  service: Service
  taxId: string
  query: DistributionQuery
  outcome: DistributionOutcome
  before: ServiceUsage
}

interface Contradicted {
  outcome: DistributionOutcome
  /** What the authority knows of the sender from now on. */
  usage?: Partial<ServiceUsage>
}

const absurdNsu = 999_999_999_999_999

// The authority believes what it said: the cursor that it told is the one that it expects next.
const contradictions: Record<
  Contradiction,
  (authority: Authority, call: TruthfulCall, fault: Fault) => Contradicted | null
> = {
  // The bytes of a position change: of a consNSU, or of the last of a page, again in the next page or in the same.
  sameNsuOtherBytes: (authority, { service, taxId, query, outcome }, { withinPage }) => {
    const { cStat, documents } = outcome
    if (cStat !== 138 || 'chNFe' in query) return null
    if ('nsu' in query) return { outcome: { ...outcome, documents: documents.map(withOtherBytes) } }
    const kept = documents.slice(0, pageSize - 1)
    const repeated = withinPage ? kept.at(-1) : positionBefore(authority, { service, taxId }, query.ultNSU)
    if (repeated === undefined) return null
    const other = withOtherBytes(repeated)
    const page = { ...outcome, documents: withinPage ? [...kept, other] : [other, ...kept] }
    if (kept.length === documents.length) return { outcome: page }
    // A page has no more places: the last document waits for the next one.
    const ultNSU = kept.at(-1)?.nsu ?? 0
    return { outcome: { ...page, ultNSU }, usage: { lastReturned: ultNSU, endReachedAt: null } }
  },
  // The second half of a page is missing, the cursor is not; consNSU has it.
  ultNsuBeyondDocuments: (_, { query, outcome }) => {
    const { documents } = outcome
    if (!('ultNSU' in query) || documents.length < 2) return null
    return { outcome: { ...outcome, documents: documents.slice(0, Math.ceil(documents.length / 2)) } }
  },
  // A whole page is passed over as if nothing were there.
  higherUltNsuOn137: ({ clock }, { query, outcome }) => {
    if (!('ultNSU' in query) || outcome.cStat !== 138) return null
    const { cStat, xMotivo } = rejection(137)
    return {
      outcome: { ...outcome, cStat, xMotivo, maxNSU: outcome.ultNSU, documents: [] },
      usage: { endReachedAt: clock.now() },
    }
  },
  // A block that the client did not cause, with a cursor that no sequence reaches.
  absurdUltNsu: ({ clock, hourMs }, { query, outcome, before }) => {
    if (!('ultNSU' in query) || (outcome.cStat !== 137 && outcome.cStat !== 138)) return null
    const { sequence: xMotivo } = misuse
    return {
      outcome: { cStat: 656, xMotivo, ultNSU: absurdNsu, maxNSU: 0, documents: [], excused: true },
      usage: { ...before, blockedUntil: clock.now() + hourMs, blockReason: xMotivo },
    }
  },
  // The page again and again, with the cursor that was sent.
  noProgress: (_, { query, outcome }) => {
    if (!('ultNSU' in query) || outcome.cStat !== 138) return null
    const { ultNSU } = query
    return { outcome: { ...outcome, ultNSU }, usage: { lastReturned: ultNSU, endReachedAt: null } }
  },
  dhRespOffset: ({ clock }, { outcome }, { offsetMs }) => ({ outcome: { ...outcome, at: clock.now() + offsetMs } }),
}

export function isContradiction(fault: FaultName): fault is Contradiction {
  return fault in contradictions
}

/** What this fault makes of a truthful response; null when it gives no occasion to contradict it. */
export function contradict(authority: Authority, call: TruthfulCall, fault: Fault): Contradicted | null {
  return isContradiction(fault.fault) ? contradictions[fault.fault](authority, call, fault) : null
}

function positionBefore(
  { ledger, clock }: Authority,
  { service, taxId }: Pick<TruthfulCall, 'service' | 'taxId'>,
  nsu: number,
): ReturnedDocument | undefined {
  const published = ledger.sequence(service, taxId)[nsu - 1]
  if (published === undefined || isExpired(published, clock.now())) return undefined
  return toDocument(ledger, nsu, published)
}

// A comment behind the document: it stays well-formed, its signature valid.
function withOtherBytes(document: ReturnedDocument): ReturnedDocument {
  const gzip = gzipSync(Buffer.concat([gunzipSync(document.gzip), Buffer.from('<!-- outra -->')]))
  return { ...document, gzip }
}
