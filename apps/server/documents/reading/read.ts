import { localTime } from '@vigia/dfe/document'
import { parseKey } from '@vigia/dfe/families/lookup'
import { proofOf } from '@vigia/dfe/proof'
import {
  type DocumentFacts,
  detailsOf,
  type EventFacts,
  findOwnKey,
  type ReadFile,
  readReceived,
} from '@vigia/dfe/read'
import { DocumentTooLargeError } from '@vigia/sefaz/error'
import { type Arrival, damagedProblem, type ReceivedDocZip } from '../arrival.ts'
import { type Inside, insideOf } from '../contents/inside.ts'
import { openReceived, packReceived } from '../received/bytes.ts'

export interface ReadFor {
  /** Receipts will be made of it. */
  pack?: boolean
  /** CNPJ of the company that receives it; without one nothing is read inside. */
  cnpj?: string | undefined
}

/** Opens, reads, verifies and, with `pack`, packs a docZip. Whatever it holds comes back as an arrival to store; nothing throws. */
export function readArrival(docZip: ReceivedDocZip, { pack = false, cnpj }: ReadFor = {}): Arrival {
  const { schema, content } = docZip
  let xml: Buffer
  try {
    xml = openReceived(content)
  } catch (error) {
    const problem = error instanceof DocumentTooLargeError ? error.message : damagedProblem
    return { ...docZip, problem, chave: null, facts: null, proof: null }
  }
  const packed = pack ? packReceived(content, xml) : null
  const { facts, problems, tree } = readReceived(xml, schema)
  const unread = () => ({ ...docZip, packed, chave: findOwnKey(xml.toString('latin1')), facts: null, proof: null })
  if (facts.kind === 'unknown') return { ...unread(), problem: facts.reason }
  const obstacle = obstacleOf(facts)
  const problem = [obstacle, ...problems.map(({ message }) => message)].filter(Boolean).join(' ') || null
  if (obstacle) return { ...unread(), problem }
  const inside = cnpj !== undefined && facts.kind === 'document' ? { inside: insideIn(facts, tree!, cnpj) } : {}
  return { ...docZip, packed, problem, chave: facts.chave, facts, proof: proofOf(tree!), ...inside }
}

function insideIn(facts: DocumentFacts, tree: NonNullable<ReadFile['tree']>, cnpj: string): Inside | null {
  try {
    return insideOf(facts, detailsOf(tree), cnpj)
  } catch {
    return null
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
