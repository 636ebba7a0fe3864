import { localTime } from '@vigia/dfe/document'
import type { OwnAnswer } from '@vigia/dfe/families/family'
import { eventKind, familyById, keyOf } from '@vigia/dfe/families/lookup'
import { nfeRole } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import type { Proof } from '@vigia/dfe/proof'
import type { DocumentFacts, EventFacts } from '@vigia/dfe/read'
import { rolesOf } from '@vigia/dfe/roles'
import { searchable } from '../platform/text.ts'
import type { Arrival } from './arrival.ts'
import type { ChangeKind } from './changes.ts'
import type { InsideContents } from './contents/inside.ts'
import { answersIn, dueOf } from './due.ts'
import {
  bestCopy,
  bestEvents,
  type DisplayedStanding,
  type EventClaim,
  effectOf,
  standingOf,
  statusOfCopies,
  undoneOf,
} from './standing.ts'

/** Facts of the best copy of a document. */
interface DocumentCopy {
  chave: string
  nsu: bigint
  complete: boolean
  number: number
  /** Null where the family has none. */
  series: number | null
  /** Local date and time as printed, and its minutes east of UTC. */
  issued_at: string
  issued_offset: number | null
  authorized_at: string | null
  amount: string
  nat_op: string | null
  /** Only for a CT-e: 1 complemento, 2 anulação, 3 and 6 substituição. */
  tp_cte: number | null
  /** Chave of the document that this one corrects (CT-e) or replaces. */
  corrects: string | null
  /** Null for a summary, and in a family that is not verified. */
  proof: Proof | null
  /** IBS and CBS as in `document`; null: a summary. */
  reform: number | null
  misfits: boolean
  ibs: number | null
  cbs: number | null
}

/** The type of each column of a row. */
export type Types<Row> = Record<keyof Row & string, string>

export const copyTypes: Types<DocumentCopy> = {
  chave: 'text',
  nsu: 'bigint',
  complete: 'boolean',
  number: 'bigint',
  series: 'smallint',
  issued_at: 'timestamp',
  issued_offset: 'smallint',
  authorized_at: 'timestamptz',
  amount: 'numeric(15, 2)',
  nat_op: 'text',
  tp_cte: 'smallint',
  corrects: 'text',
  proof: 'text',
  reform: 'smallint',
  misfits: 'boolean',
  ibs: 'bigint',
  cbs: 'bigint',
}

export interface SupplierName {
  tax_id: string
  name: string
  search: string
}

export type ProjectedDocument = DocumentCopy & DisplayedStanding & SupplierName

export interface EventRow extends EventClaim {
  chave: string
  happened_at: string
  author: string | null
  justification: string | null
  undone: boolean
  /** Null where only a summary or a statement of it is here, and where it was not verified. */
  proof: Proof | null
}

/** Stored state of a document for which something arrived. */
export type ExistingDocument = Pick<
  DocumentCopy,
  'chave' | 'nsu' | 'complete' | 'proof' | 'issued_at' | 'authorized_at' | 'amount'
> &
  DisplayedStanding & { own_answers: OwnAnswer[] | null }
/** Stored state of an event of such a document. */
export type ExistingEvent = EventClaim & Pick<EventRow, 'chave' | 'undone' | 'author'>

/** Subtracts (-1) or adds (+1) one document in the counters. */
export type Move = Pick<ProjectedDocument, 'issued_at' | 'amount' | 'roles' | 'status'> & { sign: 1 | -1 }

/** A document as it is counted. */
export interface Counted {
  chave: string
  /** Local time without its offset. */
  issued_at: string
  status: number
  event_code: number
  /** First registration of a cancellation. */
  cancelledAt: string | null
  isNew: boolean
}

export interface Changes {
  /** New documents, and those with a better copy. */
  documents: (ProjectedDocument & Counted)[]
  standings: (DisplayedStanding & Counted)[]
  /** New events, and those with a better copy. */
  events: EventRow[]
  /** Events of which only `undone` changes. */
  undone: Pick<EventRow, 'chave' | 'tp_evento' | 'sequence' | 'orgao' | 'undone'>[]
  moves: Move[]
  inserted: number
  /** Summaries that got their complete document. */
  completed: number
  /** Changes for the change feed of the workspace. */
  feed: { chave: string; kind: ChangeKind }[]
}

/** Documents that another one replaces, and the status that they have by it. */
export interface Replaced {
  status: number
  chaves: ReadonlySet<string>
}

interface ArrivedRows {
  documents: (DocumentCopy & SupplierName & Pick<DisplayedStanding, 'base_status' | 'roles'>)[]
  events: EventRow[]
}

