import type { Clock } from './clock.ts'
import { parseInstant } from './clock.ts'
import {
  type Inspected,
  type InvolvedParty,
  inspect,
  isManifestation,
  type PartyRole,
  type Refused,
  type Service,
} from './inspect.ts'
import {
  type ContentRef,
  type FileSource,
  type Ledger,
  type LedgerRecord,
  type Published,
  type ReceivedRecord,
  sequenceKey,
} from './ledger.ts'
import { documentDelivery, eventDelivery, rolesByTaxpayer, withoutChaves } from './recipients.ts'
import { summaryOfNfe } from './summaries.ts'

interface IncomingFile {
  /** Read when needed: an archive may be larger than the memory. */
  load: () => Uint8Array
  source?: FileSource
  /** Kept together with it, or not at all. */
  also?: LedgerRecord[]
}

/** Result of receiving a file: refused, known already, or delivered to these taxpayers. */
export interface Reception {
  source?: FileSource
  outcome: 'accepted' | 'duplicate' | 'refused'
  reason?: string
  chave?: string
  delivered: { service: Service; taxId: string; nsu: number }[]
}

export interface ReceiveOptions {
  /** The destinatários answered earlier in another system: they get the summary, then the XML. */
  answered?: boolean
  /** Makes the parties users of the service; otherwise only existing users get an NSU. */
  activateParties: boolean
  /** Deadlines run from the authorisation in the document, not from its arrival. */
  authorizedHere?: boolean
  /** How long after the answer of the destinatário its XML follows. */
  xmlDelayMs?: number
}

/** NSU are generated only for who used distNSU in this time (NT 2014.002, since v1.10). */
const activeDays = 60
const dayMs = 86_400_000

/** Part of a tax id that shares certificate and 60 days: the base of a CNPJ, a whole CPF. */
export function taxpayerBase(taxId: string): string {
  return taxId.length === 14 ? taxId.slice(0, 8) : taxId
}

export function isActive(ledger: Ledger, service: Service, taxId: string, at: number): boolean {
  const lastUse = ledger.lastUse(service, taxpayerBase(taxId))
  return lastUse !== undefined && at - lastUse <= activeDays * dayMs
}

/** Registers a taxpayer as user of both services. */
export function activate(ledger: Ledger, taxId: string, at: number): void {
  for (const service of ['nfe', 'cte'] as const) ledger.touch(service, taxpayerBase(taxId), at)
}

/** Publishes any bytes to a taxpayer under any schema name. */
export function publishRaw(
  ledger: Ledger,
  clock: Clock,
  raw: { service: Service; taxId: string; schema: string; bytes: Uint8Array },
): number {
  const at = clock.now()
  activate(ledger, raw.taxId, at)
  const { service, taxId, schema } = raw
  ledger.append([{ type: 'nsu', at, service, taxId, schema, kind: 'raw', content: ledger.store(raw.bytes), roles: [] }])
  return ledger.sequence(service, taxId).length
}

/** Releases XML and held events after the destinatário of an NF-e answered elsewhere. */
export function release(ledger: Ledger, clock: Clock, chave: string): void {
  if (ledger.released.has(chave)) return
  const at = clock.now()
  const published = new BatchReception(ledger, at, new Map()).releasedNow(chave)
  ledger.append([{ type: 'released', at, chave }, ...published])
}

/** Publishes delayed XML that is due. */
export function releaseDue(ledger: Ledger, clock: Clock): void {
  const now = clock.now()
  const due = [...ledger.awaited].filter(([, dueAt]) => dueAt <= now).sort(([, a], [, b]) => a - b)
  for (const [chave] of due) release(ledger, clock, chave)
}

interface BatchEntry {
  load: () => Uint8Array
  source?: FileSource
  facts: Inspected
  identity: string
  reception: Reception
  also: LedgerRecord[]
  authorizedAt?: number
  /** The resNFe of the archive that replaces the generated one. */
  summary?: Uint8Array
}

/**
 * Receives documents, summaries and events like the Ambiente Nacional, and distributes them by its
 * table.
 */
