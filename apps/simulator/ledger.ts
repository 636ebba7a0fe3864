import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Inspected, PartyRole, Service } from './inspect.ts'

/** Place of a gzip stream in `contents.bin`. */
export type ContentRef = [offset: number, length: number]

/** A file of the archive, as it was when read. */
export interface FileSource {
  file: string
  size: number
  mtimeMs: number
}

/** The authority received a document or an event. */
export interface ReceivedRecord {
  type: 'received'
  at: number
  identity: string
  content: ContentRef
  facts: Inspected
  source?: FileSource
  /** Only for documents of this authority; others count as authorised on arrival. */
  authorizedAt?: number
}

/** One NSU of one taxpayer. Its number is its place in the sequence, counted from 1. */
export interface Published {
  type: 'nsu'
  at: number
  service: Service
  taxId: string
  schema: string
  kind: Inspected['kind'] | 'raw'
  content: ContentRef
  chave?: string
  tpEvento?: number
  nSeqEvento?: number
  roles: PartyRole[]
}

/** The destinatário answered: from here on it receives the XML and the events. */
interface Released {
  type: 'released'
  at: number
  chave: string
}

/** The destinatário answered; the XML and the events follow later. */
interface Answered {
  type: 'answered'
  dueAt: number
  chave: string
}

/** Something a part of the simulator remembers between two runs. */
interface LedgerNote {
  type: 'note'
  name: string
  value: string
}

/** An event was sent to the authority and judged. */
export interface EventSending {
  type: 'sending'
  at: number
  service: Service
  /** Receiver: AN, or an authoriser of CT-e. */
  authorizer: string
  chave: string
  tpEvento: number
  nSeqEvento: number
  author: string
  cStat: number
  /** Only of a registration. */
  nProt?: string
  /** The response did not arrive. */
  lost?: boolean
}

/** The responses to these sendings, by their place, did not arrive. */
interface Lost {
  type: 'lost'
  sendings: number[]
}

export type LedgerRecord = ReceivedRecord | Published | Answered | Released | LedgerNote | EventSending | Lost

/** Use of one service by one taxpayer. */
export interface ServiceUsage {
  /** `ultNSU` of the last response; null: none yet, any cursor is believed. */
  lastReturned: number | null
  /** Time of the last response at the end of the sequence. */
  endReachedAt: number | null
  blockedUntil: number | null
  blockReason: string | null
  /** Times of the consNSU and consChNFe of the last hour. */
  queriesAt: number[]
  /** Responses with 656. */
  misuse: number
  /** Part of `misuse` that a lost response excuses. */
  misuseExcused: number
  /** Kind and time of the call whose response was lost, until a later response settles it. */
  answerLost: { of: 'page' | 'query'; at: number } | null
}

/** All published records, append only, because an NSU must survive a restart. */
export interface Ledger {
  received: Map<string, ReceivedRecord>
  /** Authorised documents by chave. */
  documents: Map<string, ReceivedRecord>
  /** Events and event summaries by chave, in order of reception. */
  events: Map<string, ReceivedRecord[]>
  released: Set<string>
  /** When the XML of these is released, by chave. */
  awaited: Map<string, number>
  notes: Map<string, string>
  sequences: Map<string, Published[]>
  /** In order; a place in it never changes. */
  sendings: EventSending[]
  /** `sendings` by `sendingKey`. */
  sendingsByEvent: Map<string, EventSending[]>
  /** When an author was last answered with a code. */
  lastResponses: Map<string, number>
  sequence(service: Service, taxId: string): Published[]
  append(records: LedgerRecord[]): void
  store(bytes: Uint8Array): ContentRef
  gzip(ref: ContentRef): Buffer
  usage(service: Service, taxId: string): ServiceUsage
  usages(): IterableIterator<[string, ServiceUsage]>
  saveUsage(service: Service, taxId: string): void
  lastUse(service: Service, base: string): number | undefined
  touch(service: Service, base: string, at: number): void
  clockOffsetMs(): number
  saveClockOffset(ms: number): void
  close(): void
}

export function sequenceKey(service: Service, taxId: string): string {
  return `${service}:${taxId}`
}

/** Key of an event of an author; equal for repeated sendings. */
export function sendingKey(one: Omit<EventSending, 'type' | 'at' | 'authorizer' | 'cStat'>): string {
  return [one.service, one.author, one.chave, one.tpEvento, one.nSeqEvento].join(':')
}

export function responseKey({ service, author, cStat }: Pick<EventSending, 'service' | 'author' | 'cStat'>): string {
  return [service, author, cStat].join(':')
}

