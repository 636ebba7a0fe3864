import { localTime } from '@vigia/dfe/document'
import { type EventKind, eventKind } from '@vigia/dfe/events'
import type { DocumentFacts, EventFacts } from '@vigia/dfe/read'
import { rolesOf } from '@vigia/dfe/roles'
import { searchable } from '../platform/text.ts'
import type { Arrival } from './arrival.ts'

// What would not fit in a row. The check digit of the chave is not asked for: a file with a wrong one is kept and shown.
const chaveShape = /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/

/** Why a row cannot be made of `facts`, as a sentence for people, or null. */
export function obstacleOf(facts: DocumentFacts | EventFacts): string | null {
  return facts.kind === 'document' ? documentObstacle(facts) : eventObstacle(facts)
}

function documentObstacle(facts: DocumentFacts): string | null {
  if (!chaveShape.test(facts.chave)) return 'O documento não traz uma chave de acesso de 44 posições.'
  if (!localTime(facts.issuedAt)) return 'O documento não traz uma data de emissão válida.'
  if (!/^\d{1,13}(\.\d+)?$/.test(facts.amount)) return 'O valor do documento não é um número válido.'
  return null
}

function eventObstacle(facts: EventFacts): string | null {
  if (!chaveShape.test(facts.chave)) return 'O evento não traz uma chave de acesso de 44 posições.'
  if (!isInt(facts.tpEvento, 999_999) || !isInt(facts.nSeqEvento, 9_999))
    return 'O evento não traz código e sequência válidos.'
  return null
}

const isInt = (value: number, max: number) => Number.isInteger(value) && value >= 0 && value <= max

// Weights of docs/decisions/0012-what-an-event-does.md. A cancellation ends everything; then comes what makes the document worthless,
// then a conclusive answer, which says more than ciência; the rest is the trail of the goods, where the last one counts.
const effects: Partial<
  Record<EventKind['effect'], { rank: number; status: { nfe: number | null; cte: number | null } }>
> = {
  cancels: { rank: 100, status: { nfe: 3, cte: 3 } },
  unfit: { rank: 90, status: { nfe: null, cte: null } },
  confirmed: { rank: 80, status: { nfe: 6, cte: null } },
  'unknown-operation': { rank: 80, status: { nfe: 4, cte: null } },
  'not-performed': { rank: 80, status: { nfe: 5, cte: null } },
  replaced: { rank: 70, status: { nfe: null, cte: null } },
  acknowledged: { rank: 60, status: { nfe: 8, cte: null } },
  disputed: { rank: 50, status: { nfe: null, cte: null } },
  corrected: { rank: 40, status: { nfe: null, cte: 7 } },
}
const otherEffect = { rank: 20, status: { nfe: null, cte: null } }
const noEffect = { rank: 0, status: { nfe: null, cte: null } }

const carrier = 2
const baseStatus = { authorized: 2, denied: 9, cancelled: 3, 'no-protocol': 10 }

/** What the projection writes for one company. */
export function ingestRows(arrivals: Arrival[], cnpj: string) {
  const receipts = arrivals.map(({ nsu, schema, problem, content, facts }) => ({
    nsu,
    schema: schema.slice(0, 100),
    problem: problem?.slice(0, 1000) ?? null,
    unread: facts === null,
    content,
  }))
  const documents = []
  const events = []
  for (const { nsu, facts } of arrivals) {
    if (facts?.kind === 'document') documents.push(documentRow(nsu, facts, cnpj))
    else if (facts) events.push(eventRow(nsu, facts, cnpj))
  }
  return { receipts, documents, events }
}

function documentRow(nsu: bigint, facts: DocumentFacts, cnpj: string) {
  const time = localTime(facts.issuedAt)!
  const name = cut(facts.issuerName, 300) || 'Nome não informado'
  return {
    nsu,
    chave: facts.chave,
    number: isInt(facts.numero, 999_999_999) ? facts.numero : 0,
    series: isInt(facts.serie, 999) ? facts.serie : 0,
    issuedAt: time.local,
    offset: time.offset,
    authorizedAt: instant(facts.authorizedAt),
    amount: facts.amount,
    roles: rolesOf(facts, cnpj),
    // A summary of an authorised note is still only a summary; of a cancelled or denied one it says so.
    status: !facts.complete && facts.situation === 'authorized' ? 1 : baseStatus[facts.situation],
    complete: facts.complete,
    taxId: cut(facts.issuerTaxId, 20) || facts.chave.slice(6, 20),
    name,
    search: searchable(name),
  }
}

function eventRow(nsu: bigint, facts: EventFacts, cnpj: string) {
  const kind = eventKind(facts.type, facts.tpEvento)
  const effect = facts.registration !== 'none' ? (effects[kind?.effect ?? 'none'] ?? otherEffect) : noEffect
  const happenedAt = instant(facts.dhEvento) ?? instant(facts.registeredAt) ?? '1970-01-01T00:00:00Z'
  return {
    nsu,
    chave: facts.chave,
    tpEvento: facts.tpEvento,
    sequence: facts.nSeqEvento,
    orgao: /^\d{1,3}$/.test(facts.cOrgao) ? Number(facts.cOrgao) : 0,
    rank: effect.rank,
    status: effect.status[facts.type],
    summary: facts.summary,
    stated: facts.registration === 'duplicate',
    undoes: facts.undoes?.tpEvento ?? null,
    undoesProtocol: cut(facts.undoes?.protocol, 30) || null,
    registeredAt: instant(facts.registeredAt) ?? happenedAt,
    happenedAt,
    protocol: cut(facts.protocol, 30) || null,
    author: cut(facts.authorTaxId, 20) || null,
    description: cut(facts.description, 300) || `Evento ${facts.tpEvento}`,
    justification: cut(facts.justification, 5000) || null,
    known: kind !== undefined && !kind.ownWords,
    // The one whom 110150 admits is a carrier.
    roles: facts.named?.includes(cnpj) ? 1 << carrier : 0,
  }
}

function instant(text: string | undefined): string | null {
  const time = localTime(text ?? '')
  if (!time) return null
  // An event without offset: the authority's clock is Brasília's.
  const minutes = time.offset ?? -180
  const offset = Math.abs(minutes)
  const part = (value: number) => String(value).padStart(2, '0')
  return `${time.local}${minutes < 0 ? '-' : '+'}${part(Math.floor(offset / 60))}:${part(offset % 60)}`
}

const cut = (text: string | undefined, length: number) => (text ?? '').slice(0, length)