export function publishFiles(
  ledger: Ledger,
  clock: Clock,
  incoming: IncomingFile[],
  options: ReceiveOptions,
): Reception[] {
  const at = clock.now()
  const { receptions, entries } = sortIn(ledger, incoming, options)
  const batch = new Map(entries.filter((one) => one.facts.kind === 'document').map((one) => [one.facts.chave, one]))
  const session = new BatchReception(ledger, at, batch, options.xmlDelayMs)
  for (const entry of entries) if (entry.facts.kind === 'summary') session.attachSummary(entry)
  const queue = entries.filter((entry) => entry.facts.kind !== 'summary')
  if (options.activateParties) {
    for (const { taxId } of queue.flatMap((entry) => session.partiesOf(entry.facts))) activate(ledger, taxId, at)
  }
  if (options.answered) {
    const chaves = new Set(queue.filter((entry) => entry.facts.service === 'nfe').map((entry) => entry.facts.chave))
    ledger.append([...chaves].map((chave) => ({ type: 'released', at, chave })))
  }
  // NSU follow the order of reception at the Ambiente Nacional, which is that of the registrations.
  const order = new Map(
    queue.map((entry, index) => [entry, [parseInstant(entry.facts.registeredAt) ?? at, index] as const]),
  )
  queue.sort((a, b) => {
    const [atA, indexA] = order.get(a) ?? [0, 0]
    const [atB, indexB] = order.get(b) ?? [0, 0]
    return atA - atB || rank(a) - rank(b) || indexA - indexB
  })
  for (const entry of queue) session.take(entry)
  return receptions
}

function rank(entry: BatchEntry): number {
  return entry.facts.kind === 'document' ? 0 : 1
}

function sortIn(
  ledger: Ledger,
  incoming: IncomingFile[],
  { authorizedHere }: ReceiveOptions,
): { receptions: Reception[]; entries: BatchEntry[] } {
  const receptions: Reception[] = []
  const entries: BatchEntry[] = []
  const seen = new Set<string>()
  for (const { load, source, also = [] } of incoming) {
    const reception: Reception = { source, outcome: 'accepted', delivered: [] }
    receptions.push(reception)
    const facts = inspectLoaded(load)
    if ('refused' in facts) {
      Object.assign(reception, { outcome: 'refused', reason: facts.refused })
      continue
    }
    reception.chave = facts.chave
    const identity = identityOf(facts)
    if (ledger.received.has(identity) || seen.has(identity)) {
      Object.assign(reception, { outcome: 'duplicate', reason: 'já recebido (mesma chave e mesmo tipo)' })
      continue
    }
    seen.add(identity)
    const authorizedAt = authorizedHere && facts.kind === 'document' ? parseInstant(facts.registeredAt) : undefined
    entries.push({ load, source, facts, identity, reception, also, authorizedAt })
  }
  return { receptions, entries }
}

function inspectLoaded(load: () => Uint8Array): Inspected | Refused {
  let bytes: Uint8Array
  try {
    bytes = load()
  } catch (error) {
    return { refused: `não pôde ser lido (${error instanceof Error ? error.message : String(error)})` }
  }
  return inspect(bytes)
}

function identityOf(facts: Inspected): string {
  const { service, kind, chave, tpEvento = '', nSeqEvento = '', cOrgao = '' } = facts
  return [service, kind, chave, tpEvento, nSeqEvento, cOrgao].join(':')
}

class BatchReception {
  readonly ledger: Ledger
  readonly at: number
  /** Documents of the same batch, which an event may precede. */
  readonly batch: Map<string, BatchEntry>
  readonly xmlDelayMs: number

  constructor(ledger: Ledger, at: number, batch: Map<string, BatchEntry>, xmlDelayMs = 0) {
    this.ledger = ledger
    this.at = at
    this.batch = batch
    this.xmlDelayMs = xmlDelayMs
  }

