import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { crc32, gunzipSync } from 'node:zlib'
import { localTime } from '@vigia/dfe/document'
import { parseKey } from '@vigia/dfe/families/lookup'
import type { Proof } from '@vigia/dfe/proof'
import { type DocumentFacts, type EventFacts, readReceived } from '@vigia/dfe/read'
import { DocumentTooLargeError } from '@vigia/sefaz/error'
import { bytesToRead, isPacked, openReceived, type Packed } from './received/bytes.ts'

export const damagedProblem = 'O arquivo chegou corrompido da SEFAZ (não é possível descompactá-lo).'

export interface ReceivedDocZip {
  nsu: bigint
  schema: string
  /** The gzip stream as received, or what `receivedContent` gives of a receipt. */
  content: Buffer
}

export interface Arrival extends ReceivedDocZip {
  /** Sentence for people: why it could not be read, or what is odd in it. */
  problem: string | null
  facts: DocumentFacts | EventFacts | null
  xml?: Buffer
  /** Content for the receipt; absent: the gzip stream itself. */
  packed?: Packed
  /** Result of verifying a document or an event; null when that failed. It never rejects. */
  proof?: Promise<Proof | null>
}

/** A position of ours for a docZip that cannot have the one it came with: a negative number made from a hash of the bytes. */
export function placeOf(content: Buffer): bigint {
  return -1n - (createHash('sha256').update(content).digest().readBigUInt64BE() >> 2n)
}

/** Whether two docZips hold the same document, however it was compressed; null when one of them cannot be opened. */
export function isSameDocument(one: Buffer, other: Buffer): boolean | null {
  if (one.equals(other)) return true
  try {
    return openReceived(one).equals(openReceived(other))
  } catch {
    return null
  }
}

/** Reads a docZip. Whatever it holds comes back as an arrival to store; nothing throws. */
export function readArrival(nsu: bigint, schema: string, content: Buffer): Arrival {
  let xml: Buffer
  try {
    xml = openReceived(content)
  } catch (error) {
    const problem = error instanceof DocumentTooLargeError ? error.message : damagedProblem
    return { nsu, schema, content, problem, facts: null }
  }
  return readUnzipped({ nsu, schema, content }, xml)
}

// Bytes read without a pause, because a process that captures may also serve people.
const bytesAtOnce = 128 * 1024

/** Reads a page of docZips, each as `readArrival` would. Lets other work in between large documents. */
export async function readPage(page: readonly ReceivedDocZip[]): Promise<Arrival[]> {
  const unzipped = unzipTogether(page.map(({ content }) => content))
  const arrivals: Arrival[] = []
  let bytes = 0
  for (const [index, docZip] of page.entries()) {
    const { nsu, schema, content } = docZip
    const length = bytesToRead(content)
    bytes += length
    if (bytes > bytesAtOnce && index > 0) {
      await setImmediate()
      bytes = length
    }
    const xml = unzipped?.[index]
    arrivals.push(xml ? { ...readUnzipped(docZip, xml), xml } : readArrival(nsu, schema, content))
  }
  return arrivals
}

function readUnzipped({ nsu, schema, content }: ReceivedDocZip, xml: Buffer): Arrival {
  const { facts, problems } = readReceived(xml, schema)
  if (facts.kind === 'unknown') return { nsu, schema, content, problem: facts.reason, facts: null }
  const obstacle = obstacleOf(facts)
  return {
    nsu,
    schema,
    content,
    problem: [obstacle, ...problems.map(({ message }) => message)].filter(Boolean).join(' ') || null,
    facts: obstacle ? null : facts,
  }
}

// Why a row cannot be made of `facts`, as a sentence for people, or null: the limits of the columns. A chave with a wrong check digit is stored
// and shown.
function obstacleOf(facts: DocumentFacts | EventFacts): string | null {
  return facts.kind === 'document' ? documentObstacle(facts) : eventObstacle(facts)
}

function documentObstacle(facts: DocumentFacts): string | null {
  if (!parseKey(facts.chave)) return 'O documento não traz uma chave de acesso.'
  if (!localTime(facts.issuedAt)) return 'O documento não traz uma data de emissão válida.'
  if (!/^\d{1,13}(\.\d+)?$/.test(facts.amount)) return 'O valor do documento não é um número válido.'
  return null
}

function eventObstacle(facts: EventFacts): string | null {
  if (!parseKey(facts.chave)) return 'O evento não traz uma chave de acesso.'
  const isInt = (value: number, max: number) => Number.isInteger(value) && value >= 0 && value <= max
  if (!isInt(facts.tpEvento, 999_999) || !isInt(facts.nSeqEvento, 9_999))
    return 'O evento não traz código e sequência válidos.'
  return null
}

const togetherBytesMax = 4_000_000

// A page is opened as one stream (RFC 1952 §2.2), because opening costs as much as unpacking; if a checksum is wrong, one by one.
export function unzipTogether(contents: Buffer[]): Buffer[] | null {
  if (contents.length < 2 || contents.some((content) => content.length < 18 || isPacked(content))) return null
  const sizes = contents.map((content) => content.readUInt32LE(content.length - 4))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  // Zeros after a stream end the reading, and would be taken for the checksum and size of an empty stream.
  if (sizes.includes(0) || total > togetherBytesMax) return null
  let all: Buffer
  try {
    all = gunzipSync(Buffer.concat(contents), { maxOutputLength: total, chunkSize: Math.max(total, 1024) })
  } catch {
    return null
  }
  let end = 0
  const pieces = sizes.map((size) => {
    end += size
    return all.subarray(end - size, end)
  })
  const sound = contents.every((content, index) => crc32(pieces[index]!) === content.readUInt32LE(content.length - 8))
  return sound && all.length === total ? pieces : null
}