/** Rows of `arrivals` for the company with that CNPJ. */
export function rowsOf(arrivals: readonly Arrival[], cnpj: string): ArrivedRows {
  const rows: ArrivedRows = { documents: [], events: [] }
  for (const { nsu, facts, proof, inside } of arrivals) {
    if (facts?.kind === 'document')
      rows.documents.push({ ...documentRow(nsu, facts, cnpj), ...reformIn(inside?.contents), proof })
    else if (facts) rows.events.push({ ...eventRow(nsu, facts, cnpj), proof })
  }
  return rows
}

/** Computes the changes for new arrivals; `existing` holds the rows of their chaves and of replaced documents. */
export function project(
  existing: { documents: readonly ExistingDocument[]; events: readonly ExistingEvent[] },
  arrived: ArrivedRows,
  { cnpj, now }: { cnpj: string; now: Date },
  replaced: Replaced = { status: status.authorized, chaves: new Set() },
): Changes {
  const changes: Changes = {
    documents: [],
    standings: [],
    events: [],
    undone: [],
    moves: [],
    inserted: 0,
    completed: 0,
    feed: [],
  }
  const before = new Map(existing.documents.map((document) => [document.chave, document]))
  const eventsBefore = Map.groupBy(existing.events, ({ chave }) => chave)
  const copies = Map.groupBy(arrived.documents, ({ chave }) => chave)
  const events = Map.groupBy(arrived.events, ({ chave }) => chave)
  for (const chave of new Set([...copies.keys(), ...events.keys(), ...replaced.chaves])) {
    const known = bestEvents([...(eventsBefore.get(chave) ?? []), ...(events.get(chave) ?? [])])
    const undone = undoneOf(known)
    addEvents(changes, known, undone)
    const least = replaced.chaves.has(chave) ? [replaced.status] : []
    addDocument(changes, before.get(chave), copies.get(chave) ?? [], least, (base, best) => {
      const standing = { ...standingOf(base, known, undone), cancelledAt: cancelledIn(known) }
      const own = [...answersIn(known, cnpj), ...(before.get(chave)?.own_answers ?? [])]
      return { ...standing, ...dueOf({ ...best, ...standing }, own, now) }
    })
  }
  return changes
}

/** Events that cancel a document. */
export const cancellations = [110111, 110112]

const cancelledIn = (events: readonly EventClaim[]) =>
  events
    .filter(({ rank, tp_evento }) => rank > 0 && cancellations.includes(tp_evento))
    .map(({ registered_at }) => registered_at)
    .sort()[0] ?? null

function addEvents(
  changes: Changes,
  known: readonly (ExistingEvent | EventRow)[],
  undone: ReadonlySet<ExistingEvent | EventRow>,
): void {
  for (const event of known) {
    const isUndone = undone.has(event)
    if ('happened_at' in event) changes.events.push({ ...event, undone: isUndone })
    else if (event.undone !== isUndone) {
      const { chave, tp_evento, sequence, orgao } = event
      changes.undone.push({ chave, tp_evento, sequence, orgao, undone: isUndone })
    }
  }
}

function addDocument(
  changes: Changes,
  before: ExistingDocument | undefined,
  copies: ArrivedRows['documents'],
  statuses: readonly number[],
  stand: (
    base: Pick<DisplayedStanding, 'base_status' | 'roles'>,
    best: Pick<DocumentCopy, 'chave' | 'complete' | 'authorized_at'>,
  ) => DisplayedStanding & Pick<Counted, 'cancelledAt'>,
): void {
  const all = [...(before ? [before] : []), ...copies]
  if (all.length === 0) return
  const best = bestCopy<ExistingDocument | ArrivedRows['documents'][number]>(all)
  // A copy that is not the best may still add a role or a heavier status (a summary of a cancelled note).
  const base_status = statusOfCopies(best.base_status, [...all.map(({ base_status }) => base_status), ...statuses])
  const roles = all.reduce((mask, { roles }) => mask | roles, 0)
  const standing = { ...stand({ base_status, roles }, best), isNew: before === undefined }
  if ('search' in best) changes.documents.push({ ...best, ...standing })
  else if (isSame(best, standing)) return
  else changes.standings.push({ chave: best.chave, issued_at: best.issued_at, ...standing })
  if (before) changes.moves.push(moveOf(before, before, -1))
  else changes.inserted++
  changes.moves.push(moveOf(best, standing, 1))
  if (before && best.complete && !before.complete) changes.completed++
  for (const kind of changesOf(before, best, standing)) changes.feed.push({ chave: best.chave, kind })
}

const authorised = 100

function changesOf(
  before: ExistingDocument | undefined,
  { complete, nsu }: Pick<DocumentCopy, 'complete' | 'nsu'>,
  standing: DisplayedStanding,
): ChangeKind[] {
  const isCancelled = standing.status === status.cancelled && before?.status !== status.cancelled
  if (!before) return isCancelled ? ['new', 'cancelled'] : ['new']
  const isCompleted = complete && !before.complete
  // Completion tells already that a summary became an authorised note.
  const isStanding = isCompleted
    ? standing.event_code !== before.event_code && standing.event_code !== authorised
    : !isShownSame(before, standing) || (complete && nsu !== before.nsu)
  return [
    ...(isCompleted ? ['completed' as const] : []),
    ...(isCancelled ? ['cancelled' as const] : isStanding ? ['standing' as const] : []),
  ]
}