  // A resNFe names no destinatário: it replaces the one generated from its NF-e.
  attachSummary(entry: BatchEntry): void {
    const { ledger } = this
    const { chave } = entry.facts
    const document = this.batch.get(chave)
    if (document !== undefined) {
      document.summary = entry.load()
      const { identity, facts, source } = entry
      ledger.append([
        { type: 'received', at: this.at, identity, content: ledger.store(document.summary), facts, source },
      ])
    } else if (ledger.documents.has(chave)) {
      Object.assign(entry.reception, { outcome: 'duplicate', reason: 'o resumo desta NF-e já foi distribuído' })
    } else {
      const reason = 'resumo sem a NF-e da mesma chave: não diz quem é o destinatário'
      Object.assign(entry.reception, { outcome: 'refused', reason })
    }
  }

  take(entry: BatchEntry): void {
    const { ledger, at } = this
    const { identity, facts, source, authorizedAt } = entry
    const bytes = entry.load()
    const content = ledger.store(bytes)
    const record: ReceivedRecord = { type: 'received', at, identity, content, facts, source, authorizedAt }
    const published = facts.kind === 'document' ? this.document(entry, bytes, content) : this.event(record)
    const records: LedgerRecord[] = [record, ...entry.also, ...published]
    if (facts.kind === 'event' && this.releases(facts)) {
      const { chave } = facts
      if (this.xmlDelayMs > 0) records.push({ type: 'answered', dueAt: at + this.xmlDelayMs, chave })
      else records.push({ type: 'released', at, chave }, ...this.releasedNow(chave))
    }
    const before = new Map<string, number>()
    for (const one of records) {
      if (one.type !== 'nsu') continue
      const key = sequenceKey(one.service, one.taxId)
      const nsu = (before.get(key) ?? ledger.sequence(one.service, one.taxId).length) + 1
      before.set(key, nsu)
      entry.reception.delivered.push({ service: one.service, taxId: one.taxId, nsu })
    }
    ledger.append(records)
  }

  document(entry: BatchEntry, bytes: Uint8Array, content: ContentRef): Published[] {
    const { facts } = entry
    const published: Published[] = []
    for (const [taxId, roles] of rolesByTaxpayer(this.partiesOf(facts))) {
      const delivery = documentDelivery(facts.service, roles)
      if (delivery === 'none' || !isActive(this.ledger, facts.service, taxId, this.at)) continue
      const own = { ...this.describe(facts), taxId, roles: [...roles] }
      if (delivery === 'complete') published.push({ ...own, content })
      else if (delivery === 'without-chaves')
        published.push({ ...own, content: this.ledger.store(withoutChaves(bytes)) })
      else {
        const cSitNFe = facts.situation === 'denied' ? '2' : facts.situation === 'cancelled' ? '3' : '1'
        const summary = entry.summary ?? summaryOfNfe(bytes, facts.chave, cSitNFe)
        const schema = entry.summary === undefined ? 'resNFe_v1.01.xsd' : summarySchema(entry.summary)
        published.push({ ...own, kind: 'summary', schema, content: this.ledger.store(summary) })
        if (!this.ledger.released.has(facts.chave)) continue
        published.push({ ...own, content })
        for (const event of this.ledger.events.get(facts.chave) ?? []) {
          if (this.waits(event.facts, taxId, roles)) published.push(this.describeEvent(event, taxId, roles))
        }
      }
    }
    return published
  }

  event(record: ReceivedRecord): Published[] {
    const { facts } = record
    const published: Published[] = []
    for (const [taxId, roles] of rolesByTaxpayer(this.partiesOf(facts))) {
      if (!isActive(this.ledger, facts.service, taxId, this.at)) continue
      // An event 110150 opens the XML itself to whom it names.
      const document = this.ledger.documents.get(facts.chave)
      if (document !== undefined && roles.size === 1 && facts.parties.some((one) => one.taxId === taxId)) {
        if (roles.has('ator-interessado') && !this.has(taxId, facts.chave)) {
          published.push({ ...this.describe(document.facts), taxId, roles: [...roles], content: document.content })
        }
      }
      const delivery = eventDelivery(facts.service, facts.tpEvento ?? 0, roles, facts.author === taxId)
      const waits = delivery === 'when-released' && !this.ledger.released.has(facts.chave)
      if (delivery !== 'never' && !waits) published.push(this.describeEvent(record, taxId, roles))
    }
    return published
  }