export function openLedger(directory: string): Ledger {
  mkdirSync(directory, { recursive: true })
  const logFile = join(directory, 'published.jsonl')
  const contents = openSync(join(directory, 'contents.bin'), 'a+', 0o600)
  let contentsEnd = fstatSync(contents).size
  const state = openState(join(directory, 'state.jsonl'))

  const received: Ledger['received'] = new Map()
  const documents: Ledger['documents'] = new Map()
  const events: Ledger['events'] = new Map()
  const released: Ledger['released'] = new Set()
  const awaited: Ledger['awaited'] = new Map()
  const notes: Ledger['notes'] = new Map()
  const sequences: Ledger['sequences'] = new Map()
  const sendings: Ledger['sendings'] = []
  const sendingsByEvent: Ledger['sendingsByEvent'] = new Map()
  const lastResponses: Ledger['lastResponses'] = new Map()

  const sequence: Ledger['sequence'] = (service, taxId) => getOrAdd(sequences, sequenceKey(service, taxId), () => [])

  function apply(record: LedgerRecord): void {
    if (record.type === 'nsu') sequence(record.service, record.taxId).push(record)
    else if (record.type === 'answered') awaited.set(record.chave, record.dueAt)
    else if (record.type === 'released') {
      released.add(record.chave)
      awaited.delete(record.chave)
    } else if (record.type === 'note') notes.set(record.name, record.value)
    else if (record.type === 'sending') {
      sendings.push(record)
      getOrAdd(sendingsByEvent, sendingKey(record), () => []).push(record)
      lastResponses.set(responseKey(record), record.at)
    } else if (record.type === 'lost') {
      for (const place of record.sendings) Object.assign(sendings[place] ?? {}, { lost: true })
    } else {
      const { kind, chave } = record.facts
      received.set(record.identity, record)
      if (kind === 'document') documents.set(chave, record)
      else if (kind !== 'summary') getOrAdd(events, chave, () => []).push(record)
    }
  }
  for (const line of completeLines(logFile)) apply(JSON.parse(line) as LedgerRecord)

  return {
    received,
    documents,
    events,
    released,
    awaited,
    notes,
    sequences,
    sendings,
    sendingsByEvent,
    lastResponses,
    sequence,
    append: (records) => {
      if (records.length === 0) return
      appendFileSync(logFile, records.map((record) => `${JSON.stringify(record)}\n`).join(''), { mode: 0o600 })
      for (const record of records) apply(record)
    },
    store: (bytes) => {
      const packed = gzipSync(bytes)
      const ref: ContentRef = [contentsEnd, packed.length]
      writeSync(contents, packed)
      contentsEnd += packed.length
      return ref
    },
    gzip: ([offset, length]) => {
      const packed = Buffer.alloc(length)
      readSync(contents, packed, 0, length, offset)
      return packed
    },
    usage: (service, taxId) => getOrAdd(state.usages, sequenceKey(service, taxId), newUsage),
    usages: () => state.usages.entries(),
    saveUsage: (service, taxId) => {
      const key = sequenceKey(service, taxId)
      state.write('usage', key, state.usages.get(key))
    },
    lastUse: (service, base) => state.uses.get(sequenceKey(service, base)),
    touch: (service, base, at) => {
      const key = sequenceKey(service, base)
      if ((state.uses.get(key) ?? 0) >= at) return
      state.uses.set(key, at)
      state.write('use', key, at)
    },
    clockOffsetMs: () => state.clock.offsetMs,
    saveClockOffset: (ms) => {
      state.clock.offsetMs = ms
      state.write('clock', '', ms)
    },
    close: () => closeSync(contents),
  }
}

function newUsage(): ServiceUsage {
  return {
    lastReturned: null,
    endReachedAt: null,
    blockedUntil: null,
    blockReason: null,
    queriesAt: [],
    misuse: 0,
    misuseExcused: 0,
    answerLost: null,
  }
}

// One line per change, written before the response is sent; the last line of a key wins. Old lines
// are dropped on opening, and when there are many.
function openState(file: string) {
  const usages = new Map<string, ServiceUsage>()
  const uses = new Map<string, number>()
  const clock = { offsetMs: 0 }
  for (const line of completeLines(file)) {
    const [kind, key, value] = JSON.parse(line) as ['usage', string, ServiceUsage] | ['use' | 'clock', string, number]
    if (kind === 'usage') usages.set(key, value)
    else if (kind === 'use') uses.set(key, value)
    else clock.offsetMs = value
  }
  let written = 0
  const compact = () => {
    const lines = [
      ['clock', '', clock.offsetMs],
      ...[...usages].map(([key, value]) => ['usage', key, value]),
      ...[...uses].map(([key, value]) => ['use', key, value]),
    ]
    writeFileSync(`${file}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    written = 0
  }
  compact()
  return {
    usages,
    uses,
    clock,
    write: (kind: string, key: string, value: unknown) => {
      appendFileSync(file, `${JSON.stringify([kind, key, value])}\n`)
      if (++written > 20_000) compact()
    },
  }
}

// A killed process may leave half a line at the end: never acknowledged, it is cut off.
function completeLines(file: string): string[] {
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < bytes.length) truncateSync(file, end)
  return bytes
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