const isShownSame = (a: DisplayedStanding, b: DisplayedStanding) =>
  a.roles === b.roles && a.status === b.status && a.event_code === b.event_code && a.event_text === b.event_text

const isSame = (a: DisplayedStanding, b: DisplayedStanding) =>
  isShownSame(a, b) && a.base_status === b.base_status && a.answer_due_at === b.answer_due_at

const moveOf = (
  { issued_at, amount }: Pick<DocumentCopy, 'issued_at' | 'amount'>,
  { roles, status }: Pick<DisplayedStanding, 'roles' | 'status'>,
  sign: 1 | -1,
): Move => ({ issued_at, amount, roles, status, sign })

const baseStatus = {
  authorized: status.authorized,
  denied: status.denied,
  cancelled: status.cancelled,
  'no-protocol': status.noProtocol,
}

// The groups are missing, which `reform` says already.
const missing = 'rt-sem-grupo'

const reformIn = (contents: InsideContents | null | undefined) => ({
  reform: contents?.reform ?? null,
  misfits: (contents?.findings ?? []).some(({ code }) => code !== missing),
  ibs: contents?.ibs ?? null,
  cbs: contents?.cbs ?? null,
})

function documentRow(
  nsu: bigint,
  facts: DocumentFacts,
  cnpj: string,
): Omit<ArrivedRows['documents'][number], 'proof' | keyof ReturnType<typeof reformIn>> {
  const time = localTime(facts.issuedAt)!
  const name = clipped(facts.issuerName, 300) || 'Nome não informado'
  return {
    nsu,
    chave: facts.chave,
    complete: facts.complete,
    number: numberUpTo(9_999_999_999_999, facts.numero),
    series: facts.serie === null ? null : numberUpTo(999, facts.serie),
    issued_at: time.local,
    issued_offset: time.offset,
    authorized_at: instant(facts.authorizedAt),
    amount: facts.amount,
    nat_op: clipped(facts.natOp, 100) || null,
    tp_cte: /^[0-9]$/.test(facts.tpCTe ?? '') ? Number(facts.tpCTe) : null,
    corrects: (familyById(facts.type).replacedStatus === null ? facts.corrects : facts.replaces) ?? null,
    roles: rolesOf(facts, cnpj),
    // A summary of an authorised note is still only a summary; of a cancelled or denied one it says so.
    base_status: !facts.complete && facts.situation === 'authorized' ? status.summary : baseStatus[facts.situation],
    tax_id: clipped(facts.issuerTaxId, 20) || keyOf(facts.chave).issuer,
    name,
    search: searchable(name),
  }
}

function eventRow(nsu: bigint, facts: EventFacts, cnpj: string): Omit<EventRow, 'proof'> {
  const kind = eventKind(facts.type, facts.tpEvento)
  const { rank, status } = facts.registration === 'none' ? { rank: 0, status: null } : effectOf(kind)
  const happened_at = instant(facts.dhEvento) ?? instant(facts.registeredAt) ?? new Date(0).toISOString()
  return {
    nsu,
    chave: facts.chave,
    tp_evento: facts.tpEvento,
    sequence: facts.nSeqEvento,
    orgao: /^\d{1,3}$/.test(facts.cOrgao) ? Number(facts.cOrgao) : 0,
    rank,
    status,
    summary: facts.summary,
    stated: facts.registration === 'duplicate',
    undoes: facts.undoes?.tpEvento ?? null,
    undoes_protocol: clipped(facts.undoes?.protocol, 30) || null,
    undone: false,
    registered_at: instant(facts.registeredAt) ?? happened_at,
    happened_at,
    protocol: clipped(facts.protocol, 30) || null,
    author: clipped(facts.authorTaxId, 20) || null,
    description: clipped(facts.description, 300) || `Evento ${facts.tpEvento}`,
    justification: clipped(facts.justification, 5000) || null,
    known: kind !== undefined && !kind.ownWords,
    // The company that 110150 admits is a carrier.
    roles: facts.named?.includes(cnpj) ? 1 << nfeRole.transportador : 0,
  }
}

// Times without an offset come from the authority and are Brasília time.
const brasilia = -180

function instant(text: string | undefined): string | null {
  const time = localTime(text ?? '')
  if (!time) return null
  return new Date(Date.parse(`${time.local}Z`) - (time.offset ?? brasilia) * 60_000).toISOString()
}

const numberUpTo = (max: number, value: number) => (Number.isInteger(value) && value >= 0 && value <= max ? value : 0)

// A slice may cut a surrogate pair; PostgreSQL refuses lone surrogates.
const clipped = (text: string | undefined, length: number) => (text ?? '').slice(0, length).toWellFormed()