  releases(facts: Inspected): boolean {
    if (facts.service !== 'nfe' || !isManifestation(facts.tpEvento ?? 0) || facts.tpEvento === 210220) return false
    if (this.ledger.released.has(facts.chave) || this.ledger.awaited.has(facts.chave)) return false
    const recipients = this.partiesOf(facts).filter((one) => one.role === 'destinatario')
    return recipients.some((one) => one.taxId === facts.author)
  }

  // The XML and the events that were waiting for the answer of the destinatário.
  releasedNow(chave: string): Published[] {
    const document = this.ledger.documents.get(chave)
    if (document === undefined) return []
    const published: Published[] = []
    for (const [taxId, roles] of rolesByTaxpayer(this.partiesOf(document.facts))) {
      if (documentDelivery('nfe', roles) !== 'summary-first') continue
      if (!isActive(this.ledger, 'nfe', taxId, this.at)) continue
      published.push({ ...this.describe(document.facts), taxId, roles: [...roles], content: document.content })
      for (const event of this.ledger.events.get(chave) ?? []) {
        if (this.waits(event.facts, taxId, roles)) published.push(this.describeEvent(event, taxId, roles))
      }
    }
    return published
  }

  waits(facts: Inspected, taxId: string, roles: Set<PartyRole>): boolean {
    if (this.hasEvent(taxId, facts)) return false
    return eventDelivery('nfe', facts.tpEvento ?? 0, roles, facts.author === taxId) === 'when-released'
  }

  has(taxId: string, chave: string): boolean {
    return this.ledger.sequence('nfe', taxId).some((one) => one.chave === chave && one.kind === 'document')
  }

  hasEvent(taxId: string, { chave, kind, tpEvento, nSeqEvento }: Inspected): boolean {
    return this.ledger
      .sequence('nfe', taxId)
      .some(
        (one) => one.chave === chave && one.kind === kind && one.tpEvento === tpEvento && one.nSeqEvento === nSeqEvento,
      )
  }

  /** Parties of the document of a file: from the document, else its chave, and from its events. */
  partiesOf(facts: Inspected): InvolvedParty[] {
    const { chave, service } = facts
    const document =
      facts.kind === 'document' ? facts : (this.ledger.documents.get(chave)?.facts ?? this.batch.get(chave)?.facts)
    const events = [...(this.ledger.events.get(chave) ?? []).map((one) => one.facts), facts]
    const interested = events.flatMap((one) => one.parties.filter((party) => party.role === 'ator-interessado'))
    if (document !== undefined) return [...document.parties, ...interested]
    return [...issuerInChave(chave), ...events.flatMap((one) => (one.service === service ? one.parties : []))]
  }

  describe(facts: Inspected): Omit<Published, 'taxId' | 'roles' | 'content'> {
    const { service, schema, kind, chave } = facts
    return { type: 'nsu', at: this.at, service, schema, kind, chave }
  }

  describeEvent(event: ReceivedRecord, taxId: string, roles: Set<PartyRole>): Published {
    const { tpEvento, nSeqEvento } = event.facts
    return { ...this.describe(event.facts), tpEvento, nSeqEvento, taxId, roles: [...roles], content: event.content }
  }
}

// Série 890 to 899 carries the CNPJ of the SEFAZ; 920 to 969 a CPF behind three zeros.
function issuerInChave(chave: string): InvolvedParty[] {
  const serie = Number(chave.slice(22, 25))
  if (serie >= 890 && serie <= 899) return []
  const taxId = serie >= 920 && serie <= 969 ? chave.slice(9, 20) : chave.slice(6, 20)
  return [{ taxId, role: 'emitente' }]
}

function summarySchema(summary: Uint8Array): string {
  const facts = inspect(summary)
  return 'refused' in facts ? 'resNFe_v1.01.xsd' : facts.schema
}
