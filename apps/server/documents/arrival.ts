import { crc32, gunzipSync } from 'node:zlib'
import { type DocumentFacts, type EventFacts, readReceived } from '@vigia/dfe/read'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { DocumentTooLargeError } from '@vigia/sefaz/error'
import { damagedProblem } from '../platform/damage.ts'
import { obstacleOf } from './projection.ts'

/** A docZip as it was received, or as its receipt keeps it. */
export interface DocZip {
  nsu: bigint
  schema: string
  /** The gzip stream as received. */
  content: Buffer
}

/** A docZip with what was read in it; made once, whoever receives it. */
export interface Arrival extends DocZip {
  /** Sentence for people: why it could not be read, or what is odd in it. */
  problem: string | null
  facts: DocumentFacts | EventFacts | null
}

/** Reads a docZip. Whatever it holds comes back as an arrival to store; nothing throws. */
export function readArrival(nsu: bigint, schema: string, content: Buffer): Arrival {
  let xml: Buffer
  try {
    xml = unzipDocument(content)
  } catch (error) {
    const problem = error instanceof DocumentTooLargeError ? error.message : damagedProblem
    return { nsu, schema, content, problem, facts: null }
  }
  return readUnzipped({ nsu, schema, content }, xml)
}

/** Reads a page of docZips, each as `readArrival` would. */
export function readPage(page: readonly DocZip[]): Arrival[] {
  const unzipped = unzipTogether(page.map(({ content }) => content))
  return unzipped === null
    ? page.map(({ nsu, schema, content }) => readArrival(nsu, schema, content))
    : page.map((docZip, index) => readUnzipped(docZip, unzipped[index]!))
}

function readUnzipped({ nsu, schema, content }: DocZip, xml: Buffer): Arrival {
  const { facts, problems } = readReceived(xml, schema)
  if (facts.kind === 'unknown') return { nsu, schema, content, problem: facts.reason, facts: null }
  const obstacle = obstacleOf(facts)
  return {
    nsu,
    schema,
    content,
    problem: [obstacle, ...problems.map((problem) => problem.message)].filter(Boolean).join(' ') || null,
    facts: obstacle ? null : facts,
  }
}

const togetherBytesMax = 4_000_000

// Opening a gzip stream costs as much as a small document in it, and streams behind one another are a stream (RFC 1952 §2.2). Each
// ends with checksum and size of what it holds; when they do not agree, or anything is wrong with one, all are opened one by one.
function unzipTogether(contents: Buffer[]): Buffer[] | null {
  if (contents.length < 2 || contents.some((content) => content.length < 18)) return null
  const sizes = contents.map((content) => content.readUInt32LE(content.length - 4))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  // Zeros behind a stream end the reading, and would pass for the checksum and size of nothing.
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
